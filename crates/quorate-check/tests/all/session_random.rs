//! Sessions under random faults, with clocks that run at different rates.

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use quorate_check::session::{Setup, Undone, World};
use quorate_session::session::{Drift, Half, Lease, Window};

/// A step of a random run; a site is 0 or 1.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Time passes, and both sites are woken in time, or not at all.
    Pass {
        ms: u64,
        asleep: bool,
    },
    /// A number of packets arrive at a site.
    Deliver(usize, usize),
    Send(usize, Half),
    Delegate(u64),
    Disconnect(usize, usize),
    Reconnect(usize, usize),
    Restart(usize, usize),
}

fn step() -> impl Strategy<Value = Step> {
    let half = prop_oneof![Just(Half::Arbiter), Just(Half::Requester)];
    prop_oneof![
        6 => (0..900_u64, proptest::bool::weighted(0.1))
            .prop_map(|(ms, asleep)| Step::Pass { ms, asleep }),
        12 => (0..2_usize, 1..6_usize).prop_map(|(me, many)| Step::Deliver(me, many)),
        4 => (0..2_usize, half).prop_map(|(me, half)| Step::Send(me, half)),
        1 => (1..4000_u64).prop_map(Step::Delegate),
        1 => (0..2_usize, 0..4_usize).prop_map(|(me, keep)| Step::Disconnect(me, keep)),
        2 => (0..2_usize, 0..4_usize).prop_map(|(me, keep)| Step::Reconnect(me, keep)),
        1 => (0..2_usize, 0..4_usize).prop_map(|(me, keep)| Step::Restart(me, keep)),
    ]
}

/// The rates of the two clocks, in parts per ten thousand.
type Rates = [u64; 2];

fn run(
    rates: Rates,
    frames: usize,
    delegations: bool,
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let setup = Setup {
        leases: vec![Lease::default()],
        drift: Drift::default(),
        both_ways: true,
        window: Window::of_frames(frames),
        locks: 0,
        undone: Undone::Nothing,
    };
    let mut world = World::new(&setup);
    for step in steps {
        match *step {
            Step::Pass { ms, asleep } => pass(&setup, &mut world, rates, ms, asleep),
            Step::Deliver(me, many) => {
                for _ in 0..many {
                    world.deliver(&setup, me);
                }
            }
            Step::Send(me, half) => world.send(&setup, me, half),
            Step::Delegate(ms) if delegations => {
                world.delegate(&setup, 1, Duration::from_millis(ms));
            }
            Step::Delegate(_) => {}
            Step::Disconnect(me, keep) => world.disconnect(&setup, me, keep),
            Step::Reconnect(me, keep) => world.reconnect(&setup, me, keep),
            Step::Restart(me, keep) => world.restart(&setup, me, keep),
        }
        prop_assert_eq!(world.broken(), None);
    }
    Ok(())
}

/// Lets time pass, at most ten milliseconds at once, so that sites are woken about in time.
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

fn search(rates: impl Strategy<Value = Rates>, delegations: bool) -> Result<(), String> {
    let config = Config { cases: 2000, failure_persistence: None, ..Config::default() };
    let steps = proptest::collection::vec(step(), 1..400);
    let seeded = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, seeded);
    let frames = prop_oneof![Just(1), Just(2), Just(4), Just(4096)];
    let found = runner.run(&(rates, frames, steps), |(rates, frames, steps)| {
        run(rates, frames, delegations, &steps)
    });
    found.map_err(|found| found.to_string())
}

#[test]
fn clocks_within_the_allowance_keep_every_promise() {
    // The slowest clock is 0.9 % slower than the fastest; the allowance is 1 %.
    let rates = [9_955..=10_044_u64, 9_955..=10_044];
    search(rates, true).unwrap_or_else(|found| panic!("{found}"));
}

#[test]
fn clocks_beyond_the_allowance_break_a_promise() {
    let found = search(Just([9_000, 10_000]), false).expect_err("the allowance is needed");
    assert!(found.contains("S1: lost at the client"), "{found}");
}
