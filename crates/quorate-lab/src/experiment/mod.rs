//! Experiments: what a paper claims, under which condition, and what was measured.

mod handover;
mod measure;
mod table1;

use std::fmt;

/// An experiment.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is about, in a line.
    pub about: &'static str,
    run: fn(Settings, &mut dyn FnMut(Row)),
}

impl Experiment {
    /// Makes the experiment, and hands every row to `sink` as soon as it is measured. The same
    /// settings give the same rows.
    pub fn run(&self, settings: Settings, sink: &mut dyn FnMut(Row)) {
        (self.run)(settings, sink);
    }
}

/// All experiments.
pub const EXPERIMENTS: [Experiment; 2] = [
    Experiment {
        name: "handover",
        about: "Cao & Singhal 2001, sections 5.2 and 5.3: the delay between two holders",
        run: handover::run,
    },
    Experiment {
        name: "table1",
        about: "Cao & Singhal 2001, table 1: messages and delay of nine algorithms, as N grows",
        run: table1::run,
    },
];

/// How an experiment is made.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Decides what is left to chance.
    pub seed: u64,
    /// Only the small sizes.
    pub quick: bool,
}

/// One claim, and what was measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was measured, of which algorithm and cluster.
    pub name: String,
    /// What the paper says.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// They are the same, but for chance.
    Holds,
    /// More was measured than is claimed.
    Refuted,
    /// Less was measured than is claimed.
    Differs,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Holds => "holds",
            Verdict::Refuted => "refuted",
            Verdict::Differs => "differs",
        })
    }
}

/// What a paper claims, in its words and as a number for the cluster at hand.
#[derive(Clone, Debug)]
struct Claim {
    text: &'static str,
    value: f64,
    /// How far chance may take a measurement from it, as a share of it.
    chance: f64,
}

impl Claim {
    /// A claim that leaves nothing to chance.
    fn exact(text: &'static str, value: f64) -> Self {
        Self { text, value, chance: 1e-9 }
    }

    /// A claim of an average over sites in no particular order.
    fn average(text: &'static str, value: f64) -> Self {
        Self { text, value, chance: 0.05 }
    }

    fn verdict(&self, measured: f64) -> Verdict {
        let off = (measured - self.value) / self.value;
        match off {
            _ if off.abs() <= self.chance => Verdict::Holds,
            _ if off > 0.0 => Verdict::Refuted,
            _ => Verdict::Differs,
        }
    }

    /// The claim with its value: `3(N-1) = 24`.
    fn spelt(&self) -> String {
        let value = rounded(self.value).to_string();
        if self.text == value { value } else { format!("{} = {value}", self.text) }
    }
}

/// At most three places after the point.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_claimed_refutes_and_less_differs() {
        let claim = Claim::average("N", 100.0);
        let verdicts = [95.1, 104.9, 94.0, 106.0].map(|measured| claim.verdict(measured));
        assert_eq!(verdicts, [Verdict::Holds, Verdict::Holds, Verdict::Differs, Verdict::Refuted]);
        assert_eq!(Claim::exact("N", 9.0).verdict(9.001), Verdict::Refuted);
        assert_eq!(Claim::exact("log N", 2.0_f64.sqrt()).spelt(), "log N = 1.414");
        assert_eq!(Claim::exact("4", 4.0).spelt(), "4");
    }
}
