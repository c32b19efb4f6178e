//! The deadlines of grants.

use std::time::Duration;

use quorate_protocol::Tick;
use quorate_session::{CallId, Loss};
use quorate_site::Effect;

use crate::site::net::Net;

const LEASE: Duration = Duration::from_secs(3);

/// The deadline that a caller knows, by the common deadline or its own.
fn belief(net: &Net, site: usize, call: CallId) -> Tick {
    let (mut until, mut steady) = (Tick::ZERO, false);
    for (at, effect) in net.effects.iter().filter(|(at, _)| *at == site) {
        match effect {
            Effect::Grant(to, grant) if *to == call => (until, steady) = (grant.until, true),
            Effect::CommonDeadline(when) if steady => until = until.max(*when),
            Effect::Degraded(to, when) if *to == call => {
                (until, steady) = (until.max(*when), false);
            }
            Effect::Restored(to) if *to == call => steady = true,
            _ => assert_eq!(*at, site),
        }
    }
    until
}

#[test]
fn the_common_deadline_moves_on_while_all_answer() {
    let mut net = Net::new(3);
    let call = net.claim(0, "deploy");
    for _ in 0..20 {
        net.pass(LEASE / 2);
        let (told, true_end) = (belief(&net, 0, call), net.site(0).valid_until(call));
        assert!(told > net.now + LEASE / 3, "it is told in good time");
        assert!(true_end.is_some_and(|end| told <= end), "never more than is true");
    }
    assert!(!net.effects.iter().any(|(_, effect)| matches!(effect, Effect::Degraded(..))));
}

#[test]
fn a_holder_survives_the_crash_of_any_minority() {
    for gone in [[1, 2], [1, 3], [1, 4], [2, 3], [2, 4], [3, 4]] {
        let mut net = Net::new(5);
        let call = net.claim(0, "deploy");
        for site in gone {
            net.crash(site);
        }
        for _ in 0..10 {
            net.pass(LEASE / 2);
            assert_eq!(net.loss(call), None, "{gone:?}");
            assert!(belief(&net, 0, call) > net.now, "{gone:?}");
        }
        assert!(net.site(0).valid_until(call).is_some());
    }
}

#[test]
fn a_grant_without_a_quorum_is_lost_by_its_deadline_and_not_before() {
    let mut net = Net::new(3);
    let call = net.claim(0, "deploy");
    for peer in [1, 2] {
        net.cut(peer, 0);
    }
    let end = net.site(0).valid_until(call).expect("it is inside");
    net.pass(Duration::from_nanos(end.0 - net.now.0 - 1));
    assert_eq!(net.loss(call), None);
    assert_eq!(belief(&net, 0, call), end);
    net.pass(Duration::from_nanos(1));
    assert!(matches!(net.loss(call), Some(Loss::Lapsed(_))));
}

/// The others wait until the lease of the holder's site is over by their own clocks.
#[test]
fn nobody_else_enters_before_the_holder_is_lost() {
    let mut net = Net::new(3);
    let call = net.claim(0, "deploy");
    let next = net.claim(1, "deploy");
    for peer in [1, 2] {
        net.cut(peer, 0);
        net.cut(0, peer);
    }
    while net.loss(call).is_none() {
        assert!(net.grant(next).is_none());
        net.pass(LEASE / 100);
    }
    net.pass(LEASE);
    let (first, second) = (net.grant(call).unwrap(), net.grant(next).expect("it is free"));
    assert!(second.fence > first.fence);
    net.heal();
    net.leave(1, next);
    let again = net.claim(0, "deploy");
    assert!(net.grant(again).is_some_and(|grant| grant.fence > second.fence));
}

/// A renewal and its answer, each way, every third of a lease.
#[test]
fn an_idle_pair_exchanges_four_packets_per_renewal_whatever_is_held() {
    let mut net = Net::new(2);
    let calls: Vec<CallId> = (0..50).map(|lock| net.claim(0, &format!("lock {lock}"))).collect();
    net.pass(LEASE);
    let before = net.packets;
    net.pass(10 * LEASE);
    assert_eq!(net.packets - before, 10 * 3 * 4);
    assert!(calls.iter().all(|&call| net.site(0).valid_until(call) > Some(net.now)));
}
