//! Both programs of the load over few quorums, and more of them where these are not enough.

use super::load::{Choice, Class, Load, Proof, busiest, solved};
use super::program;
use crate::{QuorumSystem, SiteId, SiteSet};

/// How hard to look for better bounds.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// Two bounds this close are close enough.
    gap: f64,
    rounds: usize,
}

impl Effort {
    /// Until the bounds are equal.
    pub(super) const FULL: Self = Self { gap: 1e-10, rounds: 400 };
    /// Until they are equal to the eye.
    pub(super) const QUICK: Self = Self { gap: 1e-3, rounds: 40 };
}

/// How many quorums a round adds to a class.
const ADDED: usize = 8;
/// What all sites together cost, about, when weights become the prices of a picked quorum.
const PRICES: f64 = 2e6;

/// Finds light quorums under given weights of the sites.
pub(super) trait Oracle {
    /// Weights like `weights` for which the oracle can find a lightest quorum.
    fn round(&mut self, weights: Vec<f64>) -> Vec<f64> {
        weights
    }

    /// Some light quorums of class number `class` under the last weights, a lightest among them.
    fn light(&self, class: usize, weights: &[f64]) -> Vec<SiteSet>;
}

/// Looks at all quorums.
pub(super) struct Listing<'a> {
    pub(super) classes: &'a [Class],
}

impl Oracle for Listing<'_> {
    fn light(&self, class: usize, weights: &[f64]) -> Vec<SiteSet> {
        let quorums = &self.classes[class].quorums;
        let mut order: Vec<_> =
            quorums.iter().map(|quorum| weight(quorum, weights)).enumerate().collect();
        if order.len() > ADDED {
            order.select_nth_unstable_by(ADDED - 1, |a, b| a.1.total_cmp(&b.1));
            order.truncate(ADDED);
        }
        order.into_iter().map(|(at, _)| quorums[at].clone()).collect()
    }
}

/// Asks `pick`. A site costs its place in a list there, so a list with gaps can give it any whole
/// price that no other site has.
pub(super) struct Picking<'a> {
    system: &'a dyn QuorumSystem,
    prices: Vec<usize>,
}

impl<'a> Picking<'a> {
    pub(super) fn new(system: &'a dyn QuorumSystem) -> Self {
        Self { system, prices: Vec::new() }
    }
}

impl Oracle for Picking<'_> {
    /// The weights become the prices, so that `pick` finds the lightest quorum and no other.
    fn round(&mut self, weights: Vec<f64>) -> Vec<f64> {
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by(|a, b| weights[*a].total_cmp(&weights[*b]));
        self.prices = vec![0; weights.len()];
        let (mut last, mut total) = (0, 0);
        for site in order {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 2e6")]
            let price = (weights[site] * PRICES).round().clamp(0.0, PRICES) as usize;
            last = price.max(last + 1);
            total += last;
            self.prices[site] = last;
        }
        self.prices.iter().map(|price| *price as f64 / total as f64).collect()
    }

    fn light(&self, _: usize, _: &[f64]) -> Vec<SiteSet> {
        let n = self.system.n();
        let dearest = self.prices.iter().max().copied().unwrap_or_default();
        // A site that the cluster does not have fills the gaps.
        let mut prefer = vec![SiteId::new(n); dearest];
        for (site, price) in SiteId::all(n).zip(&self.prices) {
            prefer[price - 1] = site;
        }
        let picked = self.system.pick(&SiteSet::full(n), &prefer);
        vec![picked.expect("all sites contain a quorum")]
    }
}

/// The load of all quorums that `oracle` knows, from a `start` of some for each class.
///
/// Weights that are best against the quorums at hand give a bound from above, as any part of the
/// quorums does; what the oracle's lightest quorum weighs under them is a bound from below. More
/// than a bound from below that is `known` already is not looked for.
pub(super) fn generate(
    oracle: &mut dyn Oracle,
    start: Vec<Vec<SiteSet>>,
    shares: &[f64],
    speeds: &[f64],
    (known, effort): (f64, Effort),
) -> Load {
    let class = |(share, quorums): (&f64, Vec<SiteSet>)| Class { share: *share, quorums };
    let mut classes: Vec<Class> = shares.iter().zip(start).map(class).collect();
    for class in &mut classes {
        dedup(&mut class.quorums);
    }
    let mut best = (0.0, vec![0.0; speeds.len()]);
    for _ in 0..effort.rounds {
        let Ok((upper, found)) = program::weights(&classes, speeds) else { break };
        let weights = scaled(oracle.round(found), speeds);
        let light: Vec<_> = (0..classes.len()).map(|class| oracle.light(class, &weights)).collect();
        let least = |light: &Vec<SiteSet>| {
            light.iter().map(|quorum| weight(quorum, &weights)).fold(f64::INFINITY, f64::min)
        };
        let lower = shares.iter().zip(light.iter().map(least)).map(|(share, it)| share * it).sum();
        if lower > best.0 {
            best = (lower, weights);
        }
        if upper - best.0.max(known) <= effort.gap || !add(&mut classes, light) {
            break;
        }
    }
    let (lower, weights) = best;
    let (upper, strategy) = solved(&classes, speeds).unwrap_or_else(|| equally(&classes, speeds));
    Load { lower: lower.clamp(0.0, upper), upper, strategy, weights, proof: Proof::Programs }
}

/// Adds the quorums that are new; false if there are none.
fn add(classes: &mut [Class], light: Vec<Vec<SiteSet>>) -> bool {
    let mut grown = false;
    for (class, light) in classes.iter_mut().zip(light) {
        for quorum in light {
            if !class.quorums.contains(&quorum) {
                class.quorums.push(quorum);
                grown = true;
            }
        }
    }
    grown
}

/// Weights that are 1 in all when multiplied by the speeds; none is below 0.
fn scaled(mut weights: Vec<f64>, speeds: &[f64]) -> Vec<f64> {
    for weight in &mut weights {
        *weight = weight.max(0.0);
    }
    let total: f64 = weights.iter().zip(speeds).map(|(weight, speed)| weight * speed).sum();
    weights.iter().map(|weight| weight / total).collect()
}

fn weight(quorum: &SiteSet, weights: &[f64]) -> f64 {
    quorum.iter().map(|site| weights[site.index()]).sum()
}

/// Should a program ever fail: every quorum equally often.
fn equally(classes: &[Class], speeds: &[f64]) -> (f64, Vec<Choice>) {
    let mut strategy = Vec::new();
    for (class, all) in classes.iter().enumerate() {
        let often = 1.0 / all.quorums.len() as f64;
        let choice = |quorum: &SiteSet| Choice { class, quorum: quorum.clone(), often };
        strategy.extend(all.quorums.iter().map(choice));
    }
    let shares: Vec<_> = classes.iter().map(|class| class.share).collect();
    (busiest(&strategy, &shares, speeds), strategy)
}

fn dedup(quorums: &mut Vec<SiteSet>) {
    let mut seen: Vec<SiteSet> = Vec::new();
    quorums.retain(|quorum| {
        let new = !seen.contains(quorum);
        if new {
            seen.push(quorum.clone());
        }
        new
    });
}
