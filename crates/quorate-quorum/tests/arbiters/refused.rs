//! Families that would let too many in, and questions without an answer.

use proptest::prelude::*;
use quorate_quorum::{Arbiters, PoolError, QuorumError, SITES_MAX, SiteId, SiteSet, UNITS_MAX};

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
        assert_eq!(arbiters.of(h).unwrap_err(), PoolError::BadUnits { h, k: 3 }.into());
    }
    assert_eq!(arbiters.of(9).unwrap_err().to_string(), "invalid units: 9 of 3: ask for 1 to 3");
}

#[test]
fn lists_are_read_from_text() {
    let text = "# two units\nh=1: 1 2 3\nh=2: 1 2 # a pair\n\nh=2: 2 3\nh=2: 1 3\n";
    let arbiters: Arbiters = text.parse().unwrap();
    assert_eq!((arbiters.n(), arbiters.k()), (3, 2));
    assert_eq!(arbiters.of(2).unwrap().quorums().count(), 3);
    let more: Arbiters = format!("sites 5\n{text}").parse().unwrap();
    assert_eq!(more.n(), 5);
    for (text, message) in [
        ("", "a pool needs at least 1 unit"),
        ("h=2: 1 2", "no quorum for h=1: list one for each h from 1 to 2"),
        ("h=1: 1\nh = 2: 1", "line 2: expected `sites N` or `h=2: A B C`, found `h = 2: 1`"),
        ("h=0: 1", "line 1: expected a number from 1 to 65536, found `0`"),
        ("h=1:", "line 1: expected the members of the quorum after the colon, found `h=1:`"),
        ("h=1: 1 x", "line 1: expected a number from 1 to 65536, found `x`"),
        ("h=1: 1 2\nsites 1", "there is no site 2: the cluster has sites 1 to 1"),
        (
            "h=1: 1 2\nh=1: 2 3\nh=1: 1 3\nh=2: 1 2 3",
            "{1 2} for 1, {2 3} for 1, {1 3} for 1: \
             no site is in all, so 3 units of 2 could be out at once",
        ),
    ] {
        assert_eq!(refusal(text.parse()), message, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(
        text in "((sites|h=|#|:|[0-9]|-1| |\\PC)? ?(1|2|3|: 1)?\n?){0,20}"
    ) {
        if let Ok(arbiters) = text.parse::<Arbiters>() {
            let all = SiteSet::full(arbiters.n());
            prop_assert!((1..=arbiters.k()).all(|h| arbiters.of(h).unwrap().is_quorum(&all)));
        }
    }
}

#[test]
fn a_list_for_too_many_units_is_refused_at_once() {
    let line = |h: usize| format!("h={h}: 1\n");
    let refused = (1..=33).map(line).collect::<String>().parse::<Arbiters>();
    let message = "the condition of listed arbiters is computed only up to 32 units, \
                   and while intersections are few";
    assert_eq!(refusal(refused), message);
    let far = "h=60000: 1".parse::<Arbiters>();
    assert_eq!(refusal(far), "no quorum for h=1: list one for each h from 1 to 60000");
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
    assert_eq!(arbiters.name(), "listed arbiters of 3, k=2");
}
