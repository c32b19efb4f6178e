//! `quorate quorum suggest`: which system to choose.

use std::fs;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use quorate_quorum::analysis::nearest_by_worst;
use quorate_quorum::{Kind, QuorumSystem, build};
use serde_json::{Value, json};

use super::figures::{Figures, fails_cell, load_text};
use super::input;
use super::suggest_pool::{self, Want};
use quorate_terminal::answer::{Answer, Failure, Verdict, print, print_lines};
use quorate_terminal::paint::Paint;
use quorate_terminal::progress::{Goal, with_progress};
use quorate_terminal::quorums::{parse_sites, parse_units, sizes_text};
use quorate_terminal::table::aligned;

const SITES_MAX: usize = 1_000;

/// Suggest a system for a number of sites, with reasons
///
/// With --k, suggest a protocol for a pool: a ledger on ordinary quorums, or (h,k)-arbiters. The
/// table has what a claim of each number of units asks, and how many sites may be down.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Suggest {
    /// How many sites
    #[arg(long, value_name = "N")]
    n: String,
    /// Suggest a protocol for a pool of K units
    #[arg(long, value_name = "K")]
    k: Option<String>,
    /// What matters most
    #[arg(long, value_enum, default_value_t = Criterion::Availability)]
    want: Criterion,
    /// The probability that a site is down
    #[arg(long, value_name = "P", default_value = "0.05")]
    p: String,
    /// A file with the delay to each site, in lines such as `delay 1: 12.5`
    #[arg(long, value_name = "FILE")]
    latency: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  quorate quorum suggest --n 12 --want availability --p 0.05
  quorate quorum suggest --n 31 --want messages
  quorate quorum suggest --n 9 --want delay --latency delays.txt
  quorate quorum suggest --n 5 --k 4    which protocol for a pool of four units

The delay of a quorum is that of its slowest site; the nearest quorum is meant.";

/// The goal that a system is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Criterion {
    /// A quorum is left as often as possible
    Availability,
    /// The busiest site has the least possible load
    Load,
    /// A claim asks as few sites as possible
    Messages,
    /// The nearest quorum answers as soon as possible; requires --latency
    Delay,
}

/// A kind with the figures that decide.
struct Candidate {
    kind: Kind,
    system: Arc<dyn QuorumSystem>,
    figures: Figures,
    delay: Option<f64>,
}

impl Suggest {
    pub(super) fn run(&self) -> Answer {
        let n = parse_sites(&self.n)?;
        if n > SITES_MAX {
            return Err(format!("--n {n}: suggestions are made for up to {SITES_MAX} sites").into());
        }
        let down = input::probability(&self.p)?;
        if let Some(units) = &self.k {
            let k = parse_units(units)?;
            return suggest_pool::suggest((n, k), down, self.want_of_pool()?, self.json);
        }
        let delays = self.latency.as_ref().map(|file| delays(file, n)).transpose()?;
        if self.want == Criterion::Delay && delays.is_none() {
            return Err("--want delay: expected --latency FILE too, with a delay for each site"
                .to_owned()
                .into());
        }
        let measure = || candidates(n, down, delays.as_deref());
        let mut ranked = with_progress(Goal::Unknown, "kinds", || 0, measure)?;
        ranked.sort_by(|a, b| self.rank(a).partial_cmp(&self.rank(b)).expect("no figure is NaN"));
        if self.json {
            print(&format!("{}\n", self.json(&ranked)))?;
        } else {
            print_lines(&self.lines(&ranked, Paint::for_stdout()))?;
        }
        Ok(Verdict::Clean)
    }

    /// What a pool is wanted for; the other criteria do not tell its protocols apart.
    fn want_of_pool(&self) -> Result<Want, Failure> {
        match (self.want, &self.latency) {
            (Criterion::Availability, None) => Ok(Want::Availability),
            (Criterion::Messages, None) => Ok(Want::Messages),
            (_, Some(_)) => {
                Err("--latency: with --k no delays are compared; leave it out".to_owned().into())
            }
            _ => Err("--want: with --k expected availability or messages".to_owned().into()),
        }
    }

    /// The sort key, smaller is better; the other measures break ties.
    ///
    /// A system that fails nearly as often as one site comes last: one site is the better choice.
    fn rank(&self, candidate: &Candidate) -> [f64; 5] {
        let [fails, load, asked, delay] = candidate.measures();
        let last = f64::from(u8::from(candidate.is_fragile()));
        match self.want {
            Criterion::Availability => [last, fails, load, asked, delay],
            Criterion::Load => [last, load, fails, asked, delay],
            Criterion::Messages => [last, asked, fails, load, delay],
            Criterion::Delay => [last, delay, fails, load, asked],
        }
    }

    fn json(&self, ranked: &[Candidate]) -> Value {
        let one = |(place, candidate): (usize, &Candidate)| {
            let mut value = candidate.figures.json();
            value["kind"] = json!(candidate.kind.name());
            value["delay"] = json!(candidate.delay);
            value["why"] = json!(self.why(place, ranked));
            value
        };
        let all: Vec<_> = ranked.iter().enumerate().map(one).collect();
        json!({ "n": ranked[0].system.n(), "ranked": all })
    }

    fn lines(&self, ranked: &[Candidate], paint: Paint) -> Vec<String> {
        let mut rows = vec![vec![String::new(); 5]];
        let heads = ["", "KIND", "SITES", "LOAD", "FAILS"];
        for (cell, head) in rows[0].iter_mut().zip(heads) {
            head.clone_into(cell);
        }
        let with_delay = ranked.iter().any(|candidate| candidate.delay.is_some());
        rows[0].extend(with_delay.then(|| "DELAY".to_owned()));
        rows[0].push("WHY".to_owned());
        for (place, candidate) in ranked.iter().enumerate() {
            let figures = &candidate.figures;
            let mut row = vec![
                (place + 1).to_string(),
                candidate.kind.name().to_owned(),
                sizes_text(figures.sizes),
                load_text(&figures.load),
                fails_cell(figures.fails[0].1),
            ];
            row.extend(candidate.delay.map(|delay| delay.to_string()));
            row.push(self.why(place, ranked));
            rows.push(row);
        }
        let n = ranked[0].system.n();
        let what = match self.want {
            Criterion::Availability => "a live quorum as often as possible",
            Criterion::Load => "little to do for the busiest site",
            Criterion::Messages => "few sites to ask",
            Criterion::Delay => "a near quorum",
        };
        let title = format!("{n} sites, each down {} of the time: {what}", self.p);
        let mut lines = vec![paint.strong(&title), String::new()];
        lines.extend(aligned(&rows));
        let first = &ranked[0];
        lines.extend([String::new(), format!("{}: {}.", first.kind, first.kind.description())]);
        lines.push(paint.faint(&format!("More: quorate quorum measure {} {n}", first.kind)));
        lines
    }

    /// The reasons for the first candidate, or for another one instead of it.
    fn why(&self, place: usize, ranked: &[Candidate]) -> String {
        let (best, mine) = (ranked[0].measures(), ranked[place].measures());
        let words = ["fails less often", "less load", "fewer sites to ask", "nearer"];
        let better = |at: &usize| mine[*at] < best[*at] * 0.99;
        let mut parts = match (place, self.want) {
            (0, Criterion::Availability) => vec!["leaves a quorum most often"],
            (0, Criterion::Load) => vec!["spreads the work best"],
            (0, Criterion::Messages) => vec!["asks the fewest sites"],
            (0, Criterion::Delay) => vec!["answers soonest"],
            _ if ranked[place].is_fragile() => vec!["hardly better than one site alone"],
            _ => (0..words.len()).filter(better).map(|at| words[at]).collect(),
        };
        if parts.is_empty() {
            parts.push("no better in anything");
        }
        let reasons = parts.join(", ");
        match &ranked[place].figures.resilience {
            Ok(survived) => format!("{reasons}; survives any {survived}"),
            Err(_) => reasons,
        }
    }
}

impl Candidate {
    /// Whether it fails at least a quarter as often as a site.
    fn is_fragile(&self) -> bool {
        let (down, fails) = self.figures.fails[0];
        fails.about() > down / 4.0
    }

    /// Failures, load, sites asked, delay.
    fn measures(&self) -> [f64; 4] {
        let figures = &self.figures;
        let delay = self.delay.unwrap_or_default();
        [figures.fails[0].1.about(), figures.load.upper, figures.asked, delay]
    }
}

fn candidates(n: usize, down: f64, delays: Option<&[f64]>) -> Result<Vec<Candidate>, Failure> {
    let mut all = Vec::new();
    for kind in Kind::all() {
        // Skip kinds that cannot have so many sites.
        let Ok(system) = build(*kind, n) else { continue };
        let figures = Figures::quick(*kind, &*system, &[down]).map_err(Failure::of)?;
        let delay = delays.map(|delays| nearest_by_worst(&*system, delays)).transpose();
        let delay = delay.map_err(Failure::of)?.map(|(_, delay)| delay);
        all.push(Candidate { kind: *kind, system, figures, delay });
    }
    Ok(all)
}

/// Reads the delay to each of `n` sites.
fn delays(file: &str, n: usize) -> Result<Vec<f64>, Failure> {
    let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let mut delays: Vec<Option<f64>> = vec![None; n];
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let wrong = |what: &str| Failure::Input(format!("{file}:{number}: {what}, found `{line}`"));
        let parts = line.strip_prefix("delay ").and_then(|rest| rest.split_once(':'));
        let (site, delay) = parts.ok_or_else(|| wrong("expected `delay S: NUMBER`"))?;
        let site = site.trim().parse::<usize>().ok().filter(|site| (1..=n).contains(site));
        let site = site.ok_or_else(|| wrong(&format!("expected a site from 1 to {n}")))?;
        let delay = delay.trim().parse::<f64>().ok().filter(|it| it.is_finite() && *it >= 0.0);
        let delay = delay.ok_or_else(|| wrong("expected a delay that is not negative"))?;
        if delays[site - 1].replace(delay).is_some() {
            return Err(wrong("a site has one delay"));
        }
    }
    let missing = delays.iter().position(Option::is_none);
    match missing {
        Some(at) => Err(format!("{file}: site {} has no delay; add `delay {0}: …`", at + 1).into()),
        None => Ok(delays.into_iter().flatten().collect()),
    }
}
