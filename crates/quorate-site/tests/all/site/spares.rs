//! Spare permissions of holders that stay.

use std::time::Duration;

use quorate_quorum::SiteId;

use super::net::Net;

/// A sixth of the usual lease, and a little more.
const STAY: Duration = Duration::from_millis(600);

#[test]
fn a_holder_that_stays_asks_all_sites_and_one_that_does_not_asks_a_quorum() {
    let mut net = Net::new(5);
    let call = net.claim(0, "deploy");
    let knows = |net: &Net| (0..5).filter(|&site| net.site(site).names().count() == 1).count();
    assert_eq!(knows(&net), 3);
    net.pass(STAY);
    assert_eq!(knows(&net), 5);
    net.leave(0, call);
    assert_eq!(knows(&net), 0);

    let sent = net.site(0).messages_sent();
    let call = net.claim(0, "deploy");
    net.leave(0, call);
    net.pass(STAY);
    assert_eq!(net.site(0).messages_sent() - sent, 4, "a request and a release to two others");
    assert_eq!(knows(&net), 0);
}

/// A stream holds 4096 messages that are not acknowledged, and ends if there are more.
#[test]
fn many_holders_do_not_fill_the_streams() {
    const LOCKS: usize = 10_000;
    let mut net = Net::new(3);
    for lock in 0..LOCKS {
        net.claim(0, &format!("lock-{lock}"));
        net.effects.clear();
    }
    net.pass(STAY);
    for peer in [1, 2] {
        assert!(net.site(0).sessions().goes_on(SiteId::new(peer)), "the stream to {peer} is over");
    }
    net.pass(Duration::from_secs(10));
    for site in 0..3 {
        assert_eq!(net.site(site).names().count(), LOCKS, "site {site} has lent to all");
    }
}
