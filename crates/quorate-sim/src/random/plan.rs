//! The plan of a run; the rest is left to the seed.

use std::sync::Arc;

use super::{Delay, Span, T, Tally, run};
use crate::{AnySetup, Claims, Faults, Order, SessionlessFaults, SimProtocol, Unwatched, setup};

/// Everything about a run that the seed does not decide.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The cluster.
    pub setup: Arc<dyn AnySetup>,
    /// What callers claim.
    pub claims: Claims,
    /// How many claims are made at each site.
    pub requests: Vec<u32>,
    /// How long a site waits before its first claim and between two.
    pub think: Span,
    /// How long a caller stays inside, but not longer than it declared.
    pub inside: Span,
    /// How many waiting callers may give up.
    pub gives_up: u32,
    /// How long messages take.
    pub delay: Delay,
    /// Whether some channels are always slower than others.
    pub skew: bool,
    /// In which order channels deliver, in the papers' world.
    pub order: Order,
    /// The faults; `None` is the papers' world, which has none.
    pub faults: Option<Faults>,
    /// The faults of a world without sessions.
    pub sessionless: SessionlessFaults,
}

impl Plan {
    /// Every site asks twice, with random pauses, stays and delays. There are no faults, and
    /// channels keep the order.
    pub fn new<P: SimProtocol>(quorums: P::Quorums, options: P::Options, claims: Claims) -> Self {
        let calm = Self::calm::<P>(quorums, options, claims);
        Self {
            requests: vec![2; calm.requests.len()],
            think: Span::UpTo(10 * T),
            inside: Span::UpTo(3 * T),
            delay: Delay::Exponential,
            ..calm
        }
    }

    /// The papers' world: no faults, every message takes T, channels keep the order, and a site
    /// asks again as soon as it leaves. No site has a request yet.
    pub fn calm<P: SimProtocol>(quorums: P::Quorums, options: P::Options, claims: Claims) -> Self {
        Self::calm_in(setup::<P>(quorums, options), claims)
    }

    /// The same in a cluster of any protocol.
    pub fn calm_in(setup: Arc<dyn AnySetup>, claims: Claims) -> Self {
        Self {
            requests: vec![0; setup.n()],
            setup,
            claims,
            think: Span::Fixed(0),
            inside: Span::Fixed(T),
            gives_up: 0,
            delay: Delay::Constant,
            skew: false,
            order: Order::Fifo,
            faults: None,
            sessionless: SessionlessFaults::default(),
        }
    }

    /// The same plan of protocol `P` with these switches set, on the same quorums.
    ///
    /// # Panics
    ///
    /// The protocol has quorums of another type.
    pub fn of<P: SimProtocol>(&self, options: P::Options) -> Self {
        Self { setup: self.setup.of::<P>(options), ..self.clone() }
    }

    /// Runs so many seeds, from 0 on, and adds up their tallies; panics if a property breaks or a
    /// claim is left waiting.
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
