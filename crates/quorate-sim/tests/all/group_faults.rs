//! Group locks whose sessions end and whose sites crash, by seeds; and what breaks when a repair is
//! undone.

use std::sync::Arc;

use quorate_protocol::group::errata::{Erratum, Unrepaired};
use quorate_protocol::group::{Claim, GroupLock, Options};
use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::random::{Outcome, Plan, Span, T, run};
use quorate_sim::{Claims, Faults, Subject, Unwatched};

const MANY: Faults = Faults { lose: 5, silent: 3, crash: 2, ..Faults::NONE };

/// Callers who mostly can be inside together, and some who cannot.
fn plan<P>((kind, n): (Kind, usize), options: P::Options, faults: Faults) -> Plan
where
    P: Subject<Claim = Claim, Quorums = Arc<dyn QuorumSystem>>,
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

/// Some break once in hundreds of runs: seeds are tried until one shows it.
#[test]
fn sessions_need_their_repairs() {
    for (undone, property) in [
        (Erratum::BothHalves, "contract"),
        (Erratum::OldRight, "exclusion"),
        (Erratum::NoQuarantine, "exclusion"),
        (Erratum::FloorKept, "fences grow"),
        (Erratum::CeilVolatile, "fences grow"),
        (Erratum::NoRecheck, "progress"),
        (Erratum::E10, "progress"),
    ] {
        let plan = plan::<Unrepaired>((Kind::Majority, 3), (Options::default(), undone), MANY);
        let mut breaches = outcomes(&plan, 30_000).filter_map(|outcome| outcome.breach);
        assert!(breaches.any(|breach| breach.property == property), "{undone}: no {property}");
    }
}

/// Long stays, and managers that fall silent before they are lost.
fn patient<P>(options: P::Options) -> Plan
where
    P: Subject<Claim = Claim, Quorums = Arc<dyn QuorumSystem>>,
{
    let faults = Faults { lose: 20, silent: 20, ..Faults::NONE };
    let (think, inside) = (Span::UpTo(4 * T), Span::UpTo(60 * T));
    Plan { think, inside, gives_up: 0, ..plan::<P>((Kind::Majority, 3), options, faults) }
}

#[test]
fn a_closing_pivot_waits_for_managers_whose_vote_it_lost() {
    let undone = (Options::default(), Erratum::NoClosingSet);
    let plan = patient::<Unrepaired>(undone);
    let mut breaches = outcomes(&plan, 10_000).filter_map(|outcome| outcome.breach);
    assert!(breaches.any(|breach| breach.property == "exclusion"));
}

/// A request from inside that waits its turn breaks nothing, but more pivots are lost.
#[test]
fn held_requests_save_grants() {
    let lost = |outcome: Outcome| {
        assert!(outcome.breach.is_none());
        outcome.tally.lost
    };
    let with: u64 = outcomes(&patient::<GroupLock>(Options::default()), 2_000).map(lost).sum();
    let undone = (Options::default(), Erratum::HeldInOrder);
    let without: u64 = outcomes(&patient::<Unrepaired>(undone), 2_000).map(lost).sum();
    println!("{with} grants lost, {without} without held requests");
    assert!(without > with, "{without} against {with}");
}
