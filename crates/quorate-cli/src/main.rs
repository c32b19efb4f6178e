//! The `quorate` command: locks without a leader, and the tools to study them.

mod answer;
mod check;
mod cluster;
mod faults;
mod figures;
mod hush;
mod paint;
mod progress;
mod quorum;
mod sim;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Locks without a leader: every grant is decided by a quorum of the sites.
#[derive(Debug, Parser)]
#[command(name = "quorate", version, max_term_width = 100, after_help = EXAMPLES)]
struct Quorate {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs a cluster in virtual time: by a script, or as a seed decides
    #[command(subcommand)]
    Sim(sim::Sim),
    Check(Box<check::Check>),
    /// Shows quorum systems
    #[command(subcommand)]
    Quorum(quorum::Quorum),
}

const EXAMPLES: &str = "\
Examples:
  quorate sim demo                   watch three of five sites share a lock
  quorate sim random --runs 10000    ten thousand other histories, and what they cost
  quorate check mutex                every history of three sites

Exit status: 0 all fine, 1 a property broke, 2 bad input, 3 the search was not complete.";

fn main() -> ExitCode {
    let answer = match Quorate::parse().command {
        Command::Sim(sim) => sim.run(),
        Command::Check(check) => check.run(),
        Command::Quorum(quorum) => quorum.run(),
    };
    match answer {
        Ok(verdict) => verdict.exit_code(),
        Err(failure) => {
            eprintln!("quorate: {failure}");
            answer::Verdict::BadInput.exit_code()
        }
    }
}
