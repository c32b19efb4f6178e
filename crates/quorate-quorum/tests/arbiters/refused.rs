//! Families that would let too many in, and questions without an answer.

use quorate_quorum::{Arbiters, QuorumError, SITES_MAX, SiteId, SiteSet, UNITS_MAX};

fn set<const K: usize>(sites: [usize; K]) -> SiteSet {
    sites.into_iter().map(SiteId::new).collect()
}

fn refusal(arbiters: Result<Arbiters, QuorumError>) -> String {
    arbiters.expect_err("refused").to_string()
}

#[test]
fn quorums_without_a_common_site_are_named() {
    // Any two meet, as a lock needs; three requests for one unit of two do not.
    let one = vec![set([0, 1]), set([1, 2]), set([0, 2])];
    let error = refusal(Arbiters::listed(3, &[one, vec![set([0, 1, 2])]]));
    assert_eq!(
        error,
        "{1 2} for 1, {2 3} for 1, {1 3} for 1: \
         no site is in all, so 3 units of 2 could be out at once"
    );
}

#[test]
fn lists_are_refused_with_the_reason() {
    let all = || vec![set([0, 1])];
    let cases = [
        (Arbiters::listed(2, &[]), "a pool needs at least 1 unit"),
        (Arbiters::listed(0, &[all()]), "a cluster needs at least 1 site"),
        (
            Arbiters::listed(2, &[all(), vec![], all()]),
            "no quorum for h=2: list one for each h from 1 to 3",
        ),
        (
            Arbiters::listed(2, &[vec![set([0, 2])]]),
            "there is no site 3: the cluster has sites 1 to 2",
        ),
        (
            Arbiters::listed(2, &[vec![set([])]]),
            "a quorum for h=1 is empty: name its members, or leave it out",
        ),
    ];
    for (arbiters, message) in cases {
        assert_eq!(refusal(arbiters), message);
    }
}

#[test]
fn thresholds_are_refused_with_the_reason() {
    let cases = [
        (Arbiters::uniform(0, 2), "a cluster needs at least 1 site".to_owned()),
        (Arbiters::improved(3, 0), "a pool needs at least 1 unit".to_owned()),
        (
            Arbiters::thresholds(6, &[5, 3]),
            "any 3 of 6 sites are no quorums: take 4 to 6".to_owned(),
        ),
        (
            Arbiters::thresholds(6, &[7, 4]),
            "any 7 of 6 sites are no quorums: take 4 to 6".to_owned(),
        ),
        (
            Arbiters::uniform(SITES_MAX + 1, 2),
            format!("{} sites are too many: a cluster has 1 to {SITES_MAX}", SITES_MAX + 1),
        ),
        (
            Arbiters::uniform(3, UNITS_MAX + 1),
            format!("{} units are too many: a pool has 1 to {UNITS_MAX}", UNITS_MAX + 1),
        ),
    ];
    for (arbiters, message) in cases {
        assert_eq!(refusal(arbiters), message);
    }
}

#[test]
fn nobody_can_ask_for_nothing_or_for_too_much() {
    let arbiters = Arbiters::uniform(5, 3).unwrap();
    for h in [0, 4, usize::MAX] {
        assert_eq!(arbiters.of(h).unwrap_err(), QuorumError::BadUnits { h, k: 3 });
    }
    assert_eq!(arbiters.of(9).unwrap_err().to_string(), "invalid units: 9 of 3: ask for 1 to 3");
}

#[test]
fn a_list_is_spread_over_the_sites() {
    let one = vec![set([0, 1, 2])];
    let two = vec![set([0, 1]), set([1, 2]), set([0, 2])];
    let arbiters = Arbiters::listed(3, &[one, two]).unwrap();
    let all = SiteSet::full(3);
    let own: Vec<_> =
        SiteId::all(3).map(|site| arbiters.of(2).unwrap().pick_for(site, &all).unwrap()).collect();
    assert_eq!(own, [set([0, 1]), set([1, 2]), set([0, 2])]);
    assert_eq!(arbiters.name(), "listed arbiters of 3 for 2 units");
}
