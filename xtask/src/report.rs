//! The outcome and duration of each part of a run.

use std::io;
use std::time::{Duration, Instant};

use crate::paint::Paint;

/// How a part ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    Failed,
    /// It was not run, for this reason.
    Skipped(String),
}

impl Outcome {
    /// Passed or failed.
    pub(crate) fn of(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }

    fn painted(&self, paint: Paint) -> String {
        match self {
            Self::Passed => paint.green("passed"),
            Self::Failed => paint.red("failed"),
            Self::Skipped(why) => paint.dim(&format!("skipped: {why}")),
        }
    }
}

/// The kind of work of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Compiling, or checking as a compiler does.
    Compile,
    /// Anything else.
    Run,
}

/// One line of the table.
#[derive(Debug)]
struct Part {
    name: String,
    work: Work,
    took: Duration,
    outcome: Outcome,
}

/// The parts so far.
#[derive(Debug)]
pub(crate) struct Report {
    parts: Vec<Part>,
    paint: Paint,
}

impl Report {
    /// An empty report.
    pub(crate) fn new(paint: Paint) -> Self {
        Self { parts: Vec::new(), paint }
    }

    /// Prints the name of a part, runs it, and records its outcome and duration.
    ///
    /// An error is a failed part: the others still run.
    pub(crate) fn part(
        &mut self,
        name: &str,
        work: Work,
        body: impl FnOnce() -> io::Result<Outcome>,
    ) -> Outcome {
        println!("{}", self.paint.bold(name));
        let start = Instant::now();
        let outcome = body().unwrap_or_else(|error| {
            println!("{error}");
            Outcome::Failed
        });
        let took = start.elapsed();
        let skipped = matches!(outcome, Outcome::Skipped(_));
        let time = if skipped { String::new() } else { format!(" {}", seconds(took)) };
        println!("  {}{}", outcome.painted(self.paint), self.paint.dim(&time));
        self.parts.push(Part { name: name.to_owned(), work, took, outcome: outcome.clone() });
        outcome
    }

    /// Whether no part failed.
    pub(crate) fn passed(&self) -> bool {
        self.parts.iter().all(|part| part.outcome != Outcome::Failed)
    }

    /// A line for each part, with the time spent compiling and running.
    pub(crate) fn table(&self) -> String {
        let width = self.parts.iter().map(|part| part.name.len()).max().unwrap_or(0).max(5);
        let row = |name: &str, compile: &str, run: &str, result: &str| {
            format!("{name:<width$}  {compile:>9}  {run:>9}  {result}").trim_end().to_owned() + "\n"
        };
        let mut text = row("part", "compiling", "running", "result");
        for part in &self.parts {
            let skipped = matches!(part.outcome, Outcome::Skipped(_));
            let took = if skipped { String::new() } else { seconds(part.took) };
            let result = part.outcome.painted(self.paint);
            text += &match part.work {
                Work::Compile => row(&part.name, &took, "", &result),
                Work::Run => row(&part.name, "", &took, &result),
            };
        }
        let total = |work| seconds(self.total(work));
        text + &row("total", &total(Work::Compile), &total(Work::Run), "")
    }

    /// The last line: `all parts passed`, or which failed; and which were skipped.
    pub(crate) fn verdict(&self) -> String {
        let failed = self.names(|outcome| *outcome == Outcome::Failed);
        let skipped = self.names(|outcome| matches!(outcome, Outcome::Skipped(_)));
        let mut text = if failed.is_empty() {
            self.paint.green("all parts passed")
        } else {
            self.paint.red(&format!("failed: {failed}"))
        };
        if !skipped.is_empty() {
            text += &self.paint.dim(&format!("; skipped: {skipped}"));
        }
        text
    }

    fn names(&self, which: impl Fn(&Outcome) -> bool) -> String {
        let chosen = self.parts.iter().filter(|part| which(&part.outcome));
        chosen.map(|part| part.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn total(&self, work: Work) -> Duration {
        self.parts.iter().filter(|part| part.work == work).map(|part| part.took).sum()
    }
}

/// A duration as text: `3.2s`, or minutes from two minutes on.
pub(crate) fn seconds(took: Duration) -> String {
    let whole = took.as_secs();
    if whole < 120 {
        format!("{:.1}s", took.as_secs_f64())
    } else {
        format!("{}m {:02}s", whole / 60, whole % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(parts: &[(&str, Work, u64, Outcome)]) -> Report {
        let mut report = Report::new(Paint::plain());
        for (name, work, secs, outcome) in parts.iter().cloned() {
            let took = Duration::from_secs(secs);
            report.parts.push(Part { name: name.to_owned(), work, took, outcome });
        }
        report
    }

    #[test]
    fn the_table_parts_compiling_from_running() {
        let report = report(&[
            ("clippy", Work::Compile, 4, Outcome::Passed),
            ("tests", Work::Run, 130, Outcome::Failed),
            ("checks", Work::Run, 0, Outcome::Skipped("no binary".to_owned())),
        ]);
        let table = "\
part    compiling    running  result
clippy       4.0s             passed
tests                 2m 10s  failed
checks                        skipped: no binary
total        4.0s     2m 10s
";
        assert_eq!(report.table(), table);
        assert_eq!(report.verdict(), "failed: tests; skipped: checks");
        assert!(!report.passed());
    }

    #[test]
    fn a_clean_run_says_so() {
        let report = report(&[("tidy", Work::Run, 1, Outcome::Passed)]);
        assert_eq!(report.verdict(), "all parts passed");
        assert!(report.passed());
    }

    #[test]
    fn an_error_fails_its_part_and_no_other() {
        let mut report = Report::new(Paint::plain());
        report.part("first", Work::Run, || Err(io::Error::other("no such tool")));
        report.part("second", Work::Run, || Ok(Outcome::Passed));
        assert_eq!(report.verdict(), "failed: first");
    }
}
