//! Sessions under random faults, with clocks that run at different rates.

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use quorate_check::session::{Setup, Undone, World};
use quorate_session::session::{Drift, Half, Lease};

/// Something that happens; a site is 0 or 1.
#[derive(Clone, Copy, Debug)]
enum Happening {
    /// Time passes, and both sites are woken in time, or sleep through it.
    Pass {
        ms: u64,
        asleep: bool,
    },
    /// So many packets arrive at a site.
    Deliver(usize, usize),
    Say(usize, Half),
    HandDown(u64),
    Part(usize, usize),
    Reset(usize, usize),
    Restart(usize, usize),
}

fn happening() -> impl Strategy<Value = Happening> {
    let half = prop_oneof![Just(Half::Arbiter), Just(Half::Requester)];
    prop_oneof![
        6 => (0..900_u64, proptest::bool::weighted(0.1))
            .prop_map(|(ms, asleep)| Happening::Pass { ms, asleep }),
        12 => (0..2_usize, 1..6_usize).prop_map(|(me, many)| Happening::Deliver(me, many)),
        4 => (0..2_usize, half).prop_map(|(me, half)| Happening::Say(me, half)),
        1 => (1..4000_u64).prop_map(Happening::HandDown),
        1 => (0..2_usize, 0..4_usize).prop_map(|(me, keep)| Happening::Part(me, keep)),
        2 => (0..2_usize, 0..4_usize).prop_map(|(me, keep)| Happening::Reset(me, keep)),
        1 => (0..2_usize, 0..4_usize).prop_map(|(me, keep)| Happening::Restart(me, keep)),
    ]
}

/// How fast the two clocks run, in parts per ten thousand.
type Rates = [u64; 2];

fn run(rates: Rates, hand_downs: bool, happenings: &[Happening]) -> Result<(), TestCaseError> {
    let setup = Setup {
        leases: vec![Lease::default()],
        drift: Drift::default(),
        both_ways: true,
        undone: Undone::Nothing,
    };
    let mut world = World::new(&setup);
    for happening in happenings {
        match *happening {
            Happening::Pass { ms, asleep } => pass(&setup, &mut world, rates, ms, asleep),
            Happening::Deliver(me, many) => {
                for _ in 0..many {
                    world.deliver(&setup, me);
                }
            }
            Happening::Say(me, half) => world.send(&setup, me, half),
            Happening::HandDown(ms) if hand_downs => {
                world.hand_down(&setup, 1, Duration::from_millis(ms));
            }
            Happening::HandDown(_) => {}
            Happening::Part(me, keep) => world.part(&setup, me, keep),
            Happening::Reset(me, keep) => world.reset(&setup, me, keep),
            Happening::Restart(me, keep) => world.restart(&setup, me, keep),
        }
        prop_assert_eq!(world.broken(), None);
    }
    Ok(())
}

/// Time passes in steps of at most ten milliseconds, so that who is due is woken about in time.
fn pass(setup: &Setup, world: &mut World, rates: Rates, ms: u64, asleep: bool) {
    let mut left = ms;
    while left > 0 {
        let step = left.min(10);
        left -= step;
        // A rate of 10 000 is 1 ms in a millisecond.
        world.pass(rates.map(|rate| Duration::from_nanos(step * rate * 100)));
        for me in [0, 1] {
            if !asleep && world.wakes_in(me).is_some_and(|time| time.is_zero()) {
                world.wake(setup, me);
            }
        }
    }
}

fn search(rates: impl Strategy<Value = Rates>, hand_downs: bool) -> Result<(), String> {
    let config = Config { cases: 2000, failure_persistence: None, ..Config::default() };
    let happenings = proptest::collection::vec(happening(), 1..400);
    let seeded = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, seeded);
    let found =
        runner.run(&(rates, happenings), |(rates, happenings)| run(rates, hand_downs, &happenings));
    found.map_err(|found| found.to_string())
}

#[test]
fn clocks_within_the_allowance_keep_every_promise() {
    // The slowest is 0.9 % slower than the fastest; the allowance is 1 %.
    let rates = [9_955..=10_044_u64, 9_955..=10_044];
    search(rates, true).unwrap_or_else(|found| panic!("{found}"));
}

#[test]
fn clocks_beyond_the_allowance_do_not() {
    let found = search(Just([9_000, 10_000]), false).expect_err("the allowance is needed");
    assert!(found.contains("S1: lost at the client"), "{found}");
}
