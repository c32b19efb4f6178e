//! Needless waits in random runs: the older algorithm has some, our group lock none.

use std::sync::Arc;

use quorate_laboratory::baselines::joung::{Joung, MGroup, Options as JoungOptions};
use quorate_protocol::group::{Claim, GroupLock, Options};
use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::random::{Plan, Span, T, run};
use quorate_sim::{Claims, SimProtocol, Unwatched};

const RUNS: u64 = 200;

/// How many runs break which property, if callers stay long and ask for few groups.
fn broken<P: SimProtocol<Claim = Claim>>(
    quorums: P::Quorums,
    options: P::Options,
) -> Vec<&'static str> {
    let claims = Claims::parse::<P>("a; b; a b; a; b c").unwrap();
    let plan = Plan {
        requests: vec![3; 5],
        think: Span::UpTo(20 * T),
        inside: Span::UpTo(60 * T),
        ..Plan::new::<P>(quorums, options, claims)
    };
    let breach = |seed| run(&plan, seed, &mut Unwatched).breach.map(|breach| breach.property);
    (0..RUNS).filter_map(breach).collect()
}

#[test]
fn only_the_older_algorithm_keeps_anybody_waiting_who_could_be_inside() {
    let quorums: Arc<dyn QuorumSystem> = build(Kind::Majority, 5).unwrap();
    assert_eq!(broken::<GroupLock>(Arc::clone(&quorums), Options::default()), [""; 0]);
    let judged = JoungOptions { judged: true, ..JoungOptions::default() };
    let older = broken::<Joung>(MGroup::Coterie(quorums.clone()), judged);
    assert!(older.iter().all(|property| *property == "no blocking"), "{older:?}");
    assert!(older.len() as u64 > RUNS / 2, "in {} of {RUNS} runs", older.len());
    let unjudged = broken::<Joung>(MGroup::Coterie(quorums), JoungOptions::default());
    assert_eq!(unjudged, [""; 0], "nothing else breaks");
}
