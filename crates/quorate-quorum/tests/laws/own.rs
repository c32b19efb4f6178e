//! How sites are spread over quorums, and that size is no obstacle.

use std::collections::BTreeSet;

use quorate_quorum::{Kind, Prices, QuorumSystem, SiteId, SiteSet, build};

use crate::tools::{Numbers, set};

/// The own quorum of every site when all are up.
fn own(kind: Kind, n: usize) -> Vec<SiteSet> {
    let system = build(kind, n).expect("every size from 1 on fits");
    let all = SiteSet::full(n);
    SiteId::all(n).map(|site| system.pick_for(site, &all).expect("all are up")).collect()
}

fn different(quorums: &[SiteSet]) -> usize {
    let sets: BTreeSet<Vec<SiteId>> = quorums.iter().map(|set| set.iter().collect()).collect();
    sets.len()
}

#[test]
fn distinct_sites_have_distinct_lines() {
    for n in 1..=310 {
        assert_eq!(different(&own(Kind::Plane, n)), n, "plane of {n}, folded or not");
    }
    for n in 3..=100 {
        assert_eq!(different(&own(Kind::Cyclic, n)), n, "cyclic of {n}");
        assert_eq!(different(&own(Kind::Majority, n)), n, "majority of {n}");
    }
}

#[test]
fn paths_of_a_tree_end_at_different_leaves() {
    for n in 3..=200 {
        let mut ends = vec![0; n];
        for path in own(Kind::Tree, n) {
            ends[path.iter().last().unwrap().index()] += 1;
        }
        assert!(ends.iter().all(|ends| *ends <= 2), "tree of {n}: {ends:?}");
    }
}

#[test]
fn a_majority_follows_its_site() {
    let system = build(Kind::Majority, 5).unwrap();
    let four = SiteId::new(3);
    assert_eq!(system.pick_for(four, &SiteSet::full(5)), Some(set([3, 4, 0])));
    assert_eq!(system.pick_for(four, &set([0, 1, 2, 3])), Some(set([3, 0, 1])), "5 is down");
    assert_eq!(system.pick_for(four, &set([0, 1, 2])), Some(set([0, 1, 2])), "4 itself is down");
}

#[test]
fn a_detour_keeps_what_is_left_of_the_own_quorum() {
    let grid = build(Kind::Grid, 9).unwrap();
    let mut live = SiteSet::full(9);
    live.remove(SiteId::new(1));
    let detour = grid.pick_for(SiteId::new(4), &live).unwrap();
    assert_eq!(detour, set([3, 4, 5, 0, 6]), "the own row, and another column");
    let plane = build(Kind::Plane, 7).unwrap();
    live = SiteSet::full(7);
    live.remove(SiteId::new(1));
    let detour = plane.pick_for(SiteId::new(0), &live).unwrap();
    assert!(detour.contains(SiteId::new(0)), "{detour} is a line through the site");
}

#[test]
fn a_tree_goes_around_dead_nodes() {
    let tree = build(Kind::Tree, 7).unwrap();
    let mut live = SiteSet::full(7);
    live.remove(SiteId::new(0));
    let detour = tree.pick_for(SiteId::new(3), &live).unwrap();
    assert_eq!(detour.len(), 4, "{detour}: a path of each child of the root");
    live.remove(SiteId::new(5));
    live.remove(SiteId::new(6));
    assert_eq!(tree.pick_for(SiteId::new(3), &live), None);
}

#[test]
fn ten_thousand_sites_are_no_obstacle() {
    for kind in Kind::all() {
        for n in [9_999, 10_000] {
            let system = build(*kind, n).unwrap();
            let mut live = SiteSet::full(n);
            let mut numbers = Numbers(3);
            for _ in 0..3 {
                let site = SiteId::new(numbers.below(n));
                let own = system.pick_for(site, &live).unwrap();
                assert!(own.contains(site) && system.is_quorum(&own), "{kind} of {n}");
                let member = own.iter().nth(own.len() / 2).unwrap();
                live.remove(member);
                let other = system.pick_for(site, &live).unwrap();
                assert!(other.is_subset(&live) && system.is_quorum(&other), "{kind} of {n}");
                assert!(own.len() <= system.max_size() && own.len() >= system.min_size());
                live.insert(member);
            }
        }
    }
}

#[test]
fn the_load_of_a_tree_is_shared_at_every_size() {
    for n in 1..=600 {
        let load = build(Kind::Tree, n).unwrap().load_bounds();
        assert!(load.lower > 0.0 && load.upper <= 1.0, "tree of {n}: {load:?}");
    }
}

/// A system behind the trait alone, as strangers would write it: all measures are the defaults.
#[test]
fn formulas_agree_with_the_searches() {
    #[derive(Debug)]
    struct Plain(std::sync::Arc<dyn QuorumSystem>);

    impl QuorumSystem for Plain {
        fn name(&self) -> String {
            self.0.name()
        }
        fn n(&self) -> usize {
            self.0.n()
        }
        fn is_quorum(&self, set: &SiteSet) -> bool {
            self.0.is_quorum(set)
        }
        fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
            self.0.quorums()
        }
        fn min_size(&self) -> usize {
            self.0.min_size()
        }
        fn max_size(&self) -> usize {
            self.0.max_size()
        }
        fn cheapest(&self, prices: &Prices) -> Option<SiteSet> {
            self.0.cheapest(prices)
        }
        fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
            self.0.pick_for(site, live)
        }
    }

    let mut numbers = Numbers(11);
    for kind in Kind::all() {
        for n in 1..=13 {
            let plain = Plain(build(*kind, n).unwrap());
            assert_eq!(plain.resilience(), plain.0.resilience(), "{kind} of {n}");
            let up: Vec<f64> = (0..n).map(|_| numbers.fraction()).collect();
            let (searched, formula) =
                (plain.availability(&up).unwrap(), plain.0.availability(&up).unwrap());
            assert!((searched - formula).abs() < 1e-9, "{kind} of {n}: {searched} {formula}");
            let (searched, formula) = (plain.load_bounds(), plain.0.load_bounds());
            assert!(
                searched.lower <= formula.lower + 1e-9,
                "{kind} of {n}: {searched:?} {formula:?}"
            );
            assert!(
                searched.upper >= formula.upper - 1e-9,
                "{kind} of {n}: {searched:?} {formula:?}"
            );
        }
    }
}
