//! `quorate quorum`: quorum systems, measured and compared.

mod check;
mod compare;
mod draw;
mod figures;
mod input;
mod measure;
mod page;
mod pool;
mod suggest;
mod suggest_pool;

use clap::Subcommand;
use quorate_terminal::answer::Answer;

/// Measures, compares and checks quorum systems.
#[derive(Debug, Subcommand)]
pub(crate) enum Quorum {
    #[command(alias = "show")]
    Measure(measure::Measure),
    Compare(compare::Compare),
    Check(check::Check),
    Suggest(suggest::Suggest),
}

impl Quorum {
    /// Runs the subcommand.
    pub(crate) fn run(&self) -> Answer {
        match self {
            Quorum::Measure(measure) => measure.run(),
            Quorum::Compare(compare) => compare.run(),
            Quorum::Check(check) => check.run(),
            Quorum::Suggest(suggest) => suggest.run(),
        }
    }
}
