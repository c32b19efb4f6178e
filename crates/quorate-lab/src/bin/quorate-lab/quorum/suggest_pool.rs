//! `quorate quorum suggest --k`: which protocol to choose for a pool, and on which quorums.

use std::sync::Arc;

use quorate_quorum::analysis::{Draws, Failure as Fails, failure, sampled_failure};
use quorate_quorum::{ArbiterKind, Kind, QuorumError, QuorumSystem, build};
use serde_json::{Value, json};

use super::figures::{FEW_SAMPLES, SITES_EXACT, asked, fails_cell, fails_json};
use quorate_terminal::answer::{Answer, Failure, Verdict, print, print_lines};
use quorate_terminal::paint::Paint;
use quorate_terminal::progress::{Goal, with_progress};
use quorate_terminal::quorums::sizes_text;
use quorate_terminal::table::aligned;

const SITES_MAX: usize = 100;

/// Messages for a grant to each other site of the quorum, if nobody else asks.
const LEDGER_MESSAGES: f64 = 4.0;
const ARBITER_MESSAGES: f64 = 3.0;

/// What a pool is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// A quorum is left as often as possible.
    Availability,
    /// A claim costs as few messages as possible.
    Messages,
}

/// A pool of a protocol, on some quorums.
struct Pool {
    protocol: &'static str,
    quorums: &'static str,
    /// The figures for 1, 2, … units.
    of: Vec<Figures>,
}

/// What a claim of so many units asks and bears.
#[derive(Clone)]
struct Figures {
    sizes: (usize, usize),
    /// How many sites may be down, whichever they are.
    bears: Option<usize>,
    messages: f64,
    fails: Fails,
}

/// Suggests a protocol and quorums for a pool of `k` units on `n` sites, each down `down` of the
/// time.
pub(super) fn suggest((n, k): (usize, usize), down: f64, want: Want, as_json: bool) -> Answer {
    if n > SITES_MAX {
        let text = format!("--n {n}: pools are suggested for up to {SITES_MAX} sites");
        return Err(text.into());
    }
    ArbiterKind::Uniform.build(n, k).map_err(Failure::of)?;
    let measure =
        || Ok([best(ledgers(n, k, down)?, want, down), best(arbiters(n, k, down)?, want, down)]);
    let pools = with_progress(Goal::Unknown, "kinds", || 0, measure);
    let pools = pools.map_err(|error: QuorumError| Failure::of(error))?;
    let take = usize::from(pools[1].rank(want, down) < pools[0].rank(want, down));
    if as_json {
        let all: Vec<_> = pools.iter().map(|pool| pool.json(down)).collect();
        print(&format!(
            "{}\n",
            json!({"n": n, "k": k, "take": pools[take].protocol, "pools": all})
        ))?;
    } else {
        print_lines(&lines((n, k), &pools, take, down, Paint::for_stdout()))?;
    }
    Ok(Verdict::Clean)
}

fn ledgers(n: usize, k: usize, down: f64) -> Result<Vec<Pool>, QuorumError> {
    let mut pools = Vec::new();
    for kind in Kind::all() {
        let Ok(system) = build(*kind, n) else { continue };
        let figures = Figures::of(&*system, down, LEDGER_MESSAGES)?;
        pools.push(Pool { protocol: "ledger", quorums: kind.name(), of: vec![figures; k] });
    }
    Ok(pools)
}

fn arbiters(n: usize, k: usize, down: f64) -> Result<Vec<Pool>, QuorumError> {
    let mut pools = Vec::new();
    for kind in ArbiterKind::all() {
        let Ok(arbiters) = kind.build(n, k) else { continue };
        // Some families fold to one site that decides alone.
        if n > 1 && arbiters.of(1)?.max_size() == 1 {
            continue;
        }
        let mut of: Vec<Figures> = Vec::new();
        let mut last: Option<&Arc<dyn QuorumSystem>> = None;
        for h in 1..=k {
            let system = arbiters.of(h)?;
            // Equal quorums are measured once.
            let same = last.is_some_and(|last| Arc::ptr_eq(last, system));
            let known = of.last().filter(|_| same).cloned();
            of.push(match known {
                Some(known) => known,
                None => Figures::of(&**system, down, ARBITER_MESSAGES)?,
            });
            last = Some(system);
        }
        pools.push(Pool { protocol: "arbiters", quorums: kind.name(), of });
    }
    Ok(pools)
}

/// The best of the pools of one protocol; some of them take any numbers.
fn best(pools: Vec<Pool>, want: Want, down: f64) -> Pool {
    let order = |a: &Pool, b: &Pool| a.rank(want, down).partial_cmp(&b.rank(want, down));
    let best = pools.into_iter().min_by(|a, b| order(a, b).expect("no figure is NaN"));
    best.expect("thresholds exist for any numbers of sites and units")
}

impl Pool {
    /// The sort key, smaller is better. A pool of which some claim fails nearly as often as one
    /// site comes last.
    fn rank(&self, want: Want, down: f64) -> [f64; 3] {
        let fails = self.fails();
        let last = f64::from(u8::from(fails > down / 4.0));
        match want {
            Want::Availability => [last, fails, self.messages()],
            Want::Messages => [last, self.messages(), fails],
        }
    }

    /// The probability that the claims that fail most have no live quorum.
    fn fails(&self) -> f64 {
        self.of.iter().map(|figures| figures.fails.about()).fold(0.0, f64::max)
    }

    /// Messages for a grant, when claims of 1, 2, … units are equally frequent.
    fn messages(&self) -> f64 {
        self.of.iter().map(|figures| figures.messages).sum::<f64>() / self.of.len() as f64
    }

    /// How many sites may be down, whatever is claimed.
    fn bears(&self) -> Option<usize> {
        self.of.iter().map(|figures| figures.bears).min().flatten()
    }

    fn json(&self, down: f64) -> Value {
        let one = |(place, figures): (usize, &Figures)| {
            json!({
                "units": place + 1,
                "sites": [figures.sizes.0, figures.sizes.1],
                "bears": figures.bears,
                "messages": figures.messages,
                "fails": fails_json(down, figures.fails),
            })
        };
        let of: Vec<_> = self.of.iter().enumerate().map(one).collect();
        json!({"protocol": self.protocol, "quorums": self.quorums, "bears": self.bears(), "of": of})
    }

    /// A row for each run of equal figures.
    fn rows(&self) -> Vec<Vec<String>> {
        let numbered: Vec<_> = (1..).zip(&self.of).collect();
        let runs = numbered.chunk_by(|(_, a), (_, b)| a.sizes == b.sizes && a.bears == b.bears);
        let row = |run: &[(usize, &Figures)]| {
            let ((first, figures), (last, _)) = (run[0], run[run.len() - 1]);
            let units =
                if first == last { first.to_string() } else { format!("{first} to {last}") };
            vec![
                self.protocol.to_owned(),
                self.quorums.to_owned(),
                units,
                sizes_text(figures.sizes),
                figures.bears.map_or("?".to_owned(), |bears| bears.to_string()),
                format!("{:.1}", figures.messages),
                fails_cell(figures.fails),
            ]
        };
        runs.map(row).collect()
    }
}

impl Figures {
    fn of(system: &dyn QuorumSystem, down: f64, each: f64) -> Result<Self, QuorumError> {
        let n = system.n();
        let up = vec![1.0 - down; n];
        let fails = if n <= SITES_EXACT {
            failure(system, &up)?
        } else {
            let exact = system.availability(&up).map(|live| Fails::Exact(1.0 - live));
            let draws = Draws { samples: FEW_SAMPLES, seed: 1, survived: 0 };
            exact.or_else(|_| sampled_failure(system, &up, draws))?
        };
        Ok(Self {
            sizes: (system.min_size(), system.max_size()),
            bears: system.resilience().ok(),
            messages: each * (asked(system) - 1.0),
            fails,
        })
    }
}

fn lines(
    (n, k): (usize, usize),
    pools: &[Pool; 2],
    take: usize,
    down: f64,
    paint: Paint,
) -> Vec<String> {
    let heads = ["PROTOCOL", "QUORUMS", "UNITS", "SITES", "MAY BE DOWN", "MESSAGES", "FAILS"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(pools.iter().flat_map(Pool::rows));
    let title = format!("{n} sites, each down {down} of the time, a pool of {k} units");
    let mut lines = vec![paint.strong(&title), String::new()];
    lines.extend(aligned(&rows));
    let text = match pools[take].protocol {
        "ledger" => {
            "Take the ledger: requests enter one after the other, but it asks the same \
                     quorum for any number of units."
        }
        _ => {
            "Take the arbiters: as many requests enter at the same time as fit, but a claim of \
              few units needs more sites."
        }
    };
    lines.extend([String::new(), text.to_owned()]);
    lines.push(paint.faint("Messages are those of a claim that nobody else stands in the way of."));
    lines
}
