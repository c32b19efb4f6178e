//! The laboratory: locks in virtual time, in a search of every schedule, and in experiments.

mod check;
mod cluster;
mod faults;
mod fuzz;
mod html;
mod lab;
mod output_file;
mod panics;
mod quorum;
mod sim;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use quorate_terminal::shell;

/// The laboratory of quorate: simulate its locks, check every schedule, test the claims of papers
#[derive(Debug, Parser)]
#[command(name = "quorate-lab", version, max_term_width = 100, after_help = EXAMPLES)]
struct QuorateLab {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a cluster in virtual time, by a script or a seed
    #[command(subcommand)]
    Sim(sim::Sim),
    Check(Box<check::Check>),
    /// Run experiments that compare the claims of papers with measurements
    #[command(subcommand)]
    Lab(lab::Lab),
    #[command(subcommand)]
    Fuzz(fuzz::Fuzz),
    /// Measure, compare and choose quorum systems
    #[command(subcommand)]
    Quorum(quorum::Quorum),
    Completions(shell::Completions),
    Man(shell::Man),
}

const EXAMPLES: &str = "\
Examples:
  quorate sim demo                   watch three of five sites share a lock
  quorate sim random --runs 10000    ten thousand other histories, and what they cost
  quorate check mutex                every history of three sites
  quorate lab list                   the experiments

`quorate sim`, `check`, `lab`, and `quorum compare`, `check`, `suggest` and `measure` run this
program, if it is installed beside `quorate` or on PATH.

Exit status: 0 all fine, 1 a property broke, 2 bad input, 3 the search was not complete.";

fn main() -> ExitCode {
    let answer = match QuorateLab::parse().command {
        Command::Sim(sim) => sim.run(),
        Command::Check(check) => check.run(),
        Command::Lab(lab) => lab.run(),
        Command::Fuzz(fuzz) => fuzz.run(),
        Command::Quorum(quorum) => quorum.run(),
        Command::Completions(completions) => completions.run(QuorateLab::command()),
        Command::Man(man) => man.run(QuorateLab::command()),
    };
    quorate_terminal::answer::exit("quorate-lab", answer)
}
