//! `cargo xtask deep`: checks and runs that take too long for every change.

use crate::laboratory::Laboratory;
use crate::report::{Outcome, Report, Work};
use crate::runs;
use crate::workspace::{self, Workspace};

/// The text of `--help`.
pub(crate) const HELP: &str = "
Builds `quorate-lab` for release and runs the long exhaustive checks and the long random runs with
it, one after the other: the table DEEP in xtask/src/runs.rs. Each is named before it starts, prints
as it goes, and is timed. All run, also after a failure. Exit 0 only if all passed.
";

/// Runs the whole table; false if a run failed.
pub(crate) fn run(workspace: &Workspace) -> bool {
    let mut report = Report::new(workspace.paint);
    let mut built = None;
    report.part("release build", Work::Compile, || {
        built = Some(Laboratory::build(workspace)?);
        Ok(Outcome::Passed)
    });
    if let Some(laboratory) = built {
        for line in runs::DEEP {
            report.part(&format!("quorate {line}"), Work::Run, || {
                workspace::streamed(laboratory.command(&runs::arguments(line)))
            });
        }
    }
    println!("\n{}{}", report.table(), report.verdict());
    report.passed()
}
