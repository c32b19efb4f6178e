//! Tests: one name, two kinds of lock.

#[path = "../../tests/site/net.rs"]
#[allow(dead_code, reason = "the tests outside use the rest")]
mod net;

use self::net::{Net, name};
use crate::claim::Denial;
use crate::registry::{Kind, Want};

#[test]
fn a_name_in_use_is_refused_to_another_kind_with_its_owner() {
    let mut net = Net::new(1);
    let holder = net.claim(0, "deploy");
    let other = net.claim_as(0, "deploy", Want::Probe, None);
    let denial = net.denial(other).expect("it is a mutex");
    assert_eq!(denial.to_string(), "it is a mutex, used by caller 1, says site 1");
    net.leave(0, holder);
    let other = net.claim_as(0, "deploy", Want::Probe, None);
    assert!(net.grant(other).is_some(), "the name was vacant");
}

/// Both majorities of three meet in a site that knows better.
#[test]
fn an_arbiter_refuses_and_the_claim_ends_everywhere() {
    let mut net = Net::new(3);
    let holder = net.claim(0, "deploy");
    let ids: Vec<_> = (0..2).map(|_| net.claim_as(1, "deploy", Want::Probe, None)).collect();
    for id in ids {
        let kind = match net.denial(id).expect("some arbiter uses it as a mutex") {
            Denial::OtherKind { kind, .. } => kind,
            other => panic!("{other}"),
        };
        assert_eq!(kind, Kind::Mutex);
    }
    net.leave(0, holder);
    for site in 0..3 {
        assert_eq!(net.site(site).names().count(), 0, "nothing is left at site {site}");
    }
    let again = net.claim_as(1, "deploy", Want::Probe, None);
    assert!(net.grant(again).is_some());
    let view = net.site(1).show(&name("deploy")).expect("it is in use");
    assert_eq!(view.kind, Kind::Probe);
}
