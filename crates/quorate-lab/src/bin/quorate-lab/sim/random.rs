//! `quorate sim random`: random histories.

use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;
use quorate_laboratory::find;
use quorate_sim::random::{Plan, run};

use super::events::Recorder;
use super::flags::Time;
use super::picture::Picture;
use super::report::Report;
use super::sweep::{Sum, sweep};
use super::whole::Whole;
use crate::cluster::{Cluster, ClusterArgs};
use crate::faults::FaultArgs;
use crate::panics::with_quiet_panics;
use quorate_terminal::answer::{Answer, Verdict, print, print_lines};
use quorate_terminal::paint::Paint;
use quorate_terminal::progress::{Goal, with_progress};

/// Run a cluster with random timing, decided by a seed
///
/// Every property is checked after every event. Times are in T, the mean delay of a message.
///
/// With --site, whole sites run, each with a clock, a disk and callers of its own, and the seed
/// also decides the faults. Properties are then checked in true time; a trace shows milliseconds.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "a command's flags are switches")]
pub(crate) struct Random {
    /// The protocol
    #[arg(long, value_name = "P", default_value = "mutex")]
    pub(super) protocol: String,
    /// How many runs; run i has seed S + i [default: 1000, or 1 with --trace]
    #[arg(long, value_name = "R")]
    pub(super) runs: Option<NonZeroU64>,
    /// The seed of the first run
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) cluster: ClusterArgs,
    /// How long messages take: `constant`, `uniform` or `exponential`
    #[arg(long, default_value = "exponential")]
    pub(super) delay: String,
    /// Make some channels always slower than others
    #[arg(long)]
    pub(super) skew: bool,
    /// The order in which a channel delivers: `fifo`, or `any` with --option unordered=on
    #[arg(long, default_value = "fifo")]
    pub(super) order: String,
    /// How long a site waits before each claim: `20`, or `..20` for anything up to it
    #[arg(long, value_name = "TIME", default_value = "..10")]
    pub(super) think: Time,
    /// How long a caller stays inside: `3`, or `..3` for anything up to it
    #[arg(long, value_name = "TIME", default_value = "..3")]
    pub(super) inside: Time,
    #[command(flatten)]
    pub(super) budget: FaultArgs,
    /// Which faults happen, with --site: `none`, `network`, `crashes`, `all`, or `disks`, which is
    /// all and wiped, older, swapped and copied disks
    #[arg(long, default_value = "none")]
    pub(super) faults: String,
    /// Give all streams windows of 1 to N frames, with --site, so that they are often full; the
    /// seed draws them [default: of many sizes]
    #[arg(long, value_name = "N")]
    pub(super) window: Option<NonZeroUsize>,
    /// Show all events of one run
    #[arg(long)]
    pub(super) trace: bool,
    /// Show messages of sites to themselves too
    #[arg(long, requires = "trace")]
    pub(super) verbose: bool,
    /// Draw the trace with plain ASCII characters
    #[arg(long, requires = "trace")]
    pub(super) ascii: bool,
    /// Print JSON; with --trace, one event per line before it
    #[arg(long)]
    pub(super) json: bool,
    /// The number of threads; the answer does not depend on it
    #[arg(long, value_name = "N", default_value = "2")]
    pub(super) threads: NonZeroUsize,
}

const EXAMPLES: &str = "\
Examples:
  quorate sim random --trace                      one run, drawn event by event
  quorate sim random --sites 13 --quorum plane    1000 runs on a projective plane
  quorate sim random --think 0 --inside 0.1 --delay constant --json
  quorate sim random --budget lose=5,silent=3,crash=2    sessions end, sites crash and restart
  quorate sim random --site --faults all          whole sites: drift, partitions, crashes, pauses

Exit status: 0 clean, 1 a property broke or a claim was not served, 2 bad input.";

impl Random {
    /// Runs the simulation and prints the results.
    pub(crate) fn run(&self) -> Answer {
        let mends = self.budget.given().filter(|flag| flag.starts_with("--no-"));
        if let (None, Some(flag)) = (&self.budget.budget, mends) {
            return Err(format!("{flag}: nothing goes wrong; expected --budget too").into());
        }
        if self.cluster.site && self.budget.budget.is_some() {
            let why = "--budget is for protocols alone; with --site take --faults";
            return Err(why.to_owned().into());
        }
        if self.trace && self.runs() > 1 {
            return Err("--trace shows one run; expected --runs 1".to_owned().into());
        }
        if self.seed.checked_add(self.runs()).is_none() {
            return Err(format!("--seed {}: too close to the largest seed", self.seed).into());
        }
        if self.cluster.site {
            return Whole::new(self)?.run();
        }
        if self.faults != "none" {
            let faults = &self.faults;
            return Err(format!("--faults {faults}: faults need whole sites; add --site").into());
        }
        if let Some(window) = self.window {
            return Err(format!("--window {window}: only whole sites have them; add --site").into());
        }
        let protocol = find(&self.protocol, &self.cluster.options)?;
        let facts = protocol.facts();
        self.budget.refuse(facts)?;
        let (cluster, setup, claims) = self.cluster.resolve(&*protocol, 5, 2)?;
        let sessions = self.budget.needs_sessions(facts);
        let plan = Plan {
            setup,
            claims,
            requests: cluster.requests.clone(),
            think: self.think.0,
            inside: self.inside.0,
            gives_up: cluster.gives_up(),
            delay: self.delay.parse()?,
            skew: self.skew,
            order: self.budget.order(facts, &self.order, sessions)?,
            faults: sessions.then(|| self.budget.faults()),
            sessionless: self.budget.sessionless(facts, sessions)?,
        };
        let simulation = Simulation { args: self, cluster: &cluster };
        with_quiet_panics(|| {
            if self.trace { simulation.trace(&plan) } else { simulation.count(&plan) }
        })
    }

    /// How many runs there are.
    pub(super) fn runs(&self) -> u64 {
        self.runs.map_or(if self.trace { 1 } else { 1000 }, NonZeroU64::get)
    }

    /// The command that shows the run with this seed.
    pub(super) fn replay(&self, cluster: &Cluster, seed: u64) -> String {
        let mut words = vec![format!("quorate sim random --protocol {}", self.protocol)];
        words.extend(cluster.flags());
        for (flag, value, default) in [
            ("--delay", self.delay.clone(), "exponential"),
            ("--order", self.order.clone(), "fifo"),
            ("--think", self.think.to_string(), "..10"),
            ("--inside", self.inside.to_string(), "..3"),
        ] {
            if value != default {
                words.push(format!("{flag} {value}"));
            }
        }
        if self.skew {
            words.push("--skew".to_owned());
        }
        words.extend(self.budget.flags());
        if self.cluster.site {
            words.push(format!("--site --faults {}", self.faults));
            words.extend(self.window.map(|window| format!("--window {window}")));
        }
        words.push(format!("--seed {seed} --runs 1 --trace"));
        words.join(" ")
    }
}

/// A simulation of one plan.
struct Simulation<'a> {
    args: &'a Random,
    cluster: &'a Cluster,
}

impl Simulation<'_> {
    /// One run, event by event.
    fn trace(&self, plan: &Plan) -> Answer {
        let (mut recorder, mut sum) = (Recorder::default(), Sum::default());
        sum.add(self.args.seed, &run(plan, self.args.seed, &mut recorder));
        let report = Report { args: self.args, cluster: self.cluster, sum: &sum };
        if self.args.json {
            let events = recorder.0.iter().map(super::events::Seen::json);
            let all = events.chain([report.json(&lines(&recorder))]).map(|value| value.to_string());
            print_lines(&all.collect::<Vec<_>>())?;
        } else {
            let picture = Picture {
                cluster: self.cluster,
                verbose: self.args.verbose,
                ascii: self.args.ascii,
                paint: Paint::for_stdout(),
            };
            print(&format!("{}\n{}", report.title(picture.paint), picture.draw(&recorder.0)))?;
            print(&format!("\n{}", report.counts(picture.paint)))?;
        }
        Ok(verdict(&sum))
    }

    /// Many runs, and their figures.
    fn count(&self, plan: &Plan) -> Answer {
        let (started, runs, start) = (AtomicU64::new(0), self.args.runs(), Instant::now());
        let progress = || started.load(Ordering::Relaxed).min(runs);
        let sum = with_progress(Goal::Of(runs), "runs", progress, || {
            sweep(plan, self.args.seed, runs, self.args.threads, &started)
        });
        let taken = start.elapsed();
        let report = Report { args: self.args, cluster: self.cluster, sum: &sum };
        if self.args.json {
            let mut recorder = Recorder::default();
            if let Some(flaw) = &sum.first {
                run(plan, flaw.seed, &mut recorder);
            }
            print(&format!("{}\n", report.json(&lines(&recorder))))?;
        } else {
            print(&report.text(taken))?;
        }
        Ok(verdict(&sum))
    }
}

fn lines(recorder: &Recorder) -> Vec<String> {
    recorder.0.iter().map(super::events::Seen::line).collect()
}

fn verdict<T>(sum: &Sum<T>) -> Verdict {
    if sum.first.is_some() { Verdict::Broken } else { Verdict::Clean }
}
