//! `cargo xtask test`: everything a change must pass.

use std::env;
use std::io;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use crate::groups::{CORE, GROUPS, Group, SERVICE};
use crate::laboratory::{self, Laboratory};
use crate::report::{Outcome, Report, Work, seconds};
use crate::runs;
use crate::tidy;
use crate::torture::Torture;
use crate::workspace::{self, Workspace};

/// The text of `--help`.
pub(crate) const HELP: &str = "
The parts in order, those that fail quickly first; all run, also after a failure, so that one run
shows everything:

  formatting      cargo fmt --all --check
  tidy            cargo xtask tidy
  clippy service  cargo clippy --all-targets -- -D warnings, for the packages of the service
  clippy core     the same for the core
  service build   the service, `quorate-torture` and their tests in the profile `release`, compiled
                  but not run
  service tests   its unit and integration tests; benchmarks are left out
  torture         real sites under faults for less than a minute; docs/torture.md
  core build      the core and its tests in the profile `test`, compiled but not run
  core tests      its unit and integration tests; benchmarks are left out
  scenarios       quorate-lab sim script, over every scenarios/*/*.txt
  checks          quick exhaustive checks, two at a time: the table QUICK in xtask/src/runs.rs
  doc tests       the examples in the documentation
  documentation   cargo doc, where a warning or a broken link is an error

The service is what users install: without the feature `mutations`, so its tests start the program
that is released. The core is what is simulated and searched, with that feature; the laboratory that
its tests need also runs scenarios and checks. xtask/src/groups.rs has the packages of both.

Then comes a table with the time of each part, compiling apart from running, and their totals.
(Doc tests compile as they run; their time stands under running.) A part is skipped, with the
reason, if rustfmt or clippy is not installed, if what it runs was not
built, or if the machine has no namespaces for torture. The last line is
`all parts passed`, or `failed:` and the names. Exit 0 only if no part failed.
";

/// The targets whose tests are run; doc tests have a part of their own.
const TARGETS: &str = "--lib --bins --tests --examples";

/// Runs all parts; false if one failed.
pub(crate) fn run(workspace: &Workspace) -> bool {
    let mut report = Report::new(workspace.paint);
    read_the_code(workspace, &mut report);
    test_the_service(workspace, &mut report);
    test_the_core(workspace, &mut report);
    read_the_documentation(workspace, &mut report);
    println!("\n{}{}", report.table(), report.verdict());
    report.passed()
}

fn read_the_code(workspace: &Workspace, report: &mut Report) {
    report.part("formatting", Work::Run, || {
        if !workspace.has("fmt") {
            return Ok(missing("rustfmt"));
        }
        // Left to itself, rustfmt colours its differences for a pipe too.
        let colour = if workspace.paint.is_on() { "always" } else { "never" };
        workspace::captured(workspace.cargo(&format!("fmt --all --check -- --color {colour}")))
    });
    report.part("tidy", Work::Run, || tidy::run(workspace).map(Outcome::of));
    for group in GROUPS {
        report.part(&format!("clippy {}", group.name), Work::Compile, || {
            if !workspace.has("clippy") {
                return Ok(missing("clippy"));
            }
            let line = format!("clippy {} --all-targets -- -D warnings", group.packages());
            workspace::captured(workspace.cargo(&line))
        });
    }
}

fn test_the_service(workspace: &Workspace, report: &mut Report) {
    let mut built = None;
    report.part("service build", Work::Compile, || {
        let line = SERVICE.test(&format!("{TARGETS} --no-run"));
        built = Some(Torture::built_by(workspace, cargo, &line)?);
        Ok(Outcome::Passed)
    });
    report.part("service tests", Work::Run, || tests(workspace, &SERVICE, built.is_some()));
    report.part("torture", Work::Run, || {
        let arguments = runs::arguments(runs::TORTURE);
        built.as_ref().map_or_else(|| Ok(unbuilt()), |torture| torture.run(&arguments))
    });
}

fn test_the_core(workspace: &Workspace, report: &mut Report) {
    let mut built = None;
    report.part("core build", Work::Compile, || {
        let line = CORE.test(&format!("{TARGETS} --no-run"));
        built = Some(Laboratory::built_by(workspace, &line)?);
        Ok(Outcome::Passed)
    });
    report.part("core tests", Work::Run, || tests(workspace, &CORE, built.is_some()));
    report.part("scenarios", Work::Run, || {
        built.as_ref().map_or_else(|| Ok(unbuilt()), |laboratory| scenarios(workspace, laboratory))
    });
    report.part("checks", Work::Run, || built.as_ref().map_or_else(|| Ok(unbuilt()), checks));
}

fn read_the_documentation(workspace: &Workspace, report: &mut Report) {
    report.part("doc tests", Work::Run, || {
        let mut passed = true;
        for group in GROUPS {
            let line = group.test("--doc --no-fail-fast");
            passed &= workspace::streamed(cargo(workspace, &line))? == Outcome::Passed;
        }
        Ok(Outcome::of(passed))
    });
    report.part("documentation", Work::Compile, || {
        let mut doc = workspace.cargo("doc --workspace --no-deps");
        doc.env("RUSTDOCFLAGS", "-D warnings");
        workspace::captured(doc)
    });
}

/// Cargo, to be run with the arguments in `line`.
///
/// On a developer's machine the service is compiled incrementally, which saves most of the wait
/// after a small change. In CI it is compiled as a release is.
fn cargo(workspace: &Workspace, line: &str) -> Command {
    let mut cargo = workspace.cargo(line);
    if env::var_os("CI").is_none() {
        cargo.env("CARGO_PROFILE_RELEASE_INCREMENTAL", "true");
    }
    cargo
}

/// Runs the tests of `group`, if they were built.
fn tests(workspace: &Workspace, group: &Group, built: bool) -> io::Result<Outcome> {
    if !built {
        return Ok(unbuilt());
    }
    let line = group.test(&format!("{TARGETS} --no-fail-fast"));
    workspace::streamed(cargo(workspace, &line))
}

/// Runs every scenario; shows the name and the output of those that fail.
fn scenarios(workspace: &Workspace, laboratory: &Laboratory) -> io::Result<Outcome> {
    let files = laboratory::scenarios(&workspace.root)?;
    if files.is_empty() {
        return Ok(Outcome::Skipped("there are no scenarios yet".to_owned()));
    }
    let mut failed = 0;
    for file in &files {
        if workspace::captured(laboratory.command(&["sim", "script", file]))? != Outcome::Passed {
            println!("failed: quorate-lab sim script {file}");
            failed += 1;
        }
    }
    println!("  {} scenarios, {failed} failed", files.len());
    Ok(Outcome::of(failed == 0))
}

/// Runs the quick checks, two at a time: not every search keeps two cores busy. Shows the output of
/// those that fail.
fn checks(laboratory: &Laboratory) -> io::Result<Outcome> {
    let next = AtomicUsize::new(0);
    let work = || -> io::Result<bool> {
        let mut passed = true;
        while let Some(line) = runs::QUICK.get(next.fetch_add(1, Ordering::Relaxed)) {
            let start = Instant::now();
            let outcome = workspace::captured(laboratory.command(&runs::arguments(line)))?;
            println!("  {:>6}  quorate-lab {line}", seconds(start.elapsed()));
            passed &= outcome == Outcome::Passed;
        }
        Ok(passed)
    };
    thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        let mut passed = true;
        for worker in workers {
            passed &= worker.join().expect("a worker reports its failures")?;
        }
        Ok(Outcome::of(passed))
    })
}

fn unbuilt() -> Outcome {
    Outcome::Skipped("what it runs was not built".to_owned())
}

fn missing(tool: &str) -> Outcome {
    Outcome::Skipped(format!("{tool} is not installed; `rustup component add {tool}` adds it"))
}
