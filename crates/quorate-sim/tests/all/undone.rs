//! What random runs find when a repair that sessions make necessary is undone.
//!
//! `cargo test -p quorate-check --test all sessions::` finds most of them by searching all
//! schedules of three sites. The others need five sites, or two faults and a second request.

use crate::plans::{System, plan};
use quorate_protocol::mutex::mutations::{Mutant, Mutation};
use quorate_protocol::mutex::{Mutex, Options};
use quorate_sim::random::{Plan, Span, T, run};
use quorate_sim::{Faults, SimProtocol, Unwatched};

/// Three sites that ask three times: `--sites 3 --requests 3`.
fn three<P: SimProtocol<Claim = (), Quorums = System>>(options: P::Options) -> Plan {
    let faults = Faults { lose: 5, silent: 3, crash: 2, ..Faults::NONE };
    Plan { requests: vec![3; 3], gives_up: 2, ..plan::<P>(3, options, faults) }
}

/// Five sites that ask twice: `--sites 5 --requests 2`.
fn five<P: SimProtocol<Claim = (), Quorums = System>>(options: P::Options) -> Plan {
    let faults = Faults { lose: 6, silent: 4, crash: 2, ..Faults::NONE };
    Plan { gives_up: 2, ..plan::<P>(5, options, faults) }
}

/// Each with a seed that shows the damage. The same seed is clean with the repair.
const SEEDS: [(Mutation, usize, u64, &str); 15] = [
    (Mutation::BothHalves, 3, 1, "exclusion"),
    (Mutation::AnySession, 3, 31, "contract"),
    (Mutation::NoDirect, 3, 3, "progress"),
    (Mutation::NoRepeat, 3, 81, "progress"),
    (Mutation::DirectGrows, 5, 11_990, "progress"),
    (Mutation::NoAsking, 5, 66, "exclusion"),
    (Mutation::LackNotBinding, 5, 66, "fences grow"),
    (Mutation::EarlyUnused, 5, 10, "contract"),
    (Mutation::FloorKept, 3, 0, "fences grow"),
    (Mutation::FloorKeptAtGone, 5, 3_886, "fences grow"),
    (Mutation::NoQuarantine, 3, 95, "exclusion"),
    (Mutation::NoRecheck, 5, 150, "progress"),
    (Mutation::InquiriesKept, 5, 5_876, "progress"),
    (Mutation::CeilVolatile, 3, 6, "fences grow"),
    (Mutation::OvertakenUntold, 5, 392, "progress"),
];

#[test]
fn a_seed_shows_what_each_repair_is_for() {
    for (undone, n, seed, property) in SEEDS {
        let options = Options::default();
        let (with, without) = if n == 3 {
            let plan = three::<Mutant>((options, undone));
            (run(&three::<Mutex>(options), seed, &mut Unwatched), run(&plan, seed, &mut Unwatched))
        } else {
            let plan = five::<Mutant>((options, undone));
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
    let by_seed = |mutation: &Mutation| SEEDS.iter().any(|(undone, ..)| undone == mutation);
    let others: Vec<_> = Mutation::SESSIONS.into_iter().filter(|e| !by_seed(e)).collect();
    assert_eq!(others, [Mutation::FloorKeptAtAsked]);
}

/// The grants lost in many runs of three sites that stay inside for long while sessions fall silent
/// and are lost.
fn lost<P: SimProtocol<Claim = (), Quorums = System>>(options: P::Options) -> u64 {
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
    assert_eq!(with, 5_947);
    for undone in Mutation::SURVIVAL {
        let without = lost::<Mutant>((options, undone));
        assert!(without > with + 100, "{undone}: {without}, and {with} with the repair");
    }
}
