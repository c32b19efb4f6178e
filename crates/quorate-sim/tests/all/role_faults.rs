//! Random runs of the role lock in which sessions end and sites crash, and what breaks when a
//! repair is undone.

use std::sync::Arc;

use quorate_protocol::role::mutations::{Mutant, Mutation};
use quorate_protocol::role::{Claim, Options, RoleLock};
use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::random::{Plan, run};
use quorate_sim::{Breach, Claims, Faults, SimProtocol, Unwatched};

/// `n` sites whose callers claim one group or either of two.
fn plan<P>(n: usize, options: P::Options) -> Plan
where
    P: SimProtocol<Claim = Claim, Quorums = Arc<dyn QuorumSystem>>,
{
    let claims = "exclusive b for 4ms, shared f b for 3ms; \
                  shared f for 2ms, exclusive f b for 1ms; \
                  shared a for 5ms, exclusive a shared b for 2ms";
    let claims = Claims::parse::<P>(claims).unwrap();
    Plan {
        requests: vec![3; n],
        gives_up: 2,
        faults: Some(Faults { lose: 5, silent: 3, crash: 2, ..Faults::NONE }),
        ..Plan::new::<P>(build(Kind::Majority, n).unwrap(), options, claims)
    }
}

/// The first violation in runs with seeds below `seeds`.
fn first_breach(undone: Mutation, seeds: u64) -> Option<Breach> {
    let plan = plan::<Mutant>(3, (Options::default(), undone));
    (0..seeds).find_map(|seed| run(&plan, seed, &mut Unwatched).breach)
}

#[test]
fn faults_are_survived() {
    for n in [3, 5] {
        let plan = plan::<RoleLock>(n, Options::default());
        for seed in 0..600 {
            let outcome = run(&plan, seed, &mut Unwatched);
            assert!(outcome.breach.is_none(), "seed {seed}: {:?}", outcome.breach);
            assert_eq!(outcome.tally.unserved, 0, "seed {seed}");
        }
    }
}

#[test]
fn repairs_beyond_a_small_search_are_needed_too() {
    for (undone, property, seeds) in [
        (Mutation::NoQuarantine, "exclusion", 4000),
        (Mutation::CeilVolatile, "fences grow", 400),
        (Mutation::NoRecheck, "progress", 4000),
    ] {
        let breach = first_breach(undone, seeds).expect("the repair is needed");
        assert_eq!(breach.property, property, "{undone}: {breach}");
    }
}
