//! Experiments: the claim of a paper, its condition, and the measurement.

mod claim;
mod errata;
mod gaps;
mod groups;
mod handover;
mod headline;
mod measure;
mod plot;
mod pool;
mod pools;
mod quorums;
mod roles;
mod scale;
mod stories;
mod table1;
mod token;

use self::claim::Claim;
pub use self::plot::{Axis, Line, Plot};
use crate::diagram::Diagram;

/// An experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is about, in a line.
    pub about: &'static str,
    run: fn(Settings, Sink<'_>),
}

/// Takes what an experiment finds, as soon as it is found.
pub type Sink<'a> = &'a mut dyn FnMut(Finding);

/// What an experiment finds.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// A claim, and what was measured.
    Row(Row),
    /// Measurements side by side.
    Plot(Plot),
    /// A history.
    Diagram(Diagram),
    /// Its main result, in a sentence or two.
    Headline(String),
}

impl Experiment {
    /// Makes the experiment, and hands every finding to `sink` as soon as it is there. The same
    /// settings give the same findings.
    pub fn run(&self, settings: Settings, sink: Sink<'_>) {
        (self.run)(settings, sink);
    }
}

/// All experiments.
pub const EXPERIMENTS: [Experiment; 12] = [
    Experiment {
        name: "errata",
        about: "five papers as printed: the shortest schedule that breaks what they claim",
        run: errata::run,
    },
    Experiment {
        name: "gaps",
        about: "what each fault costs: for how long nobody holds a lock that callers wait for",
        run: gaps::run,
    },
    Experiment {
        name: "groups",
        about: "Manabe & Park 2004: how many are inside together, and what it costs",
        run: groups::run,
    },
    Experiment {
        name: "handover",
        about: "Cao & Singhal 2001, sections 5.2 and 5.3: the delay between two holders",
        run: handover::run,
    },
    Experiment {
        name: "pool",
        about: "Manabe & Tajima: sizes of quorums for h of k units, and what they save",
        run: pool::run,
    },
    Experiment {
        name: "pools",
        about: "both pools side by side: messages, units in use, hand-over, sites down",
        run: pools::run,
    },
    Experiment {
        name: "quorums",
        about: "the catalogue of quorum systems: size, load, availability",
        run: quorums::run,
    },
    Experiment {
        name: "roles",
        about: "Cenci & Ardenghi 2012: messages, stages, and what those who wait can expect",
        run: roles::run,
    },
    Experiment {
        name: "scale",
        about: "the mutex with up to 10,000 sites: messages, delay, and the law of growth",
        run: scale::run,
    },
    Experiment {
        name: "stories",
        about: "short histories, drawn: hand-overs, an occupancy with followers, a lost token",
        run: stories::run,
    },
    Experiment {
        name: "table1",
        about: "Cao & Singhal 2001, table 1: messages and delay of nine algorithms, as N grows",
        run: table1::run,
    },
    Experiment {
        name: "token",
        about: "Swaroop & Singh 2008: what a token costs, and when it is taken for lost",
        run: token::run,
    },
];

/// The settings of an experiment.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The seed of all random choices.
    pub seed: u64,
    /// Only the small sizes.
    pub quick: bool,
    /// Whether to measure wall-clock time too, which differs from run to run.
    pub clock: bool,
}

/// One claim, and what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was measured, of which algorithm and cluster.
    pub name: String,
    /// The claim of the paper.
    pub claim: String,
    /// Under which condition.
    pub condition: String,
    /// The measurement.
    pub measured: f64,
    /// Its unit.
    pub unit: &'static str,
    /// How claim and measurement compare.
    pub verdict: Verdict,
    /// Why they differ, or what else there is to know.
    pub note: String,
}

/// How a claim and a measurement compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Verdict {
    /// The figures are equal, up to chance, or the measurement is within the claimed bound.
    Holds,
    /// A bound was broken, or an event happened that never should.
    Refuted,
    /// The figures are not equal.
    Differs,
}

/// At most three places after the point, or three digits if it is small.
fn rounded(value: f64) -> f64 {
    // From 0.1 on three places are three digits or more.
    let zeros = if value == 0.0 { 0.0 } else { -value.abs().log10().ceil() };
    let scale = 10_f64.powf(3.0 + zeros.clamp(0.0, 12.0));
    (value * scale).round() / scale
}
