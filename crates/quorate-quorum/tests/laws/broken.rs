//! Laws taken away: the checks must see it.

use quorate_quorum::{
    Cover, Kind, Prices, QuorumError, Reads, SiteId, SiteSet, Weighted, build, check_meets,
};

use crate::tools::{from_mask, set};

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

/// All unions of one set of each list.
fn unions(lists: &[Vec<SiteSet>]) -> Vec<SiteSet> {
    lists.iter().fold(vec![SiteSet::new()], |so_far, list| {
        let with = |one: &SiteSet| {
            let one = one.clone();
            list.iter().map(move |more| one.iter().chain(more.iter()).collect())
        };
        so_far.iter().flat_map(with).collect()
    })
}

/// The sets of two of three sites from `first` on.
fn two_of_three(first: usize) -> Vec<SiteSet> {
    vec![set([first, first + 1]), set([first + 1, first + 2]), set([first, first + 2])]
}

#[test]
fn a_row_of_a_wall_needs_a_site_of_every_row_below() {
    let (top, middle) = (set([0]), set([1, 2]));
    assert!(matches!(meet(&[top, middle.clone()]), Err(QuorumError::DoNotMeet { .. })));
    assert!(matches!(meet(&[middle, set([3, 4, 5])]), Err(QuorumError::DoNotMeet { .. })));
}

#[test]
fn one_group_of_three_is_not_enough() {
    let groups = [two_of_three(0), two_of_three(3), two_of_three(6)];
    let single = groups.concat();
    assert!(matches!(meet(&single), Err(QuorumError::DoNotMeet { .. })));
    let pairs = [[0, 1], [0, 2], [1, 2]].map(|pair| unions(&pair.map(|at| groups[at].clone())));
    assert_eq!(meet(&pairs.concat()), Ok(()));
    let hqc = build(Kind::Hqc, 9).unwrap();
    assert_eq!(hqc.quorums().count(), pairs.concat().len());
    assert!(hqc.quorums().all(|quorum| pairs.concat().contains(&quorum)));
}

#[test]
fn a_minority_inside_a_group_is_not_enough() {
    let minority = |first: usize| vec![set([first]), set([first + 1]), set([first + 2])];
    let groups = [minority(0), minority(3), minority(6)];
    let pairs = [[0, 1], [0, 2], [1, 2]].map(|pair| unions(&pair.map(|at| groups[at].clone())));
    assert!(matches!(meet(&pairs.concat()), Err(QuorumError::DoNotMeet { .. })));
}

#[test]
fn a_cover_without_a_full_row_does_not_meet_others() {
    let rows: Vec<Vec<SiteSet>> =
        [0, 3, 6].map(|row| [0, 1, 2].map(|at| set([row + at])).to_vec()).to_vec();
    assert!(matches!(meet(&unions(&rows)), Err(QuorumError::DoNotMeet { .. })));
}

#[test]
fn readers_meet_writers_and_writers_each_other() {
    let reads = |system: &dyn Reads| -> Vec<SiteSet> { system.read_quorums().collect() };
    let votes = Weighted::with_reads(&[2, 1, 1, 1], 2, 4).unwrap();
    let cover = Cover::new(9).unwrap();
    for system in [&votes as &dyn Reads, &cover] {
        for read in reads(system) {
            assert!(system.quorums().all(|write| !write.is_disjoint(&read)), "{read}");
            assert!(system.is_read_quorum(&read) && !system.is_quorum(&read), "{read}");
            let site = read.iter().next().unwrap();
            let mut less = read.clone();
            less.remove(site);
            assert!(!system.is_read_quorum(&less), "{less}");
        }
        let least = reads(system).iter().map(SiteSet::len).min();
        assert_eq!(least, Some(system.read_size()));
    }
    // One vote less to read, and a reader may miss a writer.
    assert!(Weighted::with_reads(&[2, 1, 1, 1], 1, 4).is_err());
    assert!(set([1]).is_disjoint(&set([0, 2, 3])), "1 vote and 4 votes");
}

#[test]
fn readers_are_picked_and_measured_like_writers() {
    let votes = Weighted::with_reads(&[3, 1, 1, 1, 1], 3, 5).unwrap();
    let cover = Cover::new(7).unwrap();
    for system in [&votes as &dyn Reads, &cover] {
        let n = system.n();
        let up: Vec<f64> =
            (1..=n).map(|site| 1.0 - 0.05 * f64::from(u8::try_from(site).unwrap())).collect();
        let mut sum = 0.0;
        for mask in 0..1_u64 << n {
            let live = from_mask(mask);
            let prices = SiteId::all(n).map(|site| live.contains(site).then_some(1));
            let picked = system.pick_read(&Prices::of_each(prices));
            assert_eq!(picked.is_some(), system.is_read_quorum(&live), "{live}");
            if let Some(picked) = picked {
                assert!(picked.is_subset(&live) && system.is_read_quorum(&picked), "{picked}");
                let chance = |site: SiteId| {
                    let up = up[site.index()];
                    if live.contains(site) { up } else { 1.0 - up }
                };
                sum += SiteId::all(n).map(chance).product::<f64>();
            }
        }
        assert!((system.read_availability(&up).unwrap() - sum).abs() < 1e-9);
    }
}
