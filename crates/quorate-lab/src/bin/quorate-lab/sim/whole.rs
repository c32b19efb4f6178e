//! `quorate sim random --site`: clusters of whole sites.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use quorate_laboratory::BASELINES;
use quorate_protocol::mutex::{Mutex, Options};
use quorate_quorum::QuorumSystem;
use quorate_sim::cluster::{Chronicle, Outcome, Plan, Tally, run};
use quorate_sim::{Configured, Unwatched, site_settings};

use super::random::Random;
use super::sweep::{Counts, Sum, each_seed};
use super::whole_report::WholeReport;
use crate::cluster::Cluster;
use crate::panics::with_quiet_panics;
use quorate_terminal::answer::{Answer, Failure, Verdict, print, print_lines};
use quorate_terminal::paint::Paint;
use quorate_terminal::progress::{Goal, with_progress};

/// A plan for runs of whole sites.
pub(super) struct Whole<'a> {
    args: &'a Random,
    cluster: Cluster,
    plan: Plan,
}

/// The results of many runs of whole sites.
pub(super) type WholeSum = Sum<Tally>;

impl Counts for Tally {
    fn add(&mut self, other: &Self) {
        Tally::add(self, other);
    }
}

impl<'a> Whole<'a> {
    /// The plan that the flags describe.
    ///
    /// # Errors
    ///
    /// A flag that whole sites do not support, or a name that does not exist.
    pub(super) fn new(args: &'a Random) -> Result<Self, Failure> {
        let faults = args.faults.parse()?;
        refuse_drawn_flags(args)?;
        if BASELINES.contains(&args.protocol.as_str()) {
            let why = format!("--site: whole sites run no {}; leave --site out", args.protocol);
            return Err(why.into());
        }
        let (claims, settings) = site_settings(&args.protocol, &args.cluster.options)?;
        let mutex = Configured::<Mutex> { options: Options::default() };
        let (cluster, setup, _) = args.cluster.resolve(&mutex, 5, 0)?;
        let quorums: Option<&Arc<dyn QuorumSystem>> = setup.quorums().downcast_ref();
        let quorums = quorums.expect("a mutex decides by one system").clone();
        let window = args.window.map(NonZeroUsize::get);
        let plan = Plan { faults, claims, settings, window, ..Plan::new(quorums) };
        Ok(Self { args, cluster, plan })
    }

    /// Runs the plan and prints the results.
    pub(super) fn run(&self) -> Answer {
        with_quiet_panics(|| if self.args.trace { self.trace() } else { self.count() })
    }

    /// One run, event by event.
    fn trace(&self) -> Answer {
        let (mut chronicle, mut sum) = (Chronicle::default(), WholeSum::default());
        note(&mut sum, self.args.seed, run(&self.plan, self.args.seed, &mut chronicle));
        let report = WholeReport { args: self.args, cluster: &self.cluster, sum: &sum };
        if self.args.json {
            print(&format!("{}\n", report.json(&chronicle.0)))?;
        } else {
            let paint = Paint::for_stdout();
            print_lines(&[report.title(paint)])?;
            print_lines(&chronicle.0)?;
            print(&format!("\n{}\n", report.verdict(paint)))?;
        }
        Ok(verdict(&sum))
    }

    /// Many runs, and their figures.
    fn count(&self) -> Answer {
        let (started, runs, start) = (AtomicU64::new(0), self.args.runs(), Instant::now());
        let progress = || started.load(Ordering::Relaxed).min(runs);
        let one = |sum: &mut WholeSum, seed| note(sum, seed, run(&self.plan, seed, &mut Unwatched));
        let sum = with_progress(Goal::Of(runs), "runs", progress, || {
            each_seed((self.args.seed, runs), self.args.threads, &started, one, WholeSum::join)
        });
        let report = WholeReport { args: self.args, cluster: &self.cluster, sum: &sum };
        if self.args.json {
            let mut chronicle = Chronicle::default();
            if let Some(flaw) = &sum.first {
                run(&self.plan, flaw.seed, &mut chronicle);
            }
            print(&format!("{}\n", report.json(&chronicle.0)))?;
        } else {
            print(&report.text(start.elapsed()))?;
        }
        Ok(verdict(&sum))
    }
}

/// Flags that do not apply: the seed decides these things.
fn refuse_drawn_flags(args: &Random) -> Result<(), Failure> {
    let drawn = [
        ("--delay", args.delay != "exponential"),
        ("--skew", args.skew),
        ("--think", args.think.to_string() != "..10"),
        ("--inside", args.inside.to_string() != "..3"),
        ("--requests", args.cluster.requests.is_some()),
        ("--claims", args.cluster.claims.is_some()),
        ("--gives-up", args.cluster.gives_up > 0),
        ("--verbose", args.verbose),
        ("--ascii", args.ascii),
    ];
    match drawn.iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            let why = "in runs of whole sites the seed decides that; leave it out, or --site";
            Err(format!("{flag}: {why}").into())
        }
        None => Ok(()),
    }
}

fn note(sum: &mut WholeSum, seed: u64, outcome: Outcome) {
    sum.note(seed, &outcome.tally, outcome.breach);
}

fn verdict(sum: &WholeSum) -> Verdict {
    if sum.first.is_some() { Verdict::Broken } else { Verdict::Clean }
}
