//! `quorate lab`: experiments.

mod report;

use std::sync::atomic::{AtomicU64, Ordering};

use clap::{Args, Subcommand};
use quorate_lab::{BASELINES, EXPERIMENTS, Experiment, Finding, Settings};

use crate::answer::{Answer, Failure, Verdict, say_lines};
use crate::hush::hushed;
use crate::progress::{Goal, shown};
use crate::table::{aligned, row};

/// Makes experiments.
#[derive(Debug, Subcommand)]
pub(crate) enum Lab {
    /// Names the experiments, and the protocols to compare ours with
    List,
    Run(Run),
}

/// Makes an experiment: the claim, its condition, what was measured, and whether they agree
///
/// `holds` is said of equal figures, or of one within a bound; `differs` of figures that are not
/// the same; `refuted` of a bound that was broken. The same seed gives the same answer.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "a command's flags are switches")]
pub(crate) struct Run {
    /// Which experiment, as `quorate lab list` names it
    experiment: String,
    /// Decides what is left to chance
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only small clusters
    #[arg(long)]
    quick: bool,
    /// Also how fast this machine simulates: rows that are never twice the same
    #[arg(long)]
    clock: bool,
    /// Answers in JSON, one row a line
    #[arg(long)]
    json: bool,
    /// Answers as comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

const EXAMPLES: &str = "\
Examples:
  quorate lab run handover
  quorate lab run table1 --quick
  quorate lab run table1 --csv > table1.csv

Exit status: 0 the experiment was made, whatever came of it, 2 bad input.";

impl Lab {
    /// Does what is asked for.
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
    say_lines(&lines)?;
    Ok(Verdict::Clean)
}

impl Run {
    fn run(&self) -> Answer {
        let experiment = self.experiment()?;
        let settings = Settings { seed: self.seed, quick: self.quick, clock: self.clock };
        let (measured, mut rows) = (AtomicU64::new(0), Vec::new());
        let progress = || measured.load(Ordering::Relaxed);
        shown(Goal::Unknown, "measured", progress, || {
            hushed(|| {
                experiment.run(settings, &mut |finding| {
                    if let Finding::Row(row) = finding {
                        measured.fetch_add(1, Ordering::Relaxed);
                        rows.push(row);
                    }
                });
            });
        });
        say_lines(&match (self.json, self.csv) {
            (true, _) => report::json(&rows),
            (_, true) => report::csv(&rows),
            _ => report::text(&rows),
        })?;
        Ok(Verdict::Clean)
    }

    fn experiment(&self) -> Result<Experiment, Failure> {
        let found = EXPERIMENTS.into_iter().find(|known| known.name == self.experiment);
        found.ok_or_else(|| {
            let known = EXPERIMENTS.map(|experiment| experiment.name).join(", ");
            format!("unknown experiment `{}`; known: {known}", self.experiment).into()
        })
    }
}
