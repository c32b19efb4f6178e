//! The findings of an experiment.

use quorate_laboratory::{Diagram, Experiment, Finding, Plot, Row, Settings, Verdict};

/// An experiment with all its findings, each kind in the order found.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) experiment: Experiment,
    pub(super) rows: Vec<Row>,
    pub(super) plots: Vec<Plot>,
    pub(super) diagrams: Vec<Diagram>,
    pub(super) headlines: Vec<String>,
}

impl Outcome {
    /// Runs the experiment.
    pub(super) fn of(experiment: Experiment, settings: Settings) -> Self {
        let mut outcome = Self {
            experiment,
            rows: Vec::new(),
            plots: Vec::new(),
            diagrams: Vec::new(),
            headlines: Vec::new(),
        };
        experiment.run(settings, &mut |finding| match finding {
            Finding::Row(row) => outcome.rows.push(row),
            Finding::Plot(plot) => outcome.plots.push(plot),
            Finding::Diagram(diagram) => outcome.diagrams.push(diagram),
            Finding::Headline(text) => outcome.headlines.push(text),
        });
        outcome
    }

    /// How many rows have this verdict.
    pub(super) fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }
}

/// How many rows have each verdict, in words: `12 hold, 3 differ, none refuted`.
pub(super) fn counts(outcomes: &[Outcome]) -> String {
    let words =
        [(Verdict::Holds, "hold"), (Verdict::Differs, "differ"), (Verdict::Refuted, "refuted")];
    let words = words.map(|(verdict, word)| {
        match outcomes.iter().map(|outcome| outcome.count(verdict)).sum() {
            0_usize => format!("none {word}"),
            count => format!("{count} {word}"),
        }
    });
    words.join(", ")
}

/// All rows, each with the name of its experiment.
pub(super) fn rows(outcomes: &[Outcome]) -> impl Iterator<Item = (&str, &Row)> {
    let of = |outcome: &'_ Outcome| outcome.experiment.name;
    outcomes.iter().flat_map(move |outcome| outcome.rows.iter().map(move |row| (of(outcome), row)))
}
