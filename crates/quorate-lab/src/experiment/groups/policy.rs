//! The choice of a group, which Manabe & Park leave open: any, or that which most wait for.

use std::sync::Arc;

use quorate_protocol::Tick;
use quorate_protocol::group::{Choice, Grant, GroupLock, Options};
use quorate_quorum::{Kind, Listed, QuorumSystem, SiteId, SiteSet, build};
use quorate_sim::Event;
use quorate_sim::random::{Delay, Plan, Span, T, TimedObserver};

use super::{Claimed, Settings, Sink, claims, seeds, served, share};

/// The managers, of which two are asked, and the requesters.
const MANAGERS: usize = 3;
const ASKING: usize = 9;
const ASKS: u32 = 12;

/// Groups, groups of a claim, and percentages from an independent simulation: requests that follow
/// with an arbitrary choice of group, if known; how many more follow if the group with the most
/// waiters is chosen; and the messages this saves.
const FIGURES: [(usize, usize, Option<f64>, f64, f64); 3] =
    [(8, 3, Some(75.0), 5.0, 4.0), (6, 2, Some(73.5), 3.5, 3.0), (3, 2, None, 1.0, 1.0)];

/// The share of followers, the cost of a request, and the savings of the better choice.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let runs = if settings.quick { 20 } else { 200 };
    let condition = format!(
        "9 requesters ask {ASKS} times each, 2 of 3 managers apart from them, think up to 2T, \
         inside up to 3T, exponential delays, {runs} runs"
    );
    for (groups, some, any, more, saved) in FIGURES {
        let [first, second] = [Choice::Arbitrary, Choice::MostWaiting]
            .map(|choice| follow(settings, (groups, some), choice, runs));
        let mut row = |what: &str, claim: Claimed, measured: f64, unit: &'static str| {
            let name = format!("{some} of {groups} groups, {what}");
            sink(claim.beside(name, condition.clone(), (measured, unit), ""));
        };
        if let Some(any) = any {
            row("any group: follow", Claimed::average("", any), first.0, "%");
        }
        let about = |figure: f64| Claimed::between(figure - 1.0, figure + 1.5);
        row("most waiting: more follow", about(more), second.0 - first.0, "points");
        row("any group: messages", Claimed::between(3.1, 3.7), first.1, "|Q|");
        row("most waiting: messages", Claimed::between(3.1, 3.7), second.1, "|Q|");
        let percent = 100.0 * (1.0 - second.1 / first.1);
        row("most waiting: messages saved", about(saved), percent, "%");
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
            ..Plan::calm::<GroupLock>(Arc::clone(&quorums), options, claims)
        };
        let tally = served(&plan, seed, &mut followers);
        (messages, entries) = (messages + tally.messages, entries + tally.entries);
    }
    (100.0 * share(followers.0, entries), share(messages, entries) / built.max_size() as f64)
}

/// Counts entries without the votes of a quorum.
struct Followers(u64);

impl TimedObserver for Followers {
    fn see(&mut self, _: Tick, _: usize, event: &Event<'_>) {
        if let Event::Enters(_, grant) = event {
            self.0 += u64::from(!grant.downcast::<Grant>().is_pivot());
        }
    }
}
