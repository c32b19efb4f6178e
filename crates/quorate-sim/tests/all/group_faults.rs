//! Random runs of the group lock in which sessions end and sites crash, and what breaks when a
//! repair is undone.

use std::sync::Arc;

use quorate_protocol::group::mutations::{Mutant, Mutation};
use quorate_protocol::group::{Claim, GroupLock, Options};
use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::random::{Outcome, Plan, Span, T, run};
use quorate_sim::{Claims, Faults, SimProtocol, Unwatched};

const MANY: Faults = Faults { lose: 5, silent: 3, crash: 2, ..Faults::NONE };

/// Callers that can mostly be inside together, and some that cannot.
fn plan<P>((kind, n): (Kind, usize), options: P::Options, faults: Faults) -> Plan
where
    P: SimProtocol<Claim = Claim, Quorums = Arc<dyn QuorumSystem>>,
{
    let claims = Claims::parse::<P>("a; a b; b").unwrap();
    let plan = Plan::new::<P>(build(kind, n).unwrap(), options, claims);
    Plan { requests: vec![3; n], gives_up: 3, faults: Some(faults), ..plan }
}

fn outcomes(plan: &Plan, seeds: u64) -> impl Iterator<Item = Outcome> + '_ {
    (0..seeds).map(|seed| run(plan, seed, &mut Unwatched))
}

#[test]
fn every_property_holds() {
    let systems = [(Kind::Majority, 3), (Kind::Majority, 5), (Kind::Plane, 7), (Kind::Grid, 9)];
    for system in systems {
        let plan = plan::<GroupLock>(system, Options::default(), MANY);
        for (seed, outcome) in outcomes(&plan, 300).enumerate() {
            assert!(outcome.breach.is_none(), "{system:?}, seed {seed}: {:?}", outcome.breach);
            assert_eq!(outcome.tally.unserved, 0, "{system:?}, seed {seed}");
        }
    }
}

/// Some break only once in hundreds of runs: tries seeds until one shows the violation.
#[test]
fn every_session_repair_is_needed() {
    for (undone, property) in [
        (Mutation::BothHalves, "contract"),
        (Mutation::OldRight, "exclusion"),
        (Mutation::NoQuarantine, "exclusion"),
        (Mutation::FloorKept, "fences grow"),
        (Mutation::CeilVolatile, "fences grow"),
        (Mutation::NoRecheck, "progress"),
        (Mutation::E10, "progress"),
    ] {
        let plan = plan::<Mutant>((Kind::Majority, 3), (Options::default(), undone), MANY);
        let mut breaches = outcomes(&plan, 30_000).filter_map(|outcome| outcome.breach);
        assert!(breaches.any(|breach| breach.property == property), "{undone}: no {property}");
    }
}

/// Long stays, and managers that fall silent before they are lost.
fn waiting<P>(options: P::Options) -> Plan
where
    P: SimProtocol<Claim = Claim, Quorums = Arc<dyn QuorumSystem>>,
{
    let faults = Faults { lose: 20, silent: 20, ..Faults::NONE };
    let (think, inside) = (Span::UpTo(4 * T), Span::UpTo(60 * T));
    Plan { think, inside, gives_up: 0, ..plan::<P>((Kind::Majority, 3), options, faults) }
}

#[test]
fn a_closing_pivot_waits_for_managers_whose_vote_it_lost() {
    let undone = (Options::default(), Mutation::NoClosingSet);
    let plan = waiting::<Mutant>(undone);
    let mut breaches = outcomes(&plan, 10_000).filter_map(|outcome| outcome.breach);
    assert!(breaches.any(|breach| breach.property == "exclusion"));
}

/// A request from inside that queues like any other breaks nothing, but more pivots are lost.
#[test]
fn held_requests_save_grants() {
    let lost = |outcome: Outcome| {
        assert!(outcome.breach.is_none());
        outcome.tally.lost
    };
    let with: u64 = outcomes(&waiting::<GroupLock>(Options::default()), 2_000).map(lost).sum();
    let undone = (Options::default(), Mutation::HeldInOrder);
    let without: u64 = outcomes(&waiting::<Mutant>(undone), 2_000).map(lost).sum();
    println!("{with} grants lost, {without} without held requests");
    assert!(without > with, "{without} against {with}");
}
