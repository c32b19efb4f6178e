//! The report: a page with timelines and tables, and a summary as text.

mod page;
mod timeline;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

pub(crate) use self::page::page;

use crate::clock::Time;
use crate::judge::Judgement;
use crate::options::Options;

/// How many violations are listed; the others are counted.
const LISTED: usize = 50;

/// The command that repeats a run.
fn command(options: &Options) -> String {
    format!("cargo xtask torture {}", options.arguments().join(" "))
}

/// Seconds since the beginning of the run.
fn since(judgement: &Judgement, at: Time) -> f64 {
    Duration::from_nanos(at.saturating_sub(judgement.from)).as_secs_f64()
}

/// How many violations each rule has.
fn by_rule(judgement: &Judgement) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for violation in &judgement.violations {
        *counts.entry(violation.rule).or_default() += 1;
    }
    counts
}

/// The names of all locks.
fn names(judgement: &Judgement) -> Vec<&str> {
    let mut names: Vec<&str> = judgement.grants.iter().map(|grant| grant.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The summary.
pub(crate) fn text(judgement: &Judgement, options: &Options, missing: &[String]) -> String {
    let lost = judgement.grants.iter().filter(|grant| grant.lost).count();
    let mut text = format!(
        "{}\n{} grants ({lost} lost), {} denied, {} writes ({} refused), {} faults, {:.0} s\n",
        command(options),
        judgement.grants.len(),
        judgement.denied,
        judgement.writes,
        judgement.refused,
        judgement.faults.len(),
        since(judgement, judgement.until)
    );
    let mut line = |line: String| {
        text += &line;
        text.push('\n');
    };
    for what in missing {
        line(format!("missing: {what}"));
    }
    line(String::new());
    line(gaps(judgement));
    for violation in judgement.violations.iter().take(LISTED) {
        let at = since(judgement, violation.at);
        line(format!("{at:9.3} s  {}: {}", violation.rule, violation.text));
    }
    for note in &judgement.notes {
        line(format!("note: {note}"));
    }
    if judgement.violations.is_empty() {
        line("no violation".into());
    } else {
        let counts = by_rule(judgement).into_iter();
        let counts: Vec<String> = counts.map(|(rule, count)| format!("{rule} {count}")).collect();
        line(format!("violations: {}", counts.join(", ")));
    }
    text
}

/// The table of gaps, in leases.
fn gaps(judgement: &Judgement) -> String {
    let names = names(judgement);
    let mut text = format!("{:<14} {:>5} {:>6}", "longest gap", "times", "leases");
    for name in &names {
        write!(text, " {name:>10}").expect("a string takes all");
    }
    text.push('\n');
    for row in &judgement.gaps {
        write!(text, "{:<14} {:>5} {:>6.1}", row.fault, row.times, row.length)
            .expect("a string takes all");
        for name in &names {
            let cell = row.cells.get(*name).cloned().unwrap_or_default();
            write!(text, " {:>10.2}", cell.gap).expect("a string takes all");
        }
        text.push('\n');
    }
    text
}
