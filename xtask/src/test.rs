//! `cargo xtask test`: everything a change must pass.

use std::io;
use std::time::Instant;

use crate::quorate::{self, Quorate};
use crate::report::{Outcome, Report, Work, seconds};
use crate::runs;
use crate::shop::{self, Shop};
use crate::tidy;

/// What `--help` says.
pub(crate) const HELP: &str = "
The parts, in order; all run, also after one has failed, so that one run shows everything:

  formatting     cargo fmt --all --check
  clippy         cargo clippy --workspace --all-targets -- -D warnings
  tidy           cargo xtask tidy
  test build     the tests of the workspace, compiled but not run
  tests          unit and integration tests; benchmarks are left out
  doc tests      the examples in the documentation
  documentation  cargo doc, where a warning or a broken link is an error
  release build  the `quorate` command, for the two parts below
  scenarios      quorate sim script, over every scenarios/*/*.txt
  checks         quick exhaustive checks: the table QUICK in xtask/src/runs.rs

Then comes a table with the time of each part, compiling apart from running, and their totals.
(Doc tests compile as they run; their time stands under running.) A part is skipped, with the
reason, if rustfmt or clippy is not installed, or if what it runs does not exist yet. The last line
is `all parts passed`, or `failed:` and the names. Exit 0 only if no part failed.
";

/// The targets whose tests are run; doc tests have a part of their own.
const TARGETS: &str = "--workspace --lib --bins --tests --examples";

/// Runs all parts; false if one failed.
pub(crate) fn run(shop: &Shop) -> bool {
    let mut report = Report::new(shop.paint);
    read_the_code(shop, &mut report);
    run_the_tests(shop, &mut report);
    run_the_command(shop, &mut report);
    println!("\n{}{}", report.table(), report.verdict());
    report.passed()
}

fn read_the_code(shop: &Shop, report: &mut Report) {
    report.part("formatting", Work::Run, || {
        if !shop.has("fmt") {
            return Ok(missing("rustfmt"));
        }
        // Left to itself, rustfmt colours its differences for a pipe too.
        let colour = if shop.paint.is_on() { "always" } else { "never" };
        shop::captured(shop.cargo(&format!("fmt --all --check -- --color {colour}")))
    });
    report.part("clippy", Work::Compile, || {
        if !shop.has("clippy") {
            return Ok(missing("clippy"));
        }
        shop::captured(shop.cargo("clippy --workspace --all-targets -- -D warnings"))
    });
    report.part("tidy", Work::Run, || tidy::run(shop).map(Outcome::of));
}

fn run_the_tests(shop: &Shop, report: &mut Report) {
    let built = report.part("test build", Work::Compile, || {
        shop::streamed(shop.cargo(&format!("test {TARGETS} --no-run")))
    });
    report.part("tests", Work::Run, || {
        if built != Outcome::Passed {
            return Ok(Outcome::Skipped("they could not be built".to_owned()));
        }
        shop::streamed(shop.cargo(&format!("test {TARGETS} --no-fail-fast")))
    });
    report.part("doc tests", Work::Run, || {
        shop::streamed(shop.cargo("test --workspace --doc --no-fail-fast"))
    });
    report.part("documentation", Work::Compile, || {
        let mut doc = shop.cargo("doc --workspace --no-deps");
        doc.env("RUSTDOCFLAGS", "-D warnings");
        shop::captured(doc)
    });
}

fn run_the_command(shop: &Shop, report: &mut Report) {
    let mut built = None;
    let mut why_not = quorate::ABSENT;
    report.part("release build", Work::Compile, || {
        if !Quorate::is_there(shop) {
            return Ok(Outcome::Skipped(why_not.to_owned()));
        }
        why_not = "the command `quorate` was not built";
        built = Some(Quorate::build(shop)?);
        Ok(Outcome::Passed)
    });
    let without = || Outcome::Skipped(why_not.to_owned());
    report.part("scenarios", Work::Run, || {
        built.as_ref().map_or_else(|| Ok(without()), |quorate| scenarios(shop, quorate))
    });
    report.part("checks", Work::Run, || built.as_ref().map_or_else(|| Ok(without()), checks));
}

/// Runs every scenario; those that fail are named, and show what they said.
fn scenarios(shop: &Shop, quorate: &Quorate) -> io::Result<Outcome> {
    let files = quorate::scenarios(&shop.root)?;
    if files.is_empty() {
        return Ok(Outcome::Skipped("there are no scenarios yet".to_owned()));
    }
    let mut failed = 0;
    for file in &files {
        if shop::captured(quorate.command(&["sim", "script", file]))? != Outcome::Passed {
            println!("failed: quorate sim script {file}");
            failed += 1;
        }
    }
    println!("  {} scenarios, {failed} failed", files.len());
    Ok(Outcome::of(failed == 0))
}

/// Runs the quick checks; those that fail show what they said.
fn checks(quorate: &Quorate) -> io::Result<Outcome> {
    let mut passed = true;
    for line in runs::QUICK {
        println!("  quorate {line}");
        let start = Instant::now();
        passed &= shop::captured(quorate.command(&runs::arguments(line)))? == Outcome::Passed;
        println!("    {}", seconds(start.elapsed()));
    }
    Ok(Outcome::of(passed))
}

fn missing(tool: &str) -> Outcome {
    Outcome::Skipped(format!("{tool} is not installed; `rustup component add {tool}` adds it"))
}
