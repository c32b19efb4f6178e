//! The choice of a group, which Manabe & Park leave open: any, or that which most wait for.

use std::sync::Arc;

use quorate_protocol::Tick;
use quorate_protocol::group::{Choice, GroupLock, Options};
use quorate_quorum::{Kind, Listed, QuorumSystem, SiteId, SiteSet, build};
use quorate_sim::Event;
use quorate_sim::random::{Delay, Plan, Span, T, TimedObserver};

use super::{Claimed, Settings, Sink, calm, claims, seeds, served, share};

/// Managers, of which two are asked, and those who ask.
const MANAGERS: usize = 3;
const ASKING: usize = 9;
const ASKS: u32 = 12;

/// Groups, groups of a claim, and in percent: who follows if any group is taken, if that which most
/// wait for is, and the messages this saves, as an independent simulation found them.
const FIGURES: [(usize, usize, f64, f64, f64); 3] =
    [(8, 3, 75.0, 80.0, 4.0), (6, 2, 73.5, 77.0, 3.0), (3, 2, 83.0, 84.0, 1.0)];

/// Who follows, what a request costs, and what the better choice saves.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let runs = if settings.quick { 20 } else { 200 };
    let condition = format!(
        "9 requesters ask {ASKS} times each, 2 of 3 managers apart from them, think up to 2T, \
         inside up to 3T, exponential delays, {runs} runs"
    );
    for (groups, some, any, better, saved) in FIGURES {
        let [first, second] = [Choice::Arbitrary, Choice::MostWaiting]
            .map(|choice| follow(settings, (groups, some), choice, runs));
        let of = format!("{some} of {groups} groups");
        let rows = [
            ("any group: follow", Claimed::average("", any), first.0, "%"),
            ("most waiting: follow", Claimed::average("", better), second.0, "%"),
            ("any group: messages", Claimed::between(3.1, 3.7), first.1, "|Q|"),
            ("most waiting: messages", Claimed::between(3.1, 3.7), second.1, "|Q|"),
            (
                "most waiting: messages saved",
                Claimed::between(saved - 1.0, saved + 1.5),
                100.0 * (1.0 - second.1 / first.1),
                "%",
            ),
        ];
        for (what, claim, measured, unit) in rows {
            sink(claim.beside(format!("{of}, {what}"), condition.clone(), (measured, unit), ""));
        }
    }
}

/// The share that follows, in percent, and messages for a request and member of its quorum.
fn follow(settings: Settings, of: (usize, usize), choice: Choice, runs: u64) -> (f64, f64) {
    let built = build(Kind::Majority, MANAGERS).expect("three managers");
    let quorum = |at: usize| built.pick_for(SiteId::new(at % MANAGERS), &SiteSet::full(MANAGERS));
    let own = vec![None; MANAGERS].into_iter().chain((0..ASKING).map(quorum));
    let quorums: Arc<dyn QuorumSystem> =
        Arc::new(Listed::new(own.collect()).expect("two of three meet"));
    let options = Options { choice, ..Options::default() };
    let (mut followers, mut messages, mut entries) = (Followers(0), 0, 0);
    for seed in seeds(settings.seed, runs) {
        let claims = claims(MANAGERS + ASKING, of, ASKS, seed);
        let plan = Plan {
            requests: [vec![0; MANAGERS], vec![ASKS; ASKING]].concat(),
            think: Span::UpTo(2 * T),
            inside: Span::UpTo(3 * T),
            delay: Delay::Exponential,
            ..calm::<GroupLock>(Arc::clone(&quorums), options, claims)
        };
        let tally = served(&plan, seed, &mut followers);
        (messages, entries) = (messages + tally.messages, entries + tally.entries);
    }
    (100.0 * share(followers.0, entries), share(messages, entries) / built.max_size() as f64)
}

/// Counts who enters without the votes of a quorum.
struct Followers(u64);

impl TimedObserver<GroupLock> for Followers {
    fn see(&mut self, _: Tick, _: usize, event: &Event<'_, GroupLock>) {
        if let Event::Enters(_, _, grant) = event {
            self.0 += u64::from(!grant.is_pivot());
        }
    }
}
