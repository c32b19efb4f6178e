//! One name and two kinds of lock, and pools.

use std::time::Duration;

use quorate_session::{
    Access, Denial, Group, GroupSpec, Groups, Kind, LockSpec, PoolSpec, Role, RoleSpec, TokenSpec,
    Units,
};

use super::net::{Net, name};

fn units(count: u32, of: u32) -> LockSpec {
    LockSpec::Pool(PoolSpec { units: Units { count, of }, numbered: false })
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

/// Any two majorities of three share a site, which refuses.
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
fn invalid_units_are_denied() {
    let mut net = Net::new(3);
    for (count, of) in [(0, 8), (9, 8), (1, 0), (1, 70_000)] {
        let id = net.claim_as(0, "gpu", units(count, of), None);
        let denial = net.denial(id).expect("there can be no such claim");
        assert_eq!(denial.to_string(), format!("invalid units: {count} of {of}"));
    }
    assert_eq!(net.site(0).names().count(), 0);
}

/// A kind of lock that no entry of the site's list serves would never be granted.
#[test]
fn every_kind_of_lock_is_served() {
    let groups: Groups = [Group::new("a")].into_iter().collect();
    let roles = [(Group::new("a"), Role::Shared)].into();
    let specs = [
        LockSpec::Mutex,
        units(1, 8),
        LockSpec::Group(GroupSpec(groups.clone())),
        LockSpec::Access(Access::Write),
        LockSpec::Role(RoleSpec { groups: roles, time: Duration::from_secs(1) }),
        LockSpec::Token(TokenSpec(groups)),
    ];
    let mut net = Net::new(3);
    for spec in specs {
        let (kind, text) = (spec.kind(), spec.kind().to_string());
        let call = net.claim_as(0, &text, spec, None);
        net.pass(Duration::from_secs(9)); // a token has to be made
        assert!(net.grant(call).is_some(), "{kind}");
        assert_eq!(net.site(0).show(&name(&text)).map(|view| view.kind), Some(kind));
        net.leave(0, call);
    }
}
