//! Everything a system tells, against what its definition says for each of the 2^n sets.

use std::sync::Arc;

use quorate_quorum::{Kind, Prices, QuorumSystem, SiteId, SiteSet, build};

use crate::defined::contains_quorum;

const SITES_MAX: usize = 12;

fn set(mask: u32) -> SiteSet {
    SiteId::all(32).filter(|site| mask >> site.index() & 1 == 1).collect()
}

fn mask(set: &SiteSet) -> u32 {
    set.iter().map(|site| 1 << site.index()).sum()
}

/// A system, and for each set of sites whether it contains a quorum by definition.
struct Twin {
    name: String,
    n: usize,
    system: Arc<dyn QuorumSystem>,
    defined: Vec<bool>,
}

impl Twin {
    /// The sets that are quorums and of which nothing can be spared.
    fn minimal(&self) -> Vec<u32> {
        let spares = |mask: u32| {
            (0..self.n).any(|at| mask >> at & 1 == 1 && self.defined[(mask & !(1 << at)) as usize])
        };
        self.sets().filter(|mask| self.defined[*mask as usize] && !spares(*mask)).collect()
    }

    fn sets(&self) -> impl Iterator<Item = u32> + use<> {
        0..1 << self.n
    }
}

fn twins() -> impl Iterator<Item = Twin> {
    let of = |kind: Kind| {
        (1..=SITES_MAX).map(move |n| {
            let system = build(kind, n).unwrap();
            let defined = (0..1 << n).map(|mask| contains_quorum(kind, n, mask)).collect();
            Twin { name: format!("{kind} of {n}"), n, system, defined }
        })
    };
    Kind::all().iter().copied().flat_map(of)
}

/// Prices or probabilities that differ from site to site, the same in every run.
fn uneven(n: usize) -> impl Iterator<Item = u32> {
    (0..n).map(|site| u32::try_from(1 + site * 7 % 5 + site % 3).unwrap())
}

#[test]
fn a_quorum_is_what_the_definition_says() {
    for twin in twins() {
        for mask in twin.sets() {
            let told = twin.system.is_quorum(&set(mask));
            assert_eq!(told, twin.defined[mask as usize], "{}: {}", twin.name, set(mask));
        }
    }
}

#[test]
fn any_two_quorums_meet() {
    for twin in twins() {
        let all = (1 << twin.n) - 1;
        for mask in twin.sets() {
            let both = twin.defined[mask as usize] && twin.defined[(all & !mask) as usize];
            assert!(!both, "{}: {} and the rest", twin.name, set(mask));
        }
    }
}

#[test]
fn quorums_are_listed_in_minimal_form() {
    for twin in twins() {
        let mut listed: Vec<_> = twin.system.quorums().map(|quorum| mask(&quorum)).collect();
        listed.sort_unstable();
        assert_eq!(listed, twin.minimal(), "{}", twin.name);
        let sizes = listed.iter().map(|mask| mask.count_ones() as usize);
        let told = (Some(twin.system.min_size()), Some(twin.system.max_size()));
        assert_eq!(told, (sizes.clone().min(), sizes.max()), "{}", twin.name);
    }
}

#[test]
fn resilience_is_that_of_the_worst_failures() {
    for twin in twins() {
        let lost = twin.sets().filter(|live| !twin.defined[*live as usize]);
        let fewest = lost.map(|live| twin.n - live.count_ones() as usize).min().unwrap();
        assert_eq!(twin.system.resilience(), Ok(fewest - 1), "{}", twin.name);
    }
}

#[test]
fn transversals_are_weighed_by_their_sites() {
    for twin in twins() {
        let costs: Vec<u64> = uneven(twin.n).map(u64::from).collect();
        let cost = |mask: u32| -> u64 {
            (0..twin.n).filter(|at| mask >> at & 1 == 1).map(|at| costs[at]).sum()
        };
        let all = (1 << twin.n) - 1;
        let stopped = twin.sets().filter(|down| !twin.defined[(all & !down) as usize]);
        let least = stopped.map(cost).min().unwrap();
        assert_eq!(twin.system.transversal(&costs), Ok(least), "{}", twin.name);
        let heaviest = twin.minimal().into_iter().map(cost).max().unwrap();
        assert_eq!(twin.system.heaviest(&costs), heaviest, "{}", twin.name);
    }
}

#[test]
fn availability_sums_over_all_sets() {
    for twin in twins() {
        let up: Vec<f64> = uneven(twin.n).map(|uneven| 1.0 - 0.07 * f64::from(uneven)).collect();
        let chance = |mask: u32| -> f64 {
            (0..twin.n).map(|at| if mask >> at & 1 == 1 { up[at] } else { 1.0 - up[at] }).product()
        };
        let live = twin.sets().filter(|mask| twin.defined[*mask as usize]);
        let sum: f64 = live.map(chance).sum();
        let told = twin.system.availability(&up).unwrap();
        assert!((told - sum).abs() < 1e-9, "{}: {told}, not {sum}", twin.name);
    }
}

/// For every live set: a pick is a live quorum, there is one whenever there can be, and it is the
/// cheapest.
#[test]
fn picks_are_quorums_whoever_is_suspected() {
    for twin in twins() {
        let minimal = twin.minimal();
        let price: Vec<_> = uneven(twin.n).collect();
        let cost = |mask: u32| -> u32 {
            (0..twin.n).filter(|at| mask >> at & 1 == 1).map(|at| price[at]).sum()
        };
        for live in twin.sets() {
            let alive = minimal.iter().filter(|quorum| *quorum & !live == 0);
            let least = alive.map(|quorum| cost(*quorum)).min();
            let is_live = |site: usize| live >> site & 1 == 1;
            let prices = Prices::of_each((0..twin.n).map(|at| is_live(at).then_some(price[at])));
            let cheapest = twin.system.cheapest(&prices).map(|quorum| mask(&quorum));
            assert_eq!(cheapest.map(cost), least, "{} in {}", twin.name, set(live));
            let picked = twin.system.pick(&set(live), &[]).map(|quorum| mask(&quorum));
            let site = SiteId::new(live as usize % twin.n);
            let own = twin.system.pick_for(site, &set(live)).map(|quorum| mask(&quorum));
            for quorum in [cheapest, picked, own] {
                let fine = |quorum: u32| quorum & !live == 0 && twin.defined[quorum as usize];
                let name = format!("{} in {}", twin.name, set(live));
                assert_eq!(quorum.map(fine), least.map(|_| true), "{name}: {quorum:?}");
            }
        }
    }
}
