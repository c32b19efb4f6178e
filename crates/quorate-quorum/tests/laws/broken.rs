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

/// The quorums of a node in a heap of 7, where a dead node is replaced by the paths of `detour` of
/// its children.
fn tree_quorums(node: usize, detour: usize) -> Vec<SiteSet> {
    if node >= 3 {
        return vec![set([node])];
    }
    let [left, right] = [2 * node + 1, 2 * node + 2].map(|child| tree_quorums(child, detour));
    let mut quorums: Vec<_> = left.iter().chain(&right).cloned().collect();
    for quorum in &mut quorums {
        quorum.insert(SiteId::new(node));
    }
    if detour == 1 {
        quorums.extend(left.into_iter().chain(right));
        return quorums;
    }
    for one in left {
        quorums.extend(right.iter().map(|other| one.iter().chain(other.iter()).collect()));
    }
    quorums
}

#[test]
fn a_detour_by_one_child_only_does_not_meet_the_others() {
    assert!(matches!(meet(&tree_quorums(0, 1)), Err(QuorumError::DoNotMeet { .. })));
    let right = tree_quorums(0, 2);
    assert_eq!(meet(&right), Ok(()));
    let tree = build(Kind::Tree, 7).unwrap();
    assert!(right.iter().all(|quorum| tree.quorums().any(|other| other == *quorum)));
    assert_eq!(tree.quorums().count(), right.len());
}

#[test]
fn a_block_that_lacks_a_difference_does_not_meet_its_rotations() {
    let rotations: Vec<SiteSet> = (0..8)
        .map(|by| [0, 1, 3].map(|at| SiteId::new((at + by) % 8)).into_iter().collect())
        .collect();
    assert!(matches!(meet(&rotations), Err(QuorumError::DoNotMeet { .. })), "4 is no difference");
}

#[test]
fn an_empty_set_meets_nothing() {
    assert_eq!(meet(&[SiteSet::new()]), Err(QuorumError::EmptyQuorum(SiteId::new(0))));
}
