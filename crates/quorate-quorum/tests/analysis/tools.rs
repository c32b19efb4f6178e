//! Sets and systems for tests.

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, RngSeed};
use quorate_quorum::analysis::{Class, Load, minimal_form};
use quorate_quorum::{Listed, QuorumSystem, SiteId, SiteSet};

/// The set of these sites, counted from 0.
pub(crate) fn set(sites: &[usize]) -> SiteSet {
    sites.iter().map(|site| SiteId::new(*site)).collect()
}

/// The set whose bits are set in `mask`.
pub(crate) fn from_mask(mask: u32) -> SiteSet {
    SiteId::all(32).filter(|site| mask >> site.index() & 1 == 1).collect()
}

/// The bits of a set.
pub(crate) fn mask(set: &SiteSet) -> u32 {
    set.iter().map(|site| 1 << site.index()).sum()
}

/// The same cases in every run.
pub(crate) fn fixed_seed(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

/// Any sets over 6 sites, none empty; they need not meet.
pub(crate) fn sets() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(1_u32..64, 1..9)
}

/// A coterie over 6 sites, in minimal form: of random sets all that meet those before.
pub(crate) fn coteries() -> impl Strategy<Value = Vec<SiteSet>> {
    prop::collection::vec(1_u32..64, 1..25).prop_map(|masks| {
        let mut kept: Vec<u32> = Vec::new();
        for mask in masks {
            if kept.iter().all(|other| other & mask != 0) {
                kept.push(mask);
            }
        }
        minimal_form(kept.into_iter().map(from_mask))
    })
}

/// A coterie as a system over `n` sites, which has no more quorums than sites.
pub(crate) fn system(n: usize, quorums: &[SiteSet]) -> Option<Listed> {
    let mut own = vec![None; n];
    if quorums.len() > n {
        return None;
    }
    for (place, quorum) in own.iter_mut().zip(quorums) {
        *place = Some(quorum.clone());
    }
    Some(Listed::new(own).expect("a coterie"))
}

/// All quorums of `system`.
pub(crate) fn all(system: &dyn QuorumSystem) -> Vec<SiteSet> {
    system.quorums().collect()
}

/// Whether both bounds of `load` follow from what it shows, for these quorums.
pub(crate) fn is_proved(load: &Load, classes: &[Class], speeds: &[f64]) -> bool {
    let uses = load.uses(classes, speeds.len());
    let busiest = uses.iter().zip(speeds).map(|(used, speed)| used / speed).fold(0.0, f64::max);
    let whole = (0..classes.len()).all(|class| {
        let of_class = load.strategy.iter().filter(|choice| choice.class == class);
        (of_class.map(|choice| choice.often).sum::<f64>() - 1.0).abs() < 1e-9
    });
    let real = load.strategy.iter().all(|choice| {
        choice.often >= 0.0 && classes[choice.class].quorums.contains(&choice.quorum)
    });
    let total: f64 = load.weights.iter().zip(speeds).map(|(weight, speed)| weight * speed).sum();
    let weight = |quorum: &SiteSet| quorum.iter().map(|site| load.weights[site.index()]).sum();
    let least = |class: &Class| {
        class.share * class.quorums.iter().map(weight).fold(f64::INFINITY, f64::min)
    };
    let shown: f64 = classes.iter().map(least).sum();
    let light = load.weights.iter().all(|weight| *weight >= 0.0) && total < 1.0 + 1e-9;
    whole && real && light && busiest <= load.upper + 1e-9 && shown >= load.lower - 1e-9
}
