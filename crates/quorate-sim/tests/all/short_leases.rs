//! Leases that are too short for the network: no token can be made within them.

use std::time::Duration;

use quorate_quorum::{Kind, build};
use quorate_sim::Unwatched;
use quorate_sim::cluster::{ClaimKind, Faults, Plan, Tally, run};

/// Seven sites with harmed disks. In each of these seeds packets usually take 20 milliseconds, and
/// some sites may have half of the usual lease.
const SEEDS: [u64; 4] = [216, 30_059, 31_010, 31_089];

fn tally(lease: u64, seed: u64) -> Tally {
    let plan = Plan {
        lease: Duration::from_secs(lease),
        claims: ClaimKind::Token,
        faults: Faults::Disks,
        ..Plan::new(build(Kind::Majority, 7).unwrap())
    };
    let outcome = run(&plan, seed, &mut Unwatched);
    assert_eq!(outcome.breach, None, "seed {seed}, {lease} s");
    outcome.tally
}

/// With half a second, callers may wait for ever. With a second, they are served.
#[test]
fn a_lease_outlasts_the_making_of_a_token() {
    for seed in SEEDS {
        assert_eq!(tally(1, seed).unjudged, 1, "seed {seed}");
        assert_eq!(tally(2, seed).unjudged, 0, "seed {seed}");
    }
}
