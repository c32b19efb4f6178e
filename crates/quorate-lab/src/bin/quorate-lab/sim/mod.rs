//! `quorate sim`: clusters in virtual time.

mod demo;
mod events;
mod flags;
mod picture;
mod random;
mod report;
mod script;
mod sweep;
mod whole;
mod whole_report;

use clap::Subcommand;

use quorate_terminal::answer::Answer;

/// Runs a cluster in virtual time.
#[derive(Debug, Subcommand)]
pub(crate) enum Sim {
    Demo(demo::Demo),
    Script(script::Script),
    Random(Box<random::Random>),
}

impl Sim {
    /// Runs the simulation and prints the results.
    pub(crate) fn run(&self) -> Answer {
        match self {
            Sim::Demo(demo) => demo.run(),
            Sim::Script(script) => script.run(),
            Sim::Random(random) => random.run(),
        }
    }
}
