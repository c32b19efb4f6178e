//! The figures of a quorum system that every command shows.

use quorate_quorum::analysis::{
    Draws, Failure, Load, Proof, failure, load, quick_load, sampled_failure, survived_at_least,
};
use quorate_quorum::{Kind, QuorumError, QuorumSystem, SiteId, SiteSet, build};
use serde_json::{Value, json};

use quorate_terminal::facts::three_digits;

/// How many samples a comparison of many systems draws for each.
pub(super) const FEW_SAMPLES: u32 = 4_000;
/// Up to so many sites the exact probability is quick even without a formula.
pub(super) const SITES_EXACT: usize = 20;

/// The figures of a system.
#[derive(Debug)]
pub(super) struct Figures {
    /// The sizes of its smallest and its largest quorum.
    pub(super) sizes: (usize, usize),
    /// How many sites a site asks on average, itself included, when all are up.
    pub(super) asked: f64,
    /// How many failures are always survived, whichever sites fail.
    pub(super) resilience: Result<usize, QuorumError>,
    /// The load of the busiest site.
    pub(super) load: Load,
    /// The probability that no quorum is live, for each probability that a site is down.
    pub(super) fails: Vec<(f64, Failure)>,
}

impl Figures {
    /// The figures, as exact as possible.
    pub(super) fn exact(system: &dyn QuorumSystem, down: &[f64]) -> Result<Self, QuorumError> {
        let up = |p: f64| vec![1.0 - p; system.n()];
        let fails = down.iter().map(|p| Ok((*p, failure(system, &up(*p))?)));
        Ok(Self {
            sizes: (system.min_size(), system.max_size()),
            asked: asked(system),
            resilience: system.resilience(),
            load: load(system),
            fails: fails.collect::<Result<_, QuorumError>>()?,
        })
    }

    /// The figures of one of many systems: what would take a second is sampled.
    pub(super) fn quick(
        kind: Kind,
        system: &dyn QuorumSystem,
        down: &[f64],
    ) -> Result<Self, QuorumError> {
        let n = system.n();
        let exact = n <= SITES_EXACT || has_formula(kind);
        let survived = if exact { 0 } else { survived_at_least(system) };
        let draws = Draws { samples: FEW_SAMPLES, seed: 1, survived };
        let fails = down.iter().map(|p| {
            let up = vec![1.0 - p; n];
            let fails =
                if exact { failure(system, &up)? } else { sampled_failure(system, &up, draws)? };
            Ok((*p, fails))
        });
        Ok(Self {
            sizes: (system.min_size(), system.max_size()),
            asked: asked(system),
            resilience: system.resilience(),
            load: quick_load(system),
            fails: fails.collect::<Result<_, QuorumError>>()?,
        })
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "sizes": [self.sizes.0, self.sizes.1],
            "asked": self.asked,
            "resilience": self.resilience.as_ref().ok(),
            "load": load_json(&self.load),
            "fails": self.fails.iter().map(|(p, fails)| fails_json(*p, *fails)).collect::<Vec<_>>(),
        })
    }
}

/// How many sites a site asks on average, itself included, when all are up.
pub(super) fn asked(system: &dyn QuorumSystem) -> f64 {
    let all = SiteSet::full(system.n());
    let own = SiteId::all(system.n()).filter_map(|site| system.pick_for(site, &all));
    let sizes: Vec<_> = own.map(|quorum| quorum.len() as f64).collect();
    sizes.iter().sum::<f64>() / sizes.len() as f64
}

/// Whether the construction knows its availability beyond what can be searched; one of a single
/// size is taken to.
fn has_formula(kind: Kind) -> bool {
    const MANY: usize = 30;
    build(kind, MANY).map_or(true, |system| system.availability(&[0.9; MANY]).is_ok())
}

fn load_json(load: &Load) -> Value {
    let proof = match load.proof {
        Proof::Alike => "alike",
        Proof::Programs => "programs",
        Proof::Columns => "columns",
        Proof::Formula => "formula",
    };
    json!({ "lower": load.lower, "upper": load.upper, "proof": proof })
}

pub(super) fn fails_json(p: f64, fails: Failure) -> Value {
    match fails {
        Failure::Exact(exact) => json!({ "p": p, "exact": exact }),
        Failure::Below(limit) => json!({ "p": p, "below": limit }),
        Failure::Sampled { low, seen, high, samples } => {
            json!({ "p": p, "seen": seen, "low": low, "high": high, "samples": samples })
        }
    }
}

/// The load; one number if both bounds round to the same.
pub(super) fn load_text(load: &Load) -> String {
    if load.gap() < 5e-5 {
        format!("{:.4}", load.upper)
    } else {
        format!("{:.4} to {:.4}", load.lower, load.upper)
    }
}

/// How the bounds of the load were found.
pub(super) fn proof_text(proof: Proof) -> &'static str {
    match proof {
        Proof::Alike => "all sites are alike",
        Proof::Programs => "proved from both sides",
        Proof::Columns => "bounded from both sides",
        Proof::Formula => "by its closed form",
    }
}

/// A number, a bound, or a number with its interval.
pub(super) fn fails_text(fails: Failure) -> String {
    match fails {
        Failure::Exact(exact) => three_digits(exact),
        Failure::Below(limit) => format!("<{}", plain(limit)),
        Failure::Sampled { high: 0.0, .. } => "0".into(),
        Failure::Sampled { seen: 0.0, high, .. } => format!("<{}", three_digits(high)),
        Failure::Sampled { low, high, .. } => {
            format!("{}..{}", three_digits(low), three_digits(high))
        }
    }
}

/// The same, for a narrow column: a sampled number is marked with `~`.
pub(super) fn fails_cell(fails: Failure) -> String {
    match fails {
        Failure::Sampled { seen, .. } if seen > 0.0 => format!("~{}", brief(seen)),
        Failure::Sampled { high, .. } if high > 0.0 => format!("<{}", brief(high)),
        Failure::Exact(exact) => brief(exact),
        other => fails_text(other),
    }
}

/// A probability with two digits.
fn brief(number: f64) -> String {
    if number == 0.0 || number >= 1e-3 { three_digits(number) } else { format!("{number:.1e}") }
}

fn plain(number: f64) -> String {
    format!("{number:.0e}")
}
