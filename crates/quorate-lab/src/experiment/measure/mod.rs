//! Runs and counts that all experiments share.

mod chance;
mod concurrency;
mod entry;

use quorate_sim::random::{Plan, T, Tally, TimedObserver, run};

pub(super) use self::chance::Chance;
pub(super) use self::concurrency::ConcurrencyMeter;
pub(super) use self::entry::{Heavy, heavy, light, light_of, uneven};

/// Runs a plan, and asserts that every claim is served.
pub(super) fn served(plan: &Plan, seed: u64, watch: &mut dyn TimedObserver) -> Tally {
    let outcome = run(plan, seed, watch);
    let served = outcome.breach.is_none() && outcome.tally.unserved == 0;
    assert!(
        served,
        "{} serves everybody, seed {seed}: {:?}",
        plan.setup.facts().name,
        outcome.breach
    );
    outcome.tally
}

/// Seeds of so many runs, distinct for different seeds of the experiment.
pub(super) fn seeds(seed: u64, runs: u64) -> impl Iterator<Item = u64> {
    (0..runs).map(move |run| seed.wrapping_mul(1_000_003).wrapping_add(run))
}

/// Ticks as a multiple of T.
pub(super) fn in_t(ticks: u64) -> f64 {
    ticks as f64 / T as f64
}

/// A share of a whole; 0 if the whole is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
