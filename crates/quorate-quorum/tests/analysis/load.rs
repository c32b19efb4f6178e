//! Loads: proofs that hold, and proofs that were tampered with.

use proptest::prelude::*;
use quorate_quorum::analysis::{AnalysisError, Class, Proof, load, mixed_load, quick_load};
use quorate_quorum::{Kind, QuorumError, SiteId, build};

use crate::tools::{all, coteries, fixed_seed, is_proved, set};

proptest! {
    #![proptest_config(fixed_seed(128))]

    #[test]
    fn both_programs_agree(
        quorums in coteries(),
        reads in prop::collection::vec(1_u32..64, 1..6),
        speeds in prop::collection::vec(1_u32..5, 6),
        share in 0_u32..=4,
    ) {
        let share = f64::from(share) / 4.0;
        let reads = reads.into_iter().map(crate::tools::from_mask).collect();
        let speeds: Vec<_> = speeds.into_iter().map(f64::from).collect();
        let classes = [
            Class { share, quorums: reads },
            Class { share: 1.0 - share, quorums },
        ];
        let load = mixed_load(&classes, &speeds).unwrap();
        prop_assert!(is_proved(&load, &classes, &speeds), "{load:?}");
        prop_assert!(load.gap().abs() < 1e-9, "{load:?}");
    }
}

#[test]
fn a_proof_that_was_tampered_with_is_seen() {
    let tree = build(Kind::Tree, 5).unwrap();
    let classes = [Class { share: 1.0, quorums: all(&*tree) }];
    let honest = load(&*tree);
    assert_eq!(honest.proof, Proof::Programs);
    let speeds = [1.0; 5];
    assert!(is_proved(&honest, &classes, &speeds));
    let mut busier = honest.clone();
    busier.upper -= 0.01;
    assert!(!is_proved(&busier, &classes, &speeds));
    let mut heavier = honest.clone();
    heavier.weights[0] *= 1.1;
    heavier.lower += 0.01;
    assert!(!is_proved(&heavier, &classes, &speeds));
    let mut rarer = honest.clone();
    rarer.strategy[0].often /= 2.0;
    assert!(!is_proved(&rarer, &classes, &speeds));
    let mut foreign = honest;
    foreign.strategy[0].quorum.insert(SiteId::new(3));
    foreign.strategy[0].quorum.insert(SiteId::new(4));
    assert!(!is_proved(&foreign, &classes, &speeds));
}

#[test]
fn formulas_agree_with_programs() {
    for kind in Kind::all() {
        for n in 1..=13 {
            let system = build(*kind, n).unwrap();
            let (formula, proved) = (system.load_bounds(), load(&*system));
            assert!(proved.gap() < 1e-9, "{kind} of {n}: {proved:?}");
            assert!(formula.lower <= proved.upper + 1e-9, "{kind} of {n}: {formula:?}");
            assert!(formula.upper >= proved.lower - 1e-9, "{kind} of {n}: {formula:?}");
            let quick = quick_load(&*system);
            assert!(quick.gap() < 0.01, "{kind} of {n}: {quick:?}");
            assert!(quick.upper > proved.lower - 1e-9, "{kind} of {n}: {quick:?}");
            assert!(quick.lower < proved.upper + 1e-9, "{kind} of {n}: {quick:?}");
        }
    }
}

#[test]
fn one_vote_more_for_one_site_has_a_closed_form() {
    // With x the share of quorums that use the site of two votes: x = (m + 1)/(2m + 1).
    for m in 2_u32..=6 {
        let system = build(Kind::Weighted, 2 * m as usize).unwrap();
        let expected = f64::from(m + 1) / f64::from(2 * m + 1);
        let load = load(&*system);
        assert!((load.upper - expected).abs() < 1e-9, "{load:?}");
        assert!((load.lower - expected).abs() < 1e-9, "{load:?}");
    }
}

#[test]
fn quorums_too_many_to_list_still_have_a_load() {
    // 2^32 - 1 quorums in a tree of 63; half a million weighted majorities of 22.
    let system = build(Kind::Tree, 63).unwrap();
    let found = load(&*system);
    assert!((found.upper - 2.0 / 7.0).abs() < 1e-9 && found.gap() < 1e-9, "{found:?}");
    let system = build(Kind::Weighted, 22).unwrap();
    let found = load(&*system);
    assert_eq!(found.proof, Proof::Columns);
    assert!(found.gap() < 1e-3, "{} {}", found.lower, found.upper);
    assert!((found.lower - 12.0 / 23.0).abs() < 1e-9, "{}", found.lower);
    let classes = [Class { share: 1.0, quorums: vec![] }];
    let uses = found.uses(&classes, 22);
    assert!(found.strategy.iter().all(|choice| system.is_quorum(&choice.quorum)));
    assert!(uses.iter().all(|used| *used <= found.upper + 1e-9), "{uses:?}");
}

#[test]
fn a_faster_site_is_used_more() {
    let majority = build(Kind::Majority, 3).unwrap();
    let classes = [Class { share: 1.0, quorums: all(&*majority) }];
    // Site 1 in every quorum, the others in half of them: 1/2 of their speed each.
    let load = mixed_load(&classes, &[2.0, 1.0, 1.0]).unwrap();
    assert!((load.upper - 0.5).abs() < 1e-9, "{load:?}");
    assert!((load.capacity() - 2.0).abs() < 1e-8);
    assert!((load.uses(&classes, 3)[0] - 1.0).abs() < 1e-9);
}

#[test]
fn what_no_load_can_have_is_refused() {
    let class = |share, sites: &[usize]| Class { share, quorums: vec![set(sites)] };
    let refused = |class: Class, speeds: &[f64]| mixed_load(&[class], speeds).unwrap_err();
    assert_eq!(refused(class(1.5, &[0]), &[1.0]), AnalysisError::NotAShare(1.5).into());
    assert_eq!(
        refused(class(1.0, &[0]), &[0.0]).to_string(),
        "the speed of site 1 cannot be 0: give a positive number"
    );
    assert_eq!(
        refused(class(1.0, &[3]), &[1.0]),
        QuorumError::UnknownSite { site: SiteId::new(3), n: 1 }
    );
    let none = Class { share: 1.0, quorums: vec![] };
    assert_eq!(refused(none, &[1.0]), QuorumError::NoQuorum);
}
