//! What came of an experiment.

use quorate_lab::{Experiment, Finding, Plot, Row, Settings};

/// An experiment with all its findings, each kind in the order found.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) experiment: Experiment,
    pub(super) rows: Vec<Row>,
    pub(super) plots: Vec<Plot>,
}

impl Outcome {
    /// Makes the experiment.
    pub(super) fn of(experiment: Experiment, settings: Settings) -> Self {
        let mut outcome = Self { experiment, rows: Vec::new(), plots: Vec::new() };
        experiment.run(settings, &mut |finding| match finding {
            Finding::Row(row) => outcome.rows.push(row),
            Finding::Plot(plot) => outcome.plots.push(plot),
        });
        outcome
    }
}
