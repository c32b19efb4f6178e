//! What a hand-over after a lost holder costs when candidates have refused loans: item 6 of the
//! section "When sessions end" of `docs/protocols/mutex.md`, with each repair and without it.

use std::sync::Arc;

use quorate_protocol::mutex::mutations::{Mutant, Mutation};
use quorate_protocol::mutex::{Mutex, Options};
use quorate_protocol::{SiteId, Tick};
use quorate_quorum::{Listed, SiteSet};
use quorate_sim::random::{Delay, Plan, Span, T, TimedObserver, run};
use quorate_sim::{Claims, Event, Faults, SimProtocol};

use crate::plans::System;

const SEEDS: u64 = 5_000;

/// What hand-overs cost after an arbiter has found the permission of a lost holder at a candidate.
#[derive(Debug, Default, PartialEq, Eq)]
struct Costs {
    /// How many there were.
    handovers: u64,
    /// How long the longest took.
    longest: u64,
    /// All messages of all runs.
    messages: u64,
}

/// Observes one run.
#[derive(Default)]
struct Watch {
    costs: Costs,
    /// Whether a candidate said since the last hand-over that it has the permission.
    found: bool,
    left: Option<Tick>,
}

impl TimedObserver for Watch {
    fn see(&mut self, now: Tick, _: usize, event: &Event<'_>) {
        match event {
            Event::Sends { message, .. } => self.found |= message.kind == "have",
            Event::Releases(_) => self.left = std::mem::take(&mut self.found).then_some(now),
            Event::Enters(..) => {
                if let Some(left) = self.left.take() {
                    self.costs.handovers += 1;
                    self.costs.longest = self.costs.longest.max(now.0 - left.0);
                }
            }
            _ => {}
        }
    }
}

/// Four sites that ask the fifth, once each at about the same time, while two sessions are lost.
/// Every message takes T.
fn costs<P: SimProtocol<Claim = (), Quorums = System>>(options: P::Options) -> Costs {
    let fifth: SiteSet = [SiteId::new(4)].into_iter().collect();
    let quorums: System = Arc::new(Listed::new(vec![Some(fifth); 5]).unwrap());
    let calm = Plan::calm::<P>(quorums, options, Claims::all(vec![()]));
    let plan = Plan {
        requests: vec![1, 1, 1, 1, 0],
        think: Span::UpTo(T),
        inside: Span::Fixed(4 * T),
        delay: Delay::Constant,
        faults: Some(Faults { lose: 2, ..Faults::NONE }),
        ..calm
    };
    let mut sum = Costs::default();
    for seed in 0..SEEDS {
        let mut watch = Watch::default();
        let outcome = run(&plan, seed, &mut watch);
        assert_eq!(outcome.breach, None, "seed {seed}");
        sum.handovers += watch.costs.handovers;
        sum.longest = sum.longest.max(watch.costs.longest);
        sum.messages += outcome.tally.messages;
    }
    sum
}

/// The permission comes back to the arbiter, and goes to the next request: two messages, one after
/// the other.
#[test]
fn a_hand_over_after_a_lost_holder_takes_two_messages() {
    let options = Options::default();
    let with = costs::<Mutex>(options);
    println!("{with:?}");
    assert!(with.handovers >= 10, "{with:?}");
    assert_eq!(with.longest, 2 * T);
    // The receiver of a pass is asked what it has said before: two messages more.
    let asked = costs::<Mutant>((options, Mutation::RefusedAsked));
    println!("refused-asked: {asked:?}");
    assert_eq!((asked.handovers, asked.longest), (with.handovers, 4 * T));
    assert!(asked.messages >= with.messages + 2 * with.handovers, "{asked:?}");
    // The holder is told a successor that will refuse, and passes to it in vain.
    let announced = costs::<Mutant>((options, Mutation::RefusedAnnounced));
    println!("refused-announced: {announced:?}");
    assert_eq!((announced.handovers, announced.longest), (with.handovers, 2 * T));
    assert_eq!(announced.messages, with.messages + with.handovers);
}
