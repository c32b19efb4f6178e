//! Needless waits: the older algorithm has some, ours none.

use std::sync::Arc;

use quorate_protocol::group::{Choice, Claim, GroupLock, Options};
use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::random::{self, Delay, Plan, Span, T};
use quorate_sim::{Claims, SimProtocol, Unwatched};

use super::{Claimed, Joung, JoungOptions, MGroup, Settings, Sink, seeds};

/// In how many runs a caller waits needlessly; such a run ends there.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let runs = if settings.quick { 50 } else { 500 };
    let majority: Arc<dyn QuorumSystem> = build(Kind::Majority, 5).expect("five sites");
    let condition = format!(
        "5 sites, majority, 3 claims each of a; b; a b; a; b c, think up to 20T, inside up to 60T, \
         exponential delays, {runs} runs"
    );
    for (name, choice) in
        [("group", Choice::Arbitrary), ("group, most waiting", Choice::MostWaiting)]
    {
        let options = Options { choice, ..Options::default() };
        let blocked = blocked::<GroupLock>(settings, Arc::clone(&majority), options, runs);
        let never = Claimed::at_most("", 0.0);
        let name = format!("{name}: needless waits");
        sink(never.beside(name, condition.clone(), (blocked as f64, "runs"), "theorem 4"));
    }
    let coterie = MGroup::Coterie(majority);
    let options = JoungOptions { judged: true, ..JoungOptions::default() };
    let blocked = blocked::<Joung>(settings, coterie, options, runs);
    let claim = Claimed::at_least("", 1.0);
    let name = "joung: needless waits".to_owned();
    sink(claim.beside(name, condition, (blocked as f64, "runs"), "Manabe & Park, section 3"));
}

fn blocked<P: SimProtocol<Claim = Claim>>(
    settings: Settings,
    quorums: P::Quorums,
    options: P::Options,
    runs: u64,
) -> usize {
    let claims = Claims::parse::<P>("a; b; a b; a; b c").expect("groups");
    let plan = Plan {
        requests: vec![3; 5],
        think: Span::UpTo(20 * T),
        inside: Span::UpTo(60 * T),
        delay: Delay::Exponential,
        ..Plan::calm::<P>(quorums, options, claims)
    };
    let breach = |seed| random::run(&plan, seed, &mut Unwatched).breach;
    let breaches = seeds(settings.seed, runs).filter_map(breach);
    let properties: Vec<_> = breaches.map(|breach| breach.property).collect();
    assert!(properties.iter().all(|name| *name == "no blocking"), "{properties:?}");
    properties.len()
}
