//! Each operation against its definition, on small systems drawn by a fixed seed.

use proptest::prelude::*;
use quorate_quorum::analysis::{
    disjoint_pair, disjoint_pair_between, dominates, domination, dual, importance, minimal_form,
    repaired, resilient_sets, smallest_stop, weak_spots,
};
use quorate_quorum::{QuorumError, QuorumSystem, SiteId, SiteSet};

use crate::tools::{coteries, fixed_seed, from_mask, mask, set, sets, system};

const SITES: usize = 6;
const ALL: u32 = 63;

fn contains_one(masks: &[u32], set: u32) -> bool {
    masks.iter().any(|mask| mask & !set == 0)
}

fn minimal(masks: impl Fn(u32) -> bool) -> Vec<u32> {
    let smaller = |set: u32| (0..SITES).any(|at| set >> at & 1 == 1 && masks(set ^ 1 << at));
    (0..=ALL).filter(|set| masks(*set) && !smaller(*set)).collect()
}

fn sorted(sets: &[SiteSet]) -> Vec<u32> {
    let mut masks: Vec<_> = sets.iter().map(mask).collect();
    masks.sort_unstable();
    masks
}

fn is_non_dominated(masks: &[u32]) -> bool {
    (0..=ALL).all(|set| contains_one(masks, set) != contains_one(masks, ALL & !set))
}

proptest! {
    #![proptest_config(fixed_seed(256))]

    #[test]
    fn minimal_forms_keep_what_contains_no_other(masks in sets()) {
        let kept = minimal_form(masks.iter().copied().map(from_mask));
        prop_assert_eq!(sorted(&kept), minimal(|set| contains_one(&masks, set)));
        prop_assert!(kept.is_sorted_by_key(SiteSet::len));
    }

    #[test]
    fn duals_are_the_minimal_sets_that_hit_all(masks in sets()) {
        let quorums: Vec<_> = masks.iter().copied().map(from_mask).collect();
        let hits = |set: u32| masks.iter().all(|mask| mask & set != 0);
        prop_assert_eq!(sorted(&dual(&quorums).unwrap()), minimal(hits));
        let least = (0..=ALL).filter(|set| hits(*set)).map(u32::count_ones).min().unwrap();
        let stop = smallest_stop(SITES, &quorums).unwrap();
        prop_assert!(hits(mask(&stop)));
        prop_assert_eq!(stop.len(), least as usize);
    }

    #[test]
    fn a_pair_that_does_not_meet_is_found_if_there_is_one(one in sets(), other in sets()) {
        let (ones, others): (Vec<_>, Vec<_>) = (
            one.iter().copied().map(from_mask).collect(),
            other.iter().copied().map(from_mask).collect(),
        );
        let apart = |a: &[u32], b: &[u32]| a.iter().any(|a| b.iter().any(|b| a & b == 0));
        prop_assert_eq!(disjoint_pair(&ones).is_some(), apart(&one, &one));
        let between = disjoint_pair_between(&ones, &others);
        prop_assert_eq!(between.is_some(), apart(&one, &other));
        if let Some((a, b)) = between {
            prop_assert!(a.is_disjoint(b) && ones.contains(a) && others.contains(b));
        }
    }

    #[test]
    fn repaired_coteries_dominate_and_are_dominated_by_none(quorums in coteries()) {
        let masks = sorted(&quorums);
        let better = repaired(&quorums).unwrap();
        prop_assert!(disjoint_pair(&better).is_none());
        prop_assert!(is_non_dominated(&sorted(&better)));
        prop_assert_eq!(dominates(&better, &quorums), !is_non_dominated(&masks));
        prop_assert_eq!(better == quorums, is_non_dominated(&masks));
        prop_assert!(!dominates(&quorums, &better));
    }

    #[test]
    fn listed_systems_are_measured_by_definition(quorums in coteries()) {
        let Some(system) = system(SITES, &quorums) else { return Ok(()) };
        let masks = sorted(&quorums);
        let found = domination(&system).unwrap();
        prop_assert_eq!(found.is_none(), is_non_dominated(&masks));
        if let Some(witness) = found.and_then(|found| found.witness) {
            prop_assert!(!contains_one(&masks, mask(&witness)));
            prop_assert!(!contains_one(&masks, ALL & !mask(&witness)));
        }
        let up = [0.9, 0.8, 0.95, 0.5, 0.7, 0.99];
        let weight = |live: u32| -> f64 {
            let site = |at: usize| if live >> at & 1 == 1 { up[at] } else { 1.0 - up[at] };
            (0..SITES).map(site).product()
        };
        let live = |set: &u32| contains_one(&masks, *set);
        let available: f64 = (0..=ALL).filter(live).map(weight).sum();
        prop_assert!((system.availability(&up).unwrap() - available).abs() < 1e-12);
        let spots = weak_spots(&system);
        for (at, told) in importance(&system, &up).unwrap().into_iter().enumerate() {
            // The pairs of sets in which this site alone decides.
            let decides = |set: &u32| live(set) && !live(&(set & !(1 << at)));
            let exact: f64 = (0..=ALL).filter(decides).map(|set| weight(set) / up[at]).sum();
            prop_assert!((told - exact).abs() < 1e-12, "site {at}: {told} {exact}");
            let site = SiteId::new(at);
            let (used, always) = (
                masks.iter().any(|mask| mask >> at & 1 == 1),
                masks.iter().all(|mask| mask >> at & 1 == 1),
            );
            prop_assert_eq!(spots.idle.contains(&site), !used);
            prop_assert_eq!(spots.vetoers.contains(&site), always);
        }
    }

    #[test]
    fn resilient_sets_stand_any_losses(quorums in coteries(), losses in 0_u32..4) {
        let Some(system) = system(SITES, &quorums) else { return Ok(()) };
        let masks = sorted(&quorums);
        let stands = |set: u32| {
            let mut lost = (0..=ALL).filter(|lost| lost.count_ones() <= losses);
            lost.all(|lost| contains_one(&masks, set & !lost))
        };
        let found = resilient_sets(&system, losses as usize).unwrap();
        prop_assert_eq!(sorted(&found), minimal(stands));
    }
}

#[test]
fn one_member_less_and_a_coterie_falls_apart() {
    let quorums = [set(&[0, 1]), set(&[1, 2]), set(&[0, 2])];
    assert_eq!(disjoint_pair(&quorums), None);
    let broken = [set(&[0, 1]), set(&[1, 2]), set(&[2])];
    assert_eq!(disjoint_pair(&broken), Some((&broken[0], &broken[2])));
    assert_eq!(smallest_stop(3, &[set(&[0]), set(&[])]), Err(QuorumError::NoQuorum));
}

#[test]
fn duals_that_explode_are_refused() {
    // Twenty pairs without a common site: any one of each hits all, in a million ways.
    let pairs: Vec<_> = (0..20).map(|pair| set(&[2 * pair, 2 * pair + 1])).collect();
    let error = dual(&pairs).unwrap_err().to_string();
    assert!(error.contains("only up to 20000 sets"), "{error}");
}
