//! Laws taken away: the checks must see it.

use quorate_quorum::{Kind, QuorumError, SiteId, SiteSet, build, check_meets};

use crate::tools::set;

fn meet(quorums: &[SiteSet]) -> Result<(), QuorumError> {
    check_meets(quorums.iter().map(|quorum| (SiteId::new(0), quorum)))
}

#[test]
fn half_of_the_sites_is_not_enough() {
    let halves = [set([0, 1]), set([0, 2]), set([2, 3])];
    assert!(matches!(meet(&halves), Err(QuorumError::DoNotMeet { .. })));
}

#[test]
fn rows_alone_do_not_meet() {
    let rows = [set([0, 1, 2]), set([3, 4, 5]), set([6, 7, 8])];
    assert!(matches!(meet(&rows), Err(QuorumError::DoNotMeet { .. })));
}

#[test]
fn a_majority_of_the_live_sites_is_no_quorum() {
    let system = build(Kind::Majority, 5).unwrap();
    assert!(!system.is_quorum(&set([0, 1])), "2 of 3 that are up");
    assert!(matches!(meet(&[set([0, 1]), set([2, 3, 4])]), Err(QuorumError::DoNotMeet { .. })));
}

#[test]
fn an_empty_set_meets_nothing() {
    assert_eq!(meet(&[SiteSet::new()]), Err(QuorumError::EmptyQuorum(SiteId::new(0))));
}
