//! `cargo xtask deep`: checks and runs that take too long for every change.

use crate::laboratory::Laboratory;
use crate::report::{Outcome, Report, Work};
use crate::runs;
use crate::torture::Torture;
use crate::workspace::{self, Workspace};

/// The text of `--help`.
pub(crate) const HELP: &str = "
Builds `quorate-lab` for release and runs the long exhaustive checks and the long random runs with
it, one after the other: the table DEEP in xtask/src/runs.rs. Each is named before it starts, prints
as it goes, and is timed. Then real sites are tortured: the table DEEP_TORTURE. All run,
also after a failure. Exit 0 only if all passed.
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
    torture(workspace, &mut report);
    println!("\n{}{}", report.table(), report.verdict());
    report.passed()
}

/// Tortures real sites, and checks that the judge finds what it must find.
fn torture(workspace: &Workspace, report: &mut Report) {
    let mut built = None;
    report.part("torture build", Work::Compile, || {
        built = Some(Torture::build(workspace)?);
        Ok(Outcome::Passed)
    });
    let Some(torture) = built else { return };
    for line in runs::DEEP_TORTURE {
        let arguments = runs::arguments(line);
        report.part(&format!("torture {line}"), Work::Run, || torture.run(&arguments));
    }
    let arguments = runs::arguments(runs::CONTROL);
    report.part("torture: positive control", Work::Run, || torture.control(&arguments));
}
