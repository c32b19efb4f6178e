//! Votes of any size.

use proptest::prelude::*;
use quorate_quorum::{QuorumError, QuorumSystem, SiteId, SiteSet, VOTES_MAX, Weighted};

use crate::tools::{from_mask, set};

/// All minimal winning sets, straight from the definition.
fn by_definition(votes: &[u32]) -> Vec<SiteSet> {
    let total: u32 = votes.iter().sum();
    let wins = |mask: u64| {
        let won: u32 = (0..votes.len()).filter(|at| mask >> at & 1 == 1).map(|at| votes[at]).sum();
        2 * won > total
    };
    let spares =
        |mask: u64| (0..votes.len()).any(|at| mask >> at & 1 == 1 && wins(mask & !(1 << at)));
    (0..1 << votes.len()).filter(|mask| wins(*mask) && !spares(*mask)).map(from_mask).collect()
}

prop_compose! {
    fn some_votes()(votes in prop::collection::vec(0..6_u32, 1..10)) -> Vec<u32> {
        if votes.iter().all(|votes| *votes == 0) { vec![1] } else { votes }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn quorums_are_the_minimal_winning_sets(votes in some_votes()) {
        let system = Weighted::new(&votes).unwrap();
        let mut listed: Vec<_> = system.quorums().collect();
        let mut defined = by_definition(&votes);
        listed.sort_by_key(|set| set.iter().collect::<Vec<_>>());
        defined.sort_by_key(|set| set.iter().collect::<Vec<_>>());
        prop_assert_eq!(&listed, &defined);
        prop_assert_eq!(Some(system.min_size()), defined.iter().map(SiteSet::len).min());
        prop_assert_eq!(Some(system.max_size()), defined.iter().map(SiteSet::len).max());
    }

    #[test]
    fn picks_take_no_site_that_is_later_than_needed(
        votes in some_votes(),
        live: u64,
        order in Just((0..10).map(SiteId::new).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let system = Weighted::new(&votes).unwrap();
        let live = from_mask(live & ((1 << votes.len()) - 1));
        let picked = system.pick(&live, &order);
        prop_assert_eq!(picked.is_some(), system.is_quorum(&live));
        let Some(picked) = picked else { return Ok(()) };
        prop_assert!(picked.is_subset(&live) && system.quorums().any(|quorum| quorum == picked));
        let latest = order.iter().rposition(|site| picked.contains(*site)).unwrap();
        let earlier = order[..latest].iter().copied().filter(|site| live.contains(*site)).collect();
        prop_assert!(!system.is_quorum(&earlier));
    }

    #[test]
    fn own_quorums_win_and_contain_their_site(votes in some_votes()) {
        let system = Weighted::new(&votes).unwrap();
        for site in SiteId::all(votes.len()) {
            let own = system.pick_for(site, &SiteSet::full(votes.len())).unwrap();
            prop_assert!(own.contains(site) && system.is_quorum(&own));
        }
    }

    #[test]
    fn measures_agree_with_the_definition(votes in some_votes(), percent in 0..=100_u32) {
        let system = Weighted::new(&votes).unwrap();
        let n = votes.len();
        let up = f64::from(percent) / 100.0;
        let live = (0..1_u64 << n).filter(|mask| system.is_quorum(&from_mask(*mask)));
        let of = |mask: u64| -> f64 {
            (0..n).map(|at| if mask >> at & 1 == 1 { up } else { 1.0 - up }).product()
        };
        let sum: f64 = live.map(of).sum();
        prop_assert!((system.availability(&vec![up; n]).unwrap() - sum).abs() < 1e-9);
        let lost = (0..1_u64 << n).filter(|mask| !system.is_quorum(&from_mask(*mask)));
        let fewest_down = lost.map(|mask| n - mask.count_ones() as usize).min().unwrap();
        prop_assert_eq!(system.resilience(), Ok(fewest_down - 1));
    }
}

#[test]
fn one_vote_more_breaks_the_tie() {
    let system = Weighted::without_ties(4).unwrap();
    assert_eq!(system, Weighted::new(&[2, 1, 1, 1]).unwrap());
    let fails = 1.0 - system.availability(&[0.9; 4]).unwrap();
    assert!((fails - 0.0280).abs() < 0.00005, "{fails}");
    assert!((system.load_bounds().lower - 0.6).abs() < 1e-9);
    assert!(crate::tools::is_non_dominated(&system));
}

#[test]
fn a_site_without_a_vote_is_never_needed() {
    let system = Weighted::new(&[1, 0, 1, 1]).unwrap();
    assert!(system.quorums().all(|quorum| !quorum.contains(SiteId::new(1))));
    assert_eq!(system.pick_for(SiteId::new(1), &SiteSet::full(4)), Some(set([1, 2, 3])));
}

#[test]
fn votes_that_decide_nothing_are_refused() {
    assert_eq!(Weighted::new(&[]), Err(QuorumError::NoSites));
    assert_eq!(Weighted::new(&[0, 0]), Err(QuorumError::NoVotes));
    let most = u32::try_from(VOTES_MAX).unwrap();
    assert!(Weighted::new(&[most]).is_ok());
    assert_eq!(Weighted::new(&[most, 1]), Err(QuorumError::TooManyVotes(u64::from(most) + 1)));
    assert_eq!(
        Weighted::new(&[u32::MAX; 3]),
        Err(QuorumError::TooManyVotes(3 * u64::from(u32::MAX)))
    );
}
