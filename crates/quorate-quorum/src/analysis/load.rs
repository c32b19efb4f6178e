//! The load: how busy the busiest site must be, with proofs from both sides.

use super::columns::{self, Effort, Listing, Picking};
use super::error::AnalysisError;
use super::program;
use super::sets::listed;
use crate::{QuorumError, QuorumSystem, SiteId, SiteSet};

/// Bounds of a construction that differ by less are one number.
const EQUAL: f64 = 1e-12;

/// One class of accesses, such as reads, writes, or claims of three units.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its share of all accesses.
    pub share: f64,
    /// Its quorums, any of which will do.
    pub quorums: Vec<SiteSet>,
}

/// How often to use a quorum.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The place of its class.
    pub class: usize,
    /// The quorum.
    pub quorum: SiteSet,
    /// Its share of the accesses of that class.
    pub often: f64,
}

/// What the bounds of a [`Load`] rest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// All sites are alike: every site's own quorum equally often, and equal weights.
    Alike,
    /// Two linear programs over the list of all quorums.
    Programs,
    /// Linear programs over some quorums, the others seen through `pick`.
    Columns,
    /// A closed form of the construction; no strategy is given.
    Formula,
}

/// Bounds of the load, each with its proof.
///
/// The load is the share of all accesses that the busiest site gets, relative to its speed, when
/// quorums are chosen as well as possible.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// No strategy does better, because of `weights`.
    pub lower: f64,
    /// `strategy` does as well as this.
    pub upper: f64,
    /// Which quorums to use how often; empty if the bounds are a formula's.
    pub strategy: Vec<Choice>,
    /// A weight for each site, 1 in all when multiplied by the speeds. Every quorum weighs at
    /// least `lower` (with classes: in the mean), so some site gets as much.
    pub weights: Vec<f64>,
    /// What the bounds rest on.
    pub proof: Proof,
}

impl Load {
    /// How far the two bounds are apart.
    pub fn gap(&self) -> f64 {
        self.upper - self.lower
    }

    /// How many accesses the strategy serves in the time in which a site of speed 1 serves one.
    pub fn capacity(&self) -> f64 {
        1.0 / self.upper
    }

    /// The share of all accesses that each site gets under the strategy.
    pub fn uses(&self, classes: &[Class], n: usize) -> Vec<f64> {
        uses(&self.strategy, &classes.iter().map(|class| class.share).collect::<Vec<_>>(), n)
    }
}

/// The load of `system`: an optimal strategy, and weights that prove it, as far as they are found.
///
/// Where all sites are alike the bounds come without a program, where the quorums can be listed
/// from two programs, and otherwise from the quorums that `pick` finds; the lower bound then rests
/// on `pick` being the cheapest, as the trait has it. Votes are the exception there, but have a
/// better lower bound of their own.
pub fn load(system: &dyn QuorumSystem) -> Load {
    found(system, Effort::FULL)
}

/// The same for comparisons: without a strategy where the construction has a closed form, and with
/// bounds that are a thousandth apart, or a little more if that would take long.
pub fn quick_load(system: &dyn QuorumSystem) -> Load {
    let known = system.load_bounds();
    if known.upper - known.lower < EQUAL {
        return formula(known.lower);
    }
    found(system, Effort::QUICK)
}

fn found(system: &dyn QuorumSystem, effort: Effort) -> Load {
    let own = own_quorums(system);
    if let Some(load) = alike(system, &own) {
        return load;
    }
    let speeds = vec![1.0; system.n()];
    let known = system.load_bounds();
    if let Ok(quorums) = listed(system) {
        let classes = [Class { share: 1.0, quorums }];
        let mut listing = Listing { classes: &classes };
        return columns::generate(&mut listing, vec![own], &[1.0], &speeds, (0.0, effort));
    }
    if known.upper - known.lower < EQUAL {
        return formula(known.lower);
    }
    let mut picking = Picking::new(system);
    let mut load =
        columns::generate(&mut picking, vec![own], &[1.0], &speeds, (known.lower, effort));
    load.lower = load.lower.max(known.lower);
    load.proof = Proof::Columns;
    load
}

/// The load when accesses are of several classes and sites differ in speed.
///
/// With reads and writes as classes it is the load at that share of reads; with the claims of
/// h units as classes, that of a mix of claims.
///
/// # Errors
///
/// A speed that is no positive number, a share outside 0 to 1, or a class without a quorum.
///
/// ```
/// use quorate_quorum::{SiteId, SiteSet, analysis::{Class, dual, mixed_load}};
/// let row = |from: usize| (from..from + 3).map(SiteId::new).collect::<SiteSet>();
/// let reads = vec![row(0), row(3)];
/// let writes = dual(&reads)?;
/// let classes = [Class { share: 0.25, quorums: reads }, Class { share: 0.75, quorums: writes }];
/// assert!((mixed_load(&classes, &[1.0; 6])?.upper - 3.0 / 8.0).abs() < 1e-9);
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
pub fn mixed_load(classes: &[Class], speeds: &[f64]) -> Result<Load, QuorumError> {
    check_speeds(speeds)?;
    for class in classes {
        if !(0.0..=1.0).contains(&class.share) {
            return Err(AnalysisError::NotAShare(class.share).into());
        }
        let first = class.quorums.first().ok_or(QuorumError::NoQuorum)?;
        let last = class.quorums.iter().chain([first]).filter_map(|quorum| quorum.iter().last());
        if let Some(site) = last.max().filter(|site| site.index() >= speeds.len()) {
            return Err(QuorumError::UnknownSite { site, n: speeds.len() });
        }
    }
    let start = classes.iter().map(|class| class.quorums[..1].to_vec()).collect();
    let shares: Vec<_> = classes.iter().map(|class| class.share).collect();
    Ok(columns::generate(&mut Listing { classes }, start, &shares, speeds, (0.0, Effort::FULL)))
}

/// Refuses speeds that are no positive numbers.
pub(super) fn check_speeds(speeds: &[f64]) -> Result<(), QuorumError> {
    match speeds.iter().position(|speed| !speed.is_finite() || *speed <= 0.0) {
        Some(at) => {
            let (site, value) = (SiteId::new(at), speeds[at]);
            Err(AnalysisError::NotPositive { what: "speed", site, value }.into())
        }
        None => Ok(()),
    }
}

/// The share of all accesses that each of `n` sites gets.
pub(super) fn uses(strategy: &[Choice], shares: &[f64], n: usize) -> Vec<f64> {
    let mut uses = vec![0.0; n];
    for choice in strategy {
        for site in choice.quorum.iter() {
            uses[site.index()] += shares[choice.class] * choice.often;
        }
    }
    uses
}

fn formula(load: f64) -> Load {
    let (strategy, weights) = (Vec::new(), Vec::new());
    Load { lower: load, upper: load, strategy, weights, proof: Proof::Formula }
}

/// The quorum of every site, in minimal form as far as that is easy.
fn own_quorums(system: &dyn QuorumSystem) -> Vec<SiteSet> {
    let all = SiteSet::full(system.n());
    let own = SiteId::all(system.n()).filter_map(|site| {
        let mut own = system.pick_for(site, &all)?;
        own.remove(site);
        if !system.is_quorum(&own) {
            own.insert(site);
        }
        Some(own)
    });
    own.collect()
}

/// The load if every site's own quorum equally often loads all sites as little as a smallest
/// quorum must.
fn alike(system: &dyn QuorumSystem, own: &[SiteSet]) -> Option<Load> {
    let n = system.n();
    let often = 1.0 / own.len() as f64;
    let choice = |quorum: &SiteSet| Choice { class: 0, quorum: quorum.clone(), often };
    let strategy: Vec<_> = own.iter().map(choice).collect();
    let upper = uses(&strategy, &[1.0], n).into_iter().fold(0.0, f64::max);
    let lower = system.min_size() as f64 / n as f64;
    let weights = vec![1.0 / n as f64; n];
    (upper - lower < 1e-12).then_some(Load { lower, upper, strategy, weights, proof: Proof::Alike })
}

/// Both programs over these quorums: the strategy with the load it really has, and the weights.
pub(super) fn solved(classes: &[Class], speeds: &[f64]) -> Option<(f64, Vec<Choice>)> {
    let (_, often) = program::strategy(classes, speeds).ok()?;
    let shares: Vec<_> = classes.iter().map(|class| class.share).collect();
    let mut strategy = Vec::new();
    for (at, (class, often)) in classes.iter().zip(often).enumerate() {
        let total: f64 = often.iter().map(|often| often.max(0.0)).sum();
        let used = class.quorums.iter().zip(often).filter(|(_, often)| *often > 0.0);
        strategy.extend(used.map(|(quorum, often)| Choice {
            class: at,
            quorum: quorum.clone(),
            often: often / total,
        }));
    }
    Some((busiest(&strategy, &shares, speeds), strategy))
}

/// What the busiest site gets, relative to its speed.
pub(super) fn busiest(strategy: &[Choice], shares: &[f64], speeds: &[f64]) -> f64 {
    let uses = uses(strategy, shares, speeds.len());
    uses.iter().zip(speeds).map(|(used, speed)| used / speed).fold(0.0, f64::max)
}
