//! Restarts: what a site finds on its disk, and what it does not need.

use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_site::Effect;

use crate::site::net::Net;

const LEASE: Duration = Duration::from_secs(3);

#[test]
fn a_restarted_site_lends_nothing_until_its_quarantine_is_over() {
    let mut net = Net::new(3);
    net.crash(1);
    net.start(1);
    let end = net.site(1).sessions().quarantined_until();
    assert!(end > net.now + LEASE, "a lease and the drift");
    net.crash(2); // only the restarted site can complete a quorum of site 1
    let call = net.claim(0, "deploy");
    net.pass(Duration::from_nanos(end.0 - net.now.0 - 1));
    assert!(net.grant(call).is_none());
    net.pass(Duration::from_nanos(1) + LEASE);
    assert!(net.grant(call).is_some());
}

#[test]
fn fences_and_incarnations_grow_over_restarts_of_all_sites() {
    let mut net = Net::new(3);
    let mut last = None;
    for life in 2..6 {
        let call = net.claim(0, "deploy");
        let fence = net.grant(call).expect("it is free").fence;
        assert!(last < Some(fence), "{last:?} {fence:?}");
        last = Some(fence);
        (0..3).for_each(|site| net.crash(site));
        (0..3).for_each(|site| net.start(site));
        assert_eq!(net.site(0).sessions().incarnation().0, life);
        net.pass(2 * LEASE);
        assert!(net.site(0).sessions().at(SiteId::new(1)).is_some());
    }
}

/// One write at the start, one for the first lease; grants use ceilings that were written ahead.
#[test]
fn a_hot_lock_does_not_wait_for_the_disk() {
    let mut net = Net::new(3);
    let before = net.writes;
    for _ in 0..2_000 {
        let call = net.claim(0, "deploy");
        assert!(net.grant(call).is_some());
        net.leave(0, call);
        net.effects.clear();
    }
    assert_eq!(net.writes, before);
}

#[test]
fn the_holder_site_that_crashes_is_followed_after_its_lease() {
    let mut net = Net::new(3);
    let (gone, next) = (net.claim(0, "deploy"), net.claim(1, "deploy"));
    let first = net.grant(gone).unwrap();
    net.crash(0);
    net.pass(LEASE * 999 / 1000);
    assert!(net.grant(next).is_none(), "its caller may still believe in it");
    net.pass(LEASE);
    assert!(net.grant(next).is_some_and(|grant| grant.fence > first.fence));
    assert!(!net.effects.iter().any(|(_, effect)| matches!(effect, Effect::Note(..))));
}
