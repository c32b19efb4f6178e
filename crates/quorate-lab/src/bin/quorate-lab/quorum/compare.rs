//! `quorate quorum compare`: kinds beside each other, over numbers of sites.

use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use quorate_quorum::{Kind, build};
use serde_json::{Value, json};

use super::figures::{Figures, fails_cell};
use super::{input, page};
use crate::output_file::OutputFile;
use quorate_terminal::answer::{Answer, Failure, Verdict, print, print_lines};
use quorate_terminal::paint::Paint;
use quorate_terminal::progress::{Goal, with_progress};
use quorate_terminal::quorums::sizes_text;
use quorate_terminal::table::aligned;

const SITES_MAX: usize = 1_000;
/// How many numbers of sites fit on a screen, and on a curve.
const COLUMNS: usize = 9;
const POINTS: usize = 24;

/// Compare kinds: how many sites a claim asks, their load, and how often no quorum is left
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Compare {
    /// The kinds to compare [default: all]
    kinds: Vec<String>,
    /// Numbers of sites: a range, or a comma-separated list
    #[arg(long, value_name = "N..M", default_value = "9..100")]
    n: String,
    /// The probability that a site is down, or a comma-separated list of them
    #[arg(long, value_name = "P,...", default_value = "0.01,0.1")]
    p: String,
    /// Write a page with curves to this file
    #[arg(long, value_name = "FILE")]
    html: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  quorate quorum compare
  quorate quorum compare majority tree plane --n 7,13,31 --p 0.05
  quorate quorum compare --n 9..100 --html quorums.html

A long range is thinned out to the numbers that fit on a screen or a curve.";

/// A kind, and its figures for each number of sites; `None` where it cannot be built.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) kind: Kind,
    pub(super) points: Vec<(usize, Option<Figures>)>,
}

/// A comparison.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) lines: Vec<Line>,
    pub(super) sites: Vec<usize>,
    pub(super) down: Vec<f64>,
}

impl Compare {
    pub(super) fn run(&self) -> Answer {
        let kinds = input::kinds(&self.kinds)?;
        let all = input::many_sites(&self.n)?;
        if let Some(n) = all.iter().find(|n| **n > SITES_MAX) {
            return Err(format!(
                "--n {n}: kinds are compared up to {SITES_MAX} sites; `quorum measure` goes on"
            )
            .into());
        }
        let down = input::probabilities(&self.p)?;
        let output = self.html.as_deref().map(OutputFile::new).transpose()?;
        let points = if self.html.is_some() || self.json { POINTS } else { COLUMNS };
        let comparison = Comparison::of(&kinds, input::thinned(&all, points), down)?;
        if let Some(output) = &output {
            output.write(&page::page(&comparison, &self.command()))?;
        }
        if self.json {
            print(&format!("{}\n", comparison.json()))?;
        } else {
            let mut lines = comparison.tables(Paint::for_stdout());
            if let Some(file) = &self.html {
                lines.push(format!("The curves are in {file}."));
            }
            print_lines(&lines)?;
        }
        Ok(Verdict::Clean)
    }

    /// The command that reproduces this.
    fn command(&self) -> String {
        let kinds = self.kinds.join(" ");
        let gap = if kinds.is_empty() { "" } else { " " };
        format!("quorate quorum compare{gap}{kinds} --n {} --p {}", self.n, self.p)
    }
}

impl Comparison {
    fn of(kinds: &[Kind], sites: Vec<usize>, down: Vec<f64>) -> Result<Self, Failure> {
        let done = AtomicU64::new(0);
        let systems = (kinds.len() * sites.len()) as u64;
        let point = |kind: Kind, n: usize| {
            let system = build(kind, n).ok();
            let figures = system.map(|system| Figures::quick(kind, &*system, &down)).transpose();
            done.fetch_add(1, Ordering::Relaxed);
            Ok((n, figures.map_err(Failure::of)?))
        };
        let line = |kind: &Kind| {
            let points = sites.iter().map(|n| point(*kind, *n)).collect::<Result<_, Failure>>()?;
            Ok(Line { kind: *kind, points })
        };
        let work = || kinds.iter().map(line).collect::<Result<_, Failure>>();
        let lines =
            with_progress(Goal::Of(systems), "systems", || done.load(Ordering::Relaxed), work)?;
        Ok(Self { lines, sites, down })
    }

    fn json(&self) -> Value {
        let point = |(n, figures): &(usize, Option<Figures>)| {
            let mut value = figures.as_ref().map_or(json!({}), Figures::json);
            value["n"] = json!(n);
            value
        };
        let line = |line: &Line| {
            json!({
                "kind": line.kind.to_string(),
                "points": line.points.iter().map(point).collect::<Vec<_>>(),
            })
        };
        json!({ "p": self.down, "kinds": self.lines.iter().map(line).collect::<Vec<_>>() })
    }

    fn tables(&self, paint: Paint) -> Vec<String> {
        let mut lines = self.table(paint, "sites in a quorum", |figures| sizes_cell(figures.sizes));
        lines.extend(self.table(
            paint,
            "load: the busiest site's share of all accesses",
            |figures| format!("{:.3}", figures.load.upper),
        ));
        for (place, p) in self.down.iter().enumerate() {
            let title = format!("how often no quorum is left, with each site down {p} of the time");
            lines.extend(self.table(paint, &title, |figures| fails_cell(figures.fails[place].1)));
        }
        let sampled = |figures: &Figures| {
            let cells = figures.fails.iter().map(|(_, fails)| fails_cell(*fails));
            cells.into_iter().any(|cell| cell.starts_with('~'))
        };
        let mut all = self.lines.iter().flat_map(|line| &line.points);
        if all.any(|(_, figures)| figures.as_ref().is_some_and(sampled)) {
            lines.push(paint.faint("~ sampled: --json tells the interval"));
        }
        lines
    }

    fn table(&self, paint: Paint, title: &str, cell: impl Fn(&Figures) -> String) -> Vec<String> {
        let shown = input::thinned(&self.sites, COLUMNS);
        let mut rows = vec![vec!["N".to_owned()]];
        rows[0].extend(shown.iter().map(ToString::to_string));
        for line in &self.lines {
            let mut row = vec![line.kind.to_string()];
            let points = line.points.iter().filter(|(n, _)| shown.contains(n));
            row.extend(points.map(|(_, figures)| figures.as_ref().map_or("-".into(), &cell)));
            rows.push(row);
        }
        let mut lines = vec![paint.strong(title)];
        lines.extend(aligned(&rows));
        lines.push(String::new());
        lines
    }
}

/// `3`, or `3-6` in a narrow column.
fn sizes_cell(sizes: (usize, usize)) -> String {
    sizes_text(sizes).replace(" to ", "-")
}
