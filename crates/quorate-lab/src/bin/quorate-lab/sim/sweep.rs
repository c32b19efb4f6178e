//! Many runs, on several threads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use quorate_sim::random::{Outcome, Plan, Tally, run};
use quorate_sim::{Breach, Unwatched};
use serde_json::{Value, json};

use super::random::Random;
use crate::cluster::Cluster;
use quorate_terminal::figures::grouped;
use quorate_terminal::paint::Paint;

/// The results of many runs. They do not depend on the number of threads.
#[derive(Debug, Default)]
pub(super) struct Sum<T> {
    /// The sums of their counts.
    pub(super) tally: T,
    /// How many runs went wrong.
    pub(super) failed: u64,
    /// The failure of the run with the smallest seed.
    pub(super) first: Option<Flaw>,
}

/// A failure of a run.
#[derive(Clone, Debug)]
pub(super) struct Flaw {
    /// The run's seed.
    pub(super) seed: u64,
    /// The broken property, and how to see it.
    pub(super) breach: Breach,
}

/// Counts of a run that can be added up.
pub(super) trait Counts: Default + Send {
    /// Adds the counts of another run.
    fn add(&mut self, other: &Self);
}

impl Counts for Tally {
    fn add(&mut self, other: &Self) {
        Tally::add(self, other);
    }
}

impl<T: Counts> Sum<T> {
    /// Adds one run.
    pub(super) fn note(&mut self, seed: u64, tally: &T, breach: Option<Breach>) {
        self.tally.add(tally);
        if let Some(breach) = breach {
            self.failed += 1;
            self.keep_first(Flaw { seed, breach });
        }
    }

    pub(super) fn join(&mut self, other: Self) {
        self.tally.add(&other.tally);
        self.failed += other.failed;
        if let Some(flaw) = other.first {
            self.keep_first(flaw);
        }
    }

    fn keep_first(&mut self, flaw: Flaw) {
        if self.first.as_ref().is_none_or(|first| flaw.seed < first.seed) {
            self.first = Some(flaw);
        }
    }

    /// `well` if no run failed; otherwise the failure, in how many runs, and how to see it.
    pub(super) fn verdict(
        &self,
        args: &Random,
        cluster: &Cluster,
        well: &str,
        paint: Paint,
    ) -> String {
        let Some(Flaw { seed, breach }) = &self.first else { return paint.good(well) };
        let failed = grouped(self.failed);
        let which = match args.runs() {
            1 => format!("with seed {seed}"),
            runs => format!("in {failed} of {} runs, first with seed {seed}", grouped(runs)),
        };
        let text = format!("{} {breach}\n{which}", paint.bad("broken:"));
        if args.trace {
            return text;
        }
        format!("{text}\nreplay: {}", args.replay(cluster, *seed))
    }

    /// The failures as JSON, with the trace of the first failed run.
    pub(super) fn violations(&self, trace: &[String]) -> Vec<Value> {
        let violation = |Flaw { seed, breach }: &Flaw| {
            json!({
                "property": breach.property,
                "what": breach.what,
                "seed": seed,
                "trace": trace,
            })
        };
        self.first.iter().map(violation).collect()
    }
}

impl Sum<Tally> {
    /// Adds one run; an unserved claim is a failure too.
    pub(super) fn add(&mut self, seed: u64, outcome: &Outcome) {
        let left = outcome.tally.unserved;
        let unserved = || Breach {
            property: "unserved",
            what: format!("{left} claims still wait, and nothing can happen any more"),
        };
        let breach = outcome.breach.clone().or_else(|| (left > 0).then(unserved));
        self.note(seed, &outcome.tally, breach);
    }
}

/// Runs `plan` with `runs` seeds from `seed` on; `started` counts them.
pub(super) fn sweep(
    plan: &Plan,
    seed: u64,
    runs: u64,
    threads: NonZeroUsize,
    started: &AtomicU64,
) -> Sum<Tally> {
    let one = |sum: &mut Sum<Tally>, seed| sum.add(seed, &run(plan, seed, &mut Unwatched));
    each_seed((seed, runs), threads, started, one, Sum::join)
}

/// Calls `one` for each of `runs` seeds from `seed` on, sums up per thread, and then
/// joins the sums.
pub(super) fn each_seed<S: Default + Send>(
    (seed, runs): (u64, u64),
    threads: NonZeroUsize,
    started: &AtomicU64,
    one: impl Fn(&mut S, u64) + Sync,
    join: impl Fn(&mut S, S),
) -> S {
    let work = || {
        let mut sum = S::default();
        loop {
            let next = started.fetch_add(1, Ordering::Relaxed);
            if next >= runs {
                return sum;
            }
            one(&mut sum, seed + next);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.get()).map(|_| scope.spawn(work)).collect();
        let mut sum = S::default();
        for worker in workers {
            let part = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            join(&mut sum, part);
        }
        sum
    })
}
