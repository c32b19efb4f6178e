//! The probability that no quorum is live, from samples.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::failure::Failure;
use super::sets::QUORUMS_MAX;
use crate::{QuorumError, QuorumSystem, SiteId, SiteSet, measure};

/// How many samples are usual.
pub const SAMPLES: u32 = 20_000;
/// Of 100 intervals 95 reach no further than so many standard deviations.
const DEVIATIONS: f64 = 1.959_964;

/// How to sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draws {
    /// How many samples to draw.
    pub samples: u32,
    /// The same seed gives the same answer.
    pub seed: u64,
    /// So many failures are known to leave a quorum, whichever they are.
    pub survived: usize,
}

impl Draws {
    /// As many as usual, for this system.
    pub fn usual(system: &dyn QuorumSystem) -> Self {
        Self { samples: SAMPLES, seed: 1, survived: survived_at_least(system) }
    }
}

/// How many failures leave a quorum for sure, whichever they are: the resilience, or less where
/// that would take too long.
pub fn survived_at_least(system: &dyn QuorumSystem) -> usize {
    system.resilience().unwrap_or_else(|_| {
        // A site stops no more quorums than it is in.
        let quorums: Vec<_> = system.quorums().take(QUORUMS_MAX).collect();
        let mut stopped = vec![0; system.n()];
        for site in quorums.iter().flat_map(SiteSet::iter) {
            stopped[site.index()] += 1;
        }
        quorums.len().div_ceil(stopped.into_iter().max().unwrap_or(1).max(1)).saturating_sub(1)
    })
}

/// The probability that no quorum is live, estimated from samples.
///
/// As many failures as the system survives leave a quorum for sure, so only worse cases are drawn,
/// and their probability is computed exactly. That reaches probabilities far below one in as many
/// samples.
///
/// # Errors
///
/// `up` is not one probability for each site.
pub fn sampled_failure(
    system: &dyn QuorumSystem,
    up: &[f64],
    draws: Draws,
) -> Result<Failure, QuorumError> {
    measure::check_probabilities(system.n(), up)?;
    let Draws { samples, seed, survived } = draws;
    let fatal = survived.min(system.n()) + 1;
    let drawer = Drawer::new(up, fatal);
    let worse = drawer.at_least(0, fatal);
    if worse <= 0.0 || samples == 0 {
        return Ok(Failure::Sampled { low: 0.0, seen: 0.0, high: worse, samples });
    }
    let mut chance = ChaCha8Rng::seed_from_u64(seed);
    let failed = (0..samples).filter(|_| !system.is_quorum(&drawer.draw(&mut chance))).count();
    let failed = u32::try_from(failed).expect("no more than samples");
    let (low, high) = wilson(failed, samples);
    let seen = f64::from(failed) / f64::from(samples);
    Ok(Failure::Sampled { low: worse * low, seen: worse * seen, high: worse * high, samples })
}

/// The interval of Wilson (1927) around `hits` of `samples`.
fn wilson(hits: u32, samples: u32) -> (f64, f64) {
    let (n, share) = (f64::from(samples), f64::from(hits) / f64::from(samples));
    let square = DEVIATIONS * DEVIATIONS;
    let middle = share + square / (2.0 * n);
    let spread = DEVIATIONS * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    let scale = 1.0 + square / n;
    (((middle - spread) / scale).max(0.0), ((middle + spread) / scale).min(1.0))
}

/// Draws the live sites, given that at least so many failed.
struct Drawer<'a> {
    up: &'a [f64],
    fatal: usize,
    /// For each site and each number up to `fatal`: the probability that so many fail from there.
    tails: Vec<f64>,
}

impl<'a> Drawer<'a> {
    fn new(up: &'a [f64], fatal: usize) -> Self {
        let n = up.len();
        let tails = vec![0.0; (n + 1) * (fatal + 1)];
        let mut drawer = Self { up, fatal, tails };
        for at in (0..=n).rev() {
            for need in 0..=fatal {
                let tail = match (need, at == n) {
                    (0, _) => 1.0,
                    (_, true) => 0.0,
                    _ => {
                        let fails = (1.0 - up[at]) * drawer.at_least(at + 1, need - 1);
                        fails + up[at] * drawer.at_least(at + 1, need)
                    }
                };
                drawer.tails[at * (fatal + 1) + need] = tail;
            }
        }
        drawer
    }

    /// The probability that at least `need` of the sites from `at` on fail.
    fn at_least(&self, at: usize, need: usize) -> f64 {
        self.tails[at * (self.fatal + 1) + need]
    }

    fn draw(&self, chance: &mut ChaCha8Rng) -> SiteSet {
        let mut need = self.fatal;
        let mut live = SiteSet::new();
        for (at, site) in SiteId::all(self.up.len()).enumerate() {
            let fails = (1.0 - self.up[at]) * self.at_least(at + 1, need.saturating_sub(1));
            if fraction(chance) * self.at_least(at, need) < fails {
                need = need.saturating_sub(1);
            } else {
                live.insert(site);
            }
        }
        live
    }
}

/// A number from 0 up to 1, of 53 bits.
fn fraction(chance: &mut ChaCha8Rng) -> f64 {
    (chance.next_u64() >> 11) as f64 / 2_f64.powi(53)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_the_published_one() {
        // Wilson's interval for 1 of 10, and for none of 10: no hit is no proof of never.
        let (low, high) = wilson(1, 10);
        assert!((low - 0.0179).abs() < 1e-4 && (high - 0.4042).abs() < 1e-4, "{low} {high}");
        let (low, high) = wilson(0, 10);
        assert!(low.abs() < 1e-12 && (high - 0.2775).abs() < 1e-4, "{low} {high}");
    }

    #[test]
    fn draws_have_at_least_the_failures_asked_for() {
        let up = [0.99, 0.9, 0.999, 0.5, 0.95, 0.9];
        let drawer = Drawer::new(&up, 3);
        let mut chance = ChaCha8Rng::seed_from_u64(7);
        assert!((0..1_000).all(|_| drawer.draw(&mut chance).len() <= 3));
        let exact: f64 = (0..64_u32)
            .filter(|live| live.count_ones() <= 3)
            .map(|live| {
                let site = |at: usize| if live >> at & 1 == 1 { up[at] } else { 1.0 - up[at] };
                (0..6).map(site).product::<f64>()
            })
            .sum();
        assert!((drawer.at_least(0, 3) - exact).abs() < 1e-15);
    }
}
