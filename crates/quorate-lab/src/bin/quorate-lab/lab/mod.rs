//! `quorate lab`: experiments.

mod outcome;
mod page;
mod report;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Args, Subcommand};
use quorate_laboratory::{BASELINES, EXPERIMENTS, Experiment, Settings};

use self::outcome::{Outcome, counts};
use crate::output_file::OutputFile;
use crate::panics::with_quiet_panics;
use quorate_terminal::answer::{Answer, Failure, Verdict, print_lines};
use quorate_terminal::paint::Paint;
use quorate_terminal::progress::{Goal, with_progress_message};
use quorate_terminal::table::{aligned, row};

/// Runs experiments.
#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    /// List the experiments, and the protocols to compare ours with
    #[command(after_help = "Example:\n  quorate lab list")]
    List,
    Run(Run),
}

/// Run experiments: each claim, its condition, the measured figure, and whether they agree
///
/// The verdict is `holds` for equal figures or one within a bound, `differs` for unequal figures,
/// and `refuted` for a broken bound. The same seed gives the same answer.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "a command's flags are switches")]
pub(crate) struct Run {
    /// The experiments to run, as `quorate lab list` names them, or `all`
    #[arg(value_name = "EXPERIMENT", required = true)]
    experiments: Vec<String>,
    /// The seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Use small clusters only
    #[arg(long)]
    quick: bool,
    /// Add rows on the speed of this machine, which differ from run to run
    #[arg(long)]
    clock: bool,
    /// Print JSON, one row per line
    #[arg(long)]
    json: bool,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Write a page with tables and figures to this file; rows are then printed only with --json or
    /// --csv
    #[arg(long, value_name = "FILE", conflicts_with = "clock")]
    html: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  quorate lab run handover
  quorate lab run table1 handover --quick
  quorate lab run all --csv > all.csv
  quorate lab run all --html report.html

Exit status: 0 the experiments were run, whatever their verdicts, 2 bad input.";

/// The name for all experiments.
const ALL: &str = "all";

impl Lab {
    /// Runs the subcommand.
    pub(crate) fn run(&self) -> Answer {
        match self {
            Lab::List => list(),
            Lab::Run(run) => run.run(),
        }
    }
}

fn list() -> Answer {
    let experiments = EXPERIMENTS.map(|Experiment { name, about, .. }| row([name, about]));
    let mut lines = aligned(&experiments);
    lines.push(format!("\nbaselines, for `check` and `sim`: {}", BASELINES.join(", ")));
    print_lines(&lines)?;
    Ok(Verdict::Clean)
}

impl Run {
    fn run(&self) -> Answer {
        let chosen = self.chosen()?;
        let output = self.html.as_deref().map(OutputFile::new).transpose()?;
        let outcomes = self.make(&chosen);
        if let Some(output) = &output {
            output.write(&page::page(&outcomes, self.seed, &self.command(&chosen)))?;
        }
        print_lines(&match (self.json, self.csv, &self.html) {
            (true, ..) => report::json(&outcomes),
            (_, true, _) => report::csv(&outcomes),
            (.., Some(file)) => vec![format!("{}; the page is {file}", counts(&outcomes))],
            _ => report::text(&outcomes, Paint::for_stdout()),
        })?;
        Ok(Verdict::Clean)
    }

    /// Runs the experiments, and shows which one is running.
    fn make(&self, chosen: &[Experiment]) -> Vec<Outcome> {
        let settings = Settings { seed: self.seed, quick: self.quick, clock: self.clock };
        let (made, now) = (AtomicU64::new(0), Mutex::new(""));
        let name = || now.lock().map_or("", |name| *name);
        let one = |experiment: &Experiment| {
            if let Ok(mut name) = now.lock() {
                *name = experiment.name;
            }
            let outcome = Outcome::of(*experiment, settings);
            made.fetch_add(1, Ordering::Relaxed);
            outcome
        };
        with_progress_message(
            Goal::Uneven(chosen.len() as u64),
            || format!("experiments, now {}", name()),
            || made.load(Ordering::Relaxed),
            || with_quiet_panics(|| chosen.iter().map(one).collect()),
        )
    }

    /// The command that reproduces this.
    fn command(&self, chosen: &[Experiment]) -> String {
        let names: Vec<&str> = match chosen.len() {
            all if all == EXPERIMENTS.len() => vec![ALL],
            _ => chosen.iter().map(|experiment| experiment.name).collect(),
        };
        let quick = if self.quick { " --quick" } else { "" };
        format!("quorate lab run {}{quick} --seed {}", names.join(" "), self.seed)
    }

    /// The named experiments, each once.
    fn chosen(&self) -> Result<Vec<Experiment>, Failure> {
        let mut chosen: Vec<Experiment> = Vec::new();
        for name in &self.experiments {
            let meant = |known: &Experiment| name == ALL || known.name == name;
            if !EXPERIMENTS.iter().any(meant) {
                let known = EXPERIMENTS.map(|experiment| experiment.name).join(", ");
                return Err(format!("unknown experiment `{name}`; known: {known}, or {ALL}").into());
            }
            for experiment in EXPERIMENTS.into_iter().filter(meant) {
                if chosen.iter().all(|before| before.name != experiment.name) {
                    chosen.push(experiment);
                }
            }
        }
        Ok(chosen)
    }
}
