//! What is planned of a run, and what is left to the seed.

use super::{Delay, Span, T, Tally, run};
use crate::{Claims, Faults, Order, Quorums, Slips, Subject, Unwatched};

/// What happens in a run, but for what the seed decides.
#[derive(Clone, Debug)]
pub struct Plan<P: Subject> {
    /// The cluster.
    pub quorums: P::Quorums,
    /// The protocol's switches.
    pub options: P::Options,
    /// What callers claim.
    pub claims: Claims<P::Claim>,
    /// How many claims are made at each site.
    pub requests: Vec<u32>,
    /// How long a site waits before its first claim and between two.
    pub think: Span,
    /// How long a caller stays inside; not longer than it said, where it had to say so.
    pub inside: Span,
    /// How many waiting callers may give up.
    pub gives_up: u32,
    /// How long messages take.
    pub delay: Delay,
    /// Whether some channels are always slower than others.
    pub skew: bool,
    /// In which order channels deliver, in the papers' world.
    pub order: Order,
    /// What goes wrong; `None` is the papers' world, in which nothing does.
    pub faults: Option<Faults>,
    /// What goes wrong in the papers' world after all.
    pub slips: Slips,
}

impl<P: Subject> Plan<P> {
    /// Everybody asks twice, at chance, and messages take as long as chance will have it. Nothing
    /// goes wrong, and channels keep the order.
    pub fn new(quorums: P::Quorums, options: P::Options, claims: Claims<P::Claim>) -> Self {
        Self {
            requests: vec![2; quorums.n()],
            think: Span::UpTo(10 * T),
            inside: Span::UpTo(3 * T),
            delay: Delay::Exponential,
            ..Self::calm(quorums, options, claims)
        }
    }

    /// The papers' world: nothing goes wrong, every message takes T, channels keep the order, and
    /// whoever leaves asks again at once. So far nobody asks.
    pub fn calm(quorums: P::Quorums, options: P::Options, claims: Claims<P::Claim>) -> Self {
        Self {
            requests: vec![0; quorums.n()],
            quorums,
            options,
            claims,
            think: Span::Fixed(0),
            inside: Span::Fixed(T),
            gives_up: 0,
            delay: Delay::Constant,
            skew: false,
            order: Order::Fifo,
            faults: None,
            slips: Slips::default(),
        }
    }

    /// Runs so many seeds, from 0 on, and adds up what was counted; panics unless nothing breaks
    /// and nobody is left waiting.
    pub fn assert_clean(&self, seeds: u64) -> Tally {
        let mut sum = Tally::default();
        for seed in 0..seeds {
            let outcome = run(self, seed, &mut Unwatched);
            assert_eq!(outcome.breach, None, "seed {seed}");
            assert_eq!(outcome.tally.unserved, 0, "seed {seed}");
            sum.add(&outcome.tally);
        }
        sum
    }
}
