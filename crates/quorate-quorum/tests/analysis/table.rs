//! The check values of the catalogue: load with both proofs, and whether it is dominated.

use std::sync::Arc;

use quorate_quorum::analysis::{Class, dominates, domination, dual, load, minimal_form};
use quorate_quorum::{Kind, QuorumSystem, SiteSet, build};

use crate::tools::{all, is_proved};

/// Kind, sites, load, whether it is non-dominated. Where the catalogue has a rounded load, here
/// stands the fraction that the programs find.
const TABLE: &[(&str, usize, f64, bool)] = &[
    ("majority", 3, 2.0 / 3.0, true),
    ("majority", 5, 3.0 / 5.0, true),
    ("majority", 7, 4.0 / 7.0, true),
    ("majority", 9, 5.0 / 9.0, true),
    ("majority", 4, 3.0 / 4.0, false),
    ("majority", 8, 5.0 / 8.0, false),
    ("weighted", 4, 3.0 / 5.0, true),
    ("grid", 9, 5.0 / 9.0, false),
    ("grid", 16, 7.0 / 16.0, false),
    ("cover", 9, 5.0 / 9.0, false),
    ("plane", 7, 3.0 / 7.0, true),
    ("plane", 13, 4.0 / 13.0, false),
    ("tree", 3, 2.0 / 3.0, true),
    ("tree", 7, 1.0 / 2.0, true),
    ("tree", 15, 2.0 / 5.0, true),
    ("tree", 5, 4.0 / 7.0, true),
    ("tree", 10, 6.0 / 13.0, true),
    ("hqc", 9, 4.0 / 9.0, true),
    ("wall:1,2,3", 6, 1.0 / 2.0, true),
    ("wall:1,2,3,4", 10, 2.0 / 5.0, true),
    ("wall:1,2,3,3", 9, 3.0 / 7.0, true),
    ("wall:3,3,3", 9, 9.0 / 19.0, false),
    ("wheel", 7, 6.0 / 11.0, true),
    ("grid-set", 12, 1.0 / 2.0, false),
    ("rst", 12, 1.0 / 2.0, false),
];

fn built(kind: &str, n: usize) -> Arc<dyn QuorumSystem> {
    build(kind.parse().unwrap(), n).unwrap()
}

#[test]
fn loads_are_proved_from_both_sides() {
    for &(kind, n, expected, _) in TABLE {
        let system = built(kind, n);
        let load = load(&*system);
        let classes = [Class { share: 1.0, quorums: all(&*system) }];
        assert!(is_proved(&load, &classes, &vec![1.0; n]), "{kind} of {n}");
        assert!(load.gap() < 1e-9, "{kind} of {n}: {load:?}");
        assert!((load.upper - expected).abs() < 1e-9, "{kind} of {n}: {}", load.upper);
    }
}

#[test]
fn what_is_dominated_is_found_with_a_better_coterie() {
    for &(kind, n, _, non_dominated) in TABLE {
        let system = built(kind, n);
        let quorums = minimal_form(all(&*system));
        let found = domination(&*system).unwrap();
        assert_eq!(found.is_none(), non_dominated, "{kind} of {n}");
        let Some(found) = found else { continue };
        let witness = found.witness.expect("small systems have a witness");
        assert!(!system.is_quorum(&witness), "{kind} of {n}");
        assert!(quorums.iter().all(|quorum| !quorum.is_disjoint(&witness)), "{kind} of {n}");
        let better = found.better.expect("and a better coterie");
        assert!(dominates(&better, &quorums), "{kind} of {n}");
        assert_eq!(dual(&better).unwrap(), better, "{kind} of {n}: it is its own dual");
    }
}

#[test]
fn the_dual_tells_the_same_as_the_availability_at_a_half() {
    for kind in Kind::all() {
        for n in 1..=9 {
            let system = build(*kind, n).unwrap();
            let quorums: Vec<SiteSet> = minimal_form(all(&*system));
            let equals = dual(&quorums).unwrap() == quorums;
            assert_eq!(domination(&*system).unwrap().is_none(), equals, "{kind} of {n}");
        }
    }
}

#[test]
fn a_set_that_could_be_a_quorum_is_found_where_nothing_can_be_computed() {
    for (kind, n) in [(Kind::Plane, 31), (Kind::Plane, 57), (Kind::Cyclic, 40)] {
        let system = build(kind, n).unwrap();
        assert!(system.availability(&vec![0.5; n]).is_err(), "{kind} of {n}");
        let witness = domination(&*system).unwrap().and_then(|found| found.witness);
        let witness = witness.expect("large planes and covers leave many sets undecided");
        assert!(!system.is_quorum(&witness), "{kind} of {n}: {witness}");
        assert!(system.quorums().all(|quorum| !quorum.is_disjoint(&witness)), "{kind} of {n}");
    }
}
