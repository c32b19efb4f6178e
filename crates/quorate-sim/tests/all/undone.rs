//! What random runs find when a repair that sessions make necessary is undone.
//!
//! `cargo test -p quorate-check --test all sessions::` finds most of them by searching all
//! schedules of three sites. The others need five sites, or two faults and a second request.

use crate::plans::{System, plan};
use quorate_protocol::mutex::errata::{Erratum, Unrepaired};
use quorate_protocol::mutex::{Mutex, Options};
use quorate_sim::random::{Plan, Span, T, run};
use quorate_sim::{Faults, Subject, Unwatched};

/// Three sites that ask three times: `--sites 3 --requests 3`.
fn three<P: Subject<Claim = (), Quorums = System>>(options: P::Options) -> Plan {
    let faults = Faults { lose: 5, silent: 3, crash: 2, ..Faults::NONE };
    Plan { requests: vec![3; 3], gives_up: 2, ..plan::<P>(3, options, faults) }
}

/// Five sites that ask twice: `--sites 5 --requests 2`.
fn five<P: Subject<Claim = (), Quorums = System>>(options: P::Options) -> Plan {
    let faults = Faults { lose: 6, silent: 4, crash: 2, ..Faults::NONE };
    Plan { gives_up: 2, ..plan::<P>(5, options, faults) }
}

/// Each with a seed that shows the damage. The same seed is clean with the repair.
const SEEDS: [(Erratum, usize, u64, &str); 15] = [
    (Erratum::BothHalves, 3, 1, "exclusion"),
    (Erratum::AnySession, 3, 31, "contract"),
    (Erratum::NoDirect, 3, 3, "progress"),
    (Erratum::NoRepeat, 3, 81, "progress"),
    (Erratum::DirectGrows, 5, 11_990, "progress"),
    (Erratum::NoAsking, 5, 66, "exclusion"),
    (Erratum::LackNotBinding, 5, 66, "contract"),
    (Erratum::EarlyUnused, 5, 10, "contract"),
    (Erratum::FloorKept, 3, 0, "fences grow"),
    (Erratum::FloorKeptAtGone, 5, 3_886, "fences grow"),
    (Erratum::NoQuarantine, 3, 95, "exclusion"),
    (Erratum::NoRecheck, 5, 150, "progress"),
    (Erratum::InquiriesKept, 5, 5_876, "progress"),
    (Erratum::CeilVolatile, 3, 6, "fences grow"),
    (Erratum::OvertakenUntold, 5, 392, "progress"),
];

#[test]
fn a_seed_shows_what_each_repair_is_for() {
    for (undone, n, seed, property) in SEEDS {
        let options = Options::default();
        let (with, without) = if n == 3 {
            let plan = three::<Unrepaired>((options, undone));
            (run(&three::<Mutex>(options), seed, &mut Unwatched), run(&plan, seed, &mut Unwatched))
        } else {
            let plan = five::<Unrepaired>((options, undone));
            (run(&five::<Mutex>(options), seed, &mut Unwatched), run(&plan, seed, &mut Unwatched))
        };
        assert_eq!(with.breach, None, "{undone}");
        let found = without.breach.map(|breach| breach.property);
        assert_eq!(found, Some(property), "{undone}");
    }
}

/// One in a million runs meets this one: it has only its scenario.
#[test]
fn every_repair_is_undone_by_a_seed_or_a_scenario() {
    let by_seed = |erratum: &Erratum| SEEDS.iter().any(|(undone, ..)| undone == erratum);
    let others: Vec<_> = Erratum::SESSIONS.into_iter().filter(|e| !by_seed(e)).collect();
    assert_eq!(others, [Erratum::FloorKeptAtAsked]);
}

/// The grants lost in many runs of three sites that stay inside for long while sessions fall silent
/// and are lost.
fn lost<P: Subject<Claim = (), Quorums = System>>(options: P::Options) -> u64 {
    let faults = Faults { lose: 20, silent: 20, ..Faults::NONE };
    let (think, inside) = (Span::UpTo(4 * T), Span::UpTo(60 * T));
    let plan = Plan { think, inside, ..plan::<P>(3, options, faults) };
    let run = |seed| {
        let outcome = run(&plan, seed, &mut Unwatched);
        assert_eq!(outcome.breach, None, "seed {seed}");
        outcome.tally.lost
    };
    (1..=3_000).map(run).sum()
}

#[test]
fn more_grants_are_lost_without_the_repairs_for_survival() {
    let options = Options::default();
    let with = lost::<Mutex>(options);
    assert_eq!(with, 5_932);
    for undone in Erratum::SURVIVAL {
        let without = lost::<Unrepaired>((options, undone));
        assert!(without > with + 100, "{undone}: {without}, and {with} with the repair");
    }
}
