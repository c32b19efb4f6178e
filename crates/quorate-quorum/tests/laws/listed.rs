//! Systems that people write down, and how bad ones are refused.

use proptest::prelude::*;
use quorate_quorum::{Listed, QuorumError, QuorumSystem, SiteId, SiteSet};

use crate::tools::set;

fn refusal(text: &str) -> String {
    text.parse::<Listed>().expect_err("refused").to_string()
}

#[test]
fn quorums_that_do_not_meet_are_named() {
    let own = vec![Some(set([0, 1])), None, Some(set([2, 3])), None];
    let error = Listed::new(own).unwrap_err();
    assert_eq!(error.to_string(), "{1 2} of site 1 and {3 4} of site 3 do not meet");
    let (one, other) = ((SiteId::new(0), set([0, 1])), (SiteId::new(2), set([2, 3])));
    assert_eq!(error, QuorumError::DoNotMeet { one, other });
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(
        text in "((sites|quorum|#|:|[0-9]|-1| |\\PC)? ?(1|2|3|:)?\n?){0,20}"
    ) {
        if let Ok(system) = text.parse::<Listed>() {
            prop_assert!(system.is_quorum(&SiteSet::full(system.n())));
        }
    }
}

#[test]
fn bad_systems_are_refused() {
    assert_eq!(Listed::new(vec![]), Err(QuorumError::NoSites));
    assert_eq!(Listed::new(vec![None, None]), Err(QuorumError::NoQuorum));
    let empty = Listed::new(vec![Some(set([0])), Some(SiteSet::new())]);
    assert_eq!(empty, Err(QuorumError::EmptyQuorum(SiteId::new(1))));
    let unknown = Listed::new(vec![Some(set([0, 4])), None]);
    assert_eq!(unknown, Err(QuorumError::UnknownSite { site: SiteId::new(4), n: 2 }));
    assert_eq!(
        unknown.unwrap_err().to_string(),
        "there is no site 5: the cluster has sites 1 to 2"
    );
}

#[test]
fn a_file_lists_quorums_by_site() {
    let text = "# an arbiter\nsites 4\n\nquorum 1: 1 4\nquorum 2: 2 4 # hub\n quorum 3 : 4 3\n";
    let system: Listed = text.parse().unwrap();
    assert_eq!((system.n(), system.min_size(), system.max_size()), (4, 2, 2));
    let all = SiteSet::full(4);
    assert_eq!(system.pick_for(SiteId::new(1), &all), Some(set([1, 3])));
    assert_eq!(system.pick_for(SiteId::new(3), &all), None, "only an arbiter");
    assert_eq!(system.resilience(), Ok(0), "all need the hub");
    let named: Listed = "quorum 1: 1 5\nquorum 5: 5".parse().unwrap();
    assert_eq!(named.n(), 5, "the highest site that is named");
}

#[test]
fn a_listed_quorum_is_used_as_it_stands() {
    let system: Listed = "quorum 1: 1 2 3\nquorum 2: 1 2\nquorum 3: 2 1".parse().unwrap();
    assert_eq!(system.pick_for(SiteId::new(0), &SiteSet::full(3)), Some(set([0, 1, 2])));
    assert_eq!(system.pick_for(SiteId::new(2), &SiteSet::full(3)), Some(set([0, 1])));
    assert_eq!(system.pick_for(SiteId::new(0), &set([0, 1])), Some(set([0, 1])), "the nearest");
    assert_eq!(system.quorums().collect::<Vec<_>>(), [set([0, 1])], "in minimal form");
}

#[test]
fn lines_that_cannot_be_read_are_named() {
    for (text, message) in [
        (
            "quorum 1: 1\nquorm 2: 1",
            "line 2: expected `sites N` or `quorum S: A B C`, found `quorm 2: 1`",
        ),
        ("quorum 1 2", "line 1: expected `quorum S: A B C`, found `quorum 1 2`"),
        ("quorum 1: 1 x", "line 1: expected a number from 1 to 65536, found `x`"),
        ("quorum 1: 0", "line 1: expected a number from 1 to 65536, found `0`"),
        ("quorum : 1", "line 1: expected a number from 1 to 65536, found ``"),
        ("quorum 1: 1,2", "line 1: expected a number from 1 to 65536, found `1,2`"),
        (
            "quorum 1:",
            "line 1: expected the members of the quorum after the colon, found `quorum 1:`",
        ),
        ("sites", "line 1: expected a number from 1 to 65536, found ``"),
        (
            "sites 99999999999999999999",
            "line 1: expected a number from 1 to 65536, found `99999999999999999999`",
        ),
        ("sites 2\nsites 2", "line 2: `sites` stands in line 1 already"),
        ("quorum 1: 1\nquorum 1: 2", "line 2: site 1 has a quorum already, in line 1"),
        ("quorum 1: 1 3\nsites 2", "line 1: there is no site 3: the cluster has sites 1 to 2"),
        ("quorum 3: 1\nsites 2", "line 1: there is no site 3: the cluster has sites 1 to 2"),
        ("# nothing\n", "no site has a quorum: list at least one"),
        ("sites 3\n", "no site has a quorum: list at least one"),
        ("quorum 1: 1 2\nquorum 3: 3 4\n", "{1 2} of site 1 and {3 4} of site 3 do not meet"),
    ] {
        assert_eq!(refusal(text), message, "{text}");
    }
}
