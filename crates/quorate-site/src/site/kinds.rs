//! Tests: one name, two kinds of lock, and pools.

#[path = "../../tests/all/site/net.rs"]
#[allow(dead_code, reason = "the tests outside use the rest")]
mod net;

use quorate_protocol::pool::Units;
use quorate_session::{Denial, Kind, Want};

use self::net::{Net, name};

fn units(count: u32, of: u32) -> Want {
    Want::Pool { units: Units { count, of }, numbered: false }
}

#[test]
fn a_name_in_use_is_refused_to_another_kind_with_its_owner() {
    let mut net = Net::new(1);
    let holder = net.claim(0, "deploy");
    let other = net.claim_as(0, "deploy", units(1, 8), None);
    let denial = net.denial(other).expect("it is a mutex");
    assert_eq!(denial.to_string(), "it is a mutex, used by caller 1, says site 1");
    net.leave(0, holder);
    let other = net.claim_as(0, "deploy", units(1, 8), None);
    assert!(net.grant(other).is_some(), "the name was vacant");
    let smaller = net.claim_as(0, "deploy", units(1, 4), None);
    let denial = net.denial(smaller).expect("it has another size");
    assert_eq!(denial.to_string(), "it is a pool of 8, used by caller 3, says site 1");
}

/// Both majorities of three meet in a site that knows better.
#[test]
fn an_arbiter_refuses_and_the_claim_ends_everywhere() {
    let mut net = Net::new(3);
    let holder = net.claim(0, "deploy");
    let ids: Vec<_> = (0..2).map(|_| net.claim_as(1, "deploy", units(1, 8), None)).collect();
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
    let again = net.claim_as(1, "deploy", units(1, 8), None);
    assert!(net.grant(again).is_some());
    let view = net.site(1).show(&name("deploy")).expect("it is in use");
    assert_eq!(view.kind, Kind::Pool(8));
}

#[test]
fn callers_of_one_site_are_inside_a_pool_together() {
    let mut net = Net::new(3);
    let first = net.claim_as(0, "gpu", units(3, 8), None);
    let second = net.claim_as(0, "gpu", units(4, 8), None);
    let third = net.claim_as(1, "gpu", units(2, 8), None);
    assert!(net.grant(first).is_some() && net.grant(second).is_some());
    assert!(net.grant(third).is_none(), "one is left, and it wants two");
    net.leave(0, first);
    assert!(net.grant(third).is_some());
    net.leave(0, second);
    net.leave(1, third);
    for site in 0..3 {
        assert_eq!(net.site(site).names().count(), 0, "nothing is left at site {site}");
    }
}

#[test]
fn units_that_nobody_can_have_are_denied() {
    let mut net = Net::new(3);
    for (count, of) in [(0, 8), (9, 8), (1, 0), (1, 70_000)] {
        let id = net.claim_as(0, "gpu", units(count, of), None);
        let denial = net.denial(id).expect("there can be no such claim");
        assert_eq!(denial.to_string(), format!("invalid units: {count} of {of}"));
    }
    assert_eq!(net.site(0).names().count(), 0);
}
