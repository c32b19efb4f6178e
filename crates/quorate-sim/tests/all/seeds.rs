//! Random runs of the mutex: what a few thousand schedules must all show, and that a seed is
//! enough to see one of them again.

use std::sync::Arc;

use crate::chronicle::Chronicle;
use quorate_protocol::mutex::mutations::{Mutant, Mutation};
use quorate_protocol::mutex::{Mutex, Options};
use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::random::{Delay, Plan, Tally, run};
use quorate_sim::{Claims, SimProtocol, Unwatched};

fn plan<P: SimProtocol<Claim = (), Quorums = Arc<dyn QuorumSystem>>>(
    quorums: Arc<dyn QuorumSystem>,
    options: P::Options,
) -> Plan {
    Plan::new::<P>(quorums, options, Claims::all(vec![()]))
}

fn assert_clean(plan: &Plan, seeds: u64) -> Tally {
    let sum = plan.assert_clean(seeds);
    let claims = plan.requests.iter().map(|&requests| u64::from(requests)).sum::<u64>();
    assert_eq!(sum.entries + sum.given_up, claims * seeds);
    sum
}

#[test]
fn every_delay_and_every_switch_is_clean() {
    for kind in [Kind::Majority, Kind::Plane, Kind::Grid, Kind::Tree, Kind::Cyclic, Kind::Weighted]
    {
        for delay in [Delay::Constant, Delay::Uniform, Delay::Exponential] {
            for options in [Options::basic(), Options::default()] {
                let quorums = build(kind, 7).unwrap();
                let plan = Plan { delay, ..plan::<Mutex>(quorums, options) };
                assert_clean(&plan, 100);
            }
        }
    }
}

#[test]
fn thirteen_sites_are_clean() {
    let quorums = build(Kind::Plane, 13).unwrap();
    assert_clean(&plan::<Mutex>(quorums, Options::default()), 2_000);
}

#[test]
fn skewed_channels_are_clean() {
    let quorums = build(Kind::Plane, 7).unwrap();
    assert_clean(&Plan { skew: true, ..plan::<Mutex>(quorums, Options::default()) }, 2_000);
}

#[test]
fn giving_up_is_clean() {
    let quorums = build(Kind::Plane, 7).unwrap();
    let plan = Plan { gives_up: 5, skew: true, ..plan::<Mutex>(quorums, Options::default()) };
    let sum = assert_clean(&plan, 2_000);
    assert!(sum.given_up > 1_000, "too few gave up to show anything: {}", sum.given_up);
}

/// Chance finds the errors of the printed algorithm too, given the cluster that shows them.
#[test]
fn random_runs_find_undone_repairs() {
    for (undone, kind, n) in [
        (Mutation::E1, Kind::Majority, 3),
        (Mutation::E2, Kind::Majority, 5),
        (Mutation::E3, Kind::Majority, 5),
        (Mutation::E4, Kind::Majority, 3),
        (Mutation::E5, Kind::Majority, 5),
        (Mutation::E6, Kind::Plane, 13),
    ] {
        let options = (Options::default(), undone);
        let plan = plan::<Mutant>(build(kind, n).unwrap(), options);
        let broken = (0..5_000).any(|seed| run(&plan, seed, &mut Unwatched).breach.is_some());
        assert!(broken, "{undone} was not seen");
    }
}

#[test]
fn one_seed_gives_one_history_byte_for_byte() {
    let quorums = build(Kind::Grid, 9).unwrap();
    let plan = Plan { skew: true, gives_up: 2, ..plan::<Mutex>(quorums, Options::default()) };
    let history = |seed| {
        let mut chronicle = Chronicle::default();
        run(&plan, seed, &mut chronicle);
        chronicle.0
    };
    let first = history(11);
    assert_eq!(first, history(11));
    assert_ne!(first, history(12));
}

#[test]
fn ten_thousand_sites_run() {
    let quorums = build(Kind::Grid, 10_000).unwrap();
    let mut requests = vec![0; 10_000];
    for site in (0..10_000).step_by(500) {
        requests[site] = 1;
    }
    let plan = Plan { requests, ..plan::<Mutex>(quorums, Options::default()) };
    assert_eq!(assert_clean(&plan, 1).entries, 20);
}
