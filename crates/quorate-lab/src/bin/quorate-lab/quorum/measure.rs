//! `quorate quorum measure`: all figures of one system.

use std::sync::atomic::{AtomicU64, Ordering};

use clap::Args;
use quorate_quorum::analysis::{Dominated, WeakSpots, domination, importance, weak_spots};
use quorate_quorum::{Kind, QuorumError, QuorumSystem, SiteId, SiteSet, build};
use serde_json::{Value, json};

use super::draw::drawn;
use super::figures::{Figures, fails_text, load_text, proof_text};
use super::{input, pool};
use quorate_terminal::answer::{Answer, Failure, Verdict, print, print_lines};
use quorate_terminal::facts::{Facts, first_sets, three_digits};
use quorate_terminal::figures::grouped;
use quorate_terminal::paint::Paint;
use quorate_terminal::progress::{Goal, with_progress};
use quorate_terminal::quorums::{self, SITES_MEASURED, SITES_SHOWN, numbers, sizes_text};

/// A better system with more quorums than this is not listed.
const QUORUMS_SHOWN: usize = 16;

/// Measure a system: its quorums, the failures it survives, its load and availability
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Measure {
    /// Which kind; see `quorate quorum list`
    kind: String,
    /// How many sites
    #[arg(value_name = "N")]
    sites: String,
    /// The quorums for 1 to K units of a pool instead of those of a lock
    #[arg(long, value_name = "K")]
    k: Option<String>,
    /// The probability that a site is down, or a comma-separated list of them
    #[arg(long, value_name = "P,...", default_value = "0.01,0.1")]
    p: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  quorate quorum measure grid 9
  quorate quorum measure tree 15 --p 0.05
  quorate quorum measure improved 9 --k 3    the quorums for 1, 2 and 3 of 3 units";

impl Measure {
    pub(super) fn run(&self) -> Answer {
        let n = quorums::parse_sites(&self.sites)?;
        let down = input::probabilities(&self.p)?;
        if let Some(units) = &self.k {
            return pool::show(&self.kind, n, units, &down, self.json);
        }
        let kind: Kind = self.kind.parse().map_err(Failure::of)?;
        let system = build(kind, n).map_err(Failure::of)?;
        if n > SITES_MEASURED {
            return self.sizes_only(&*system);
        }
        let measured = Measured::of(&*system, &down)?;
        if self.json {
            print(&format!("{}\n", measured.json(&*system)))?;
        } else {
            let paint = Paint::for_stdout();
            let mut lines = vec![paint.strong(&system.name())];
            lines.extend(picture(&*system, paint));
            lines.extend(measured.lines(&*system, paint));
            print_lines(&lines)?;
        }
        Ok(Verdict::Clean)
    }

    fn sizes_only(&self, system: &dyn QuorumSystem) -> Answer {
        let sizes = (system.min_size(), system.max_size());
        if self.json {
            let sizes = [sizes.0, sizes.1];
            print(&format!(
                "{}\n",
                json!({"name": system.name(), "n": system.n(), "sizes": sizes})
            ))?;
        } else {
            print_lines(&[
                format!("{}: quorums of {}", system.name(), sizes_text(sizes)),
                format!(
                    "The other figures are computed for up to {} sites.",
                    grouped(SITES_MEASURED as u64)
                ),
            ])?;
        }
        Ok(Verdict::Clean)
    }
}

/// The system with the quorum of its first site marked.
fn picture(system: &dyn QuorumSystem, paint: Paint) -> Vec<String> {
    let all = SiteSet::full(system.n());
    let first = SiteId::all(system.n()).find_map(|site| Some((site, system.pick_for(site, &all)?)));
    match first {
        Some((site, quorum)) if system.n() <= SITES_SHOWN => {
            let mut lines = vec![String::new()];
            lines.extend(drawn(&system.shape(), &quorum, paint));
            lines.extend([paint.faint(&format!("  [ ] the quorum of site {site}")), String::new()]);
            lines
        }
        _ => vec![String::new()],
    }
}

/// All measurements of a system.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) figures: Figures,
    /// How many quorums there are; `None` if they are too many to count.
    quorums: Option<usize>,
    pub(super) dominated: Result<Option<Dominated>, QuorumError>,
    weak: WeakSpots,
    /// The probability of being down that importance is computed for, and each site's importance.
    importance: (f64, Result<Vec<f64>, QuorumError>),
}

impl Measured {
    /// Measures `system`, with a progress bar if it takes long.
    pub(super) fn of(system: &dyn QuorumSystem, down: &[f64]) -> Result<Self, Failure> {
        let done = AtomicU64::new(0);
        let step = || done.fetch_add(1, Ordering::Relaxed);
        let worst = down.iter().copied().fold(0.0, f64::max);
        let measured = || {
            let figures = Figures::exact(system, down)?;
            step();
            let dominated = domination(system);
            step();
            let weak = weak_spots(system);
            step();
            let importance = importance(system, &vec![1.0 - worst; system.n()]);
            step();
            let quorums = quorums::count(system);
            Ok(Self { figures, quorums, dominated, weak, importance: (worst, importance) })
        };
        with_progress(Goal::Of(4), "questions", || done.load(Ordering::Relaxed), measured)
            .map_err(|error: QuorumError| Failure::of(error))
    }

    pub(super) fn json(&self, system: &dyn QuorumSystem) -> Value {
        let sites = |sites: &[SiteId]| sites.iter().map(|s| s.index() + 1).collect::<Vec<_>>();
        let own = quorums::own_quorums(system);
        let own: Vec<_> = own.iter().map(|quorum| quorum.as_ref().map(numbers)).collect();
        let strategy = self
            .figures
            .load
            .strategy
            .iter()
            .map(|choice| json!({"quorum": numbers(&choice.quorum), "often": choice.often}));
        let dominated = self.dominated.as_ref().ok();
        let better = dominated.and_then(|found| found.as_ref()?.better.as_ref());
        let witness = dominated.and_then(|found| found.as_ref()?.witness.as_ref());
        let mut value = self.figures.json();
        let more = json!({
            "name": system.name(),
            "n": system.n(),
            "quorums": self.quorums,
            "own": own,
            "strategy": strategy.collect::<Vec<_>>(),
            "weights": self.figures.load.weights,
            "dominated": dominated.map(Option::is_some),
            "witness": witness.map(numbers),
            "better": better.map(|sets| sets.iter().map(numbers).collect::<Vec<_>>()),
            "vetoers": sites(&self.weak.vetoers),
            "idle": sites(&self.weak.idle),
            "importance": self.importance.1.as_ref().ok(),
        });
        for (key, part) in more.as_object().expect("an object was written") {
            value[key] = part.clone();
        }
        value
    }

    pub(super) fn lines(&self, system: &dyn QuorumSystem, paint: Paint) -> Vec<String> {
        let mut facts = Facts::new(paint);
        quorums::add_quorums(system, self.quorums, &mut facts);
        quorums::add_resilience(&self.figures.resilience, &mut facts);
        let load = &self.figures.load;
        let busy = format!("{} of all accesses reach the busiest site", load_text(load));
        facts.add("load", &format!("{busy} ({})", proof_text(load.proof)));
        for (p, fails) in &self.figures.fails {
            let text = fails_text(*fails);
            let how = if text.contains("..") { " (sampled, 95 % interval)" } else { "" };
            facts.add("fails", &format!("{text} with each site down {p} of the time{how}"));
        }
        self.domination(&mut facts);
        self.weak_spots(&mut facts);
        quorums::add_asked_quorums(system, &mut facts);
        facts.into_lines()
    }

    fn domination(&self, facts: &mut Facts) {
        match &self.dominated {
            Ok(None) => {
                facts.add("dominated", "no: no other system has a live quorum whenever it has");
            }
            Ok(Some(found)) => {
                let witness = found.witness.as_ref();
                let could = witness.map_or(String::new(), |witness| {
                    format!(": {witness} meets every quorum and could be one too")
                });
                facts.add("dominated", &format!("yes{could}"));
                if let Some(better) = &found.better {
                    let count = better.len();
                    facts.add(
                        "better",
                        &format!("{count} quorums: {}", first_sets(better, QUORUMS_SHOWN)),
                    );
                }
            }
            Err(error) => facts.add("dominated", &format!("not known: {error}")),
        }
    }

    fn weak_spots(&self, facts: &mut Facts) {
        let WeakSpots { vetoers, idle } = &self.weak;
        if !vetoers.is_empty() {
            let text = format!("{}: in every quorum, nothing goes without", names(vetoers));
            facts.add("vetoes", &text);
        }
        if !idle.is_empty() {
            facts.add("idle", &format!("{}: in no quorum, of no use", names(idle)));
        }
        let (p, Ok(importance)) = &self.importance else { return };
        let most = importance.iter().copied().fold(0.0, f64::max);
        let least = importance.iter().copied().fold(f64::INFINITY, f64::min);
        let at = |value: f64| {
            let sites = SiteId::all(importance.len()).zip(importance);
            let near = sites.filter(|(_, it)| (*it - value).abs() <= 1e-9);
            names(&near.map(|(site, _)| site).collect::<Vec<_>>())
        };
        let text = if most - least <= 1e-9 {
            format!("all sites alike, {} each", three_digits(most))
        } else {
            format!(
                "most {} ({}), least {} ({})",
                at(most),
                three_digits(most),
                at(least),
                three_digits(least)
            )
        };
        facts.add("matters", &format!("{text}: what a site's return is worth at p = {p}"));
    }
}

/// `site 3`, `sites 1 4 to 9`.
fn names(sites: &[SiteId]) -> String {
    let runs = sites.chunk_by(|a, b| a.index() + 1 == b.index()).map(|run| match run {
        [first, _, .., last] => format!("{first} to {last}"),
        few => few.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    });
    let plural = if sites.len() == 1 { "" } else { "s" };
    format!("site{plural} {}", runs.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_in_a_row_are_named_by_the_ends() {
        let named = |sites: &[usize]| {
            names(&sites.iter().map(|site| SiteId::new(site - 1)).collect::<Vec<_>>())
        };
        assert_eq!(named(&[3]), "site 3");
        assert_eq!(named(&[1, 2, 4, 5, 6, 7]), "sites 1 2 4 to 7");
    }
}
