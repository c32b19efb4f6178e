//! A site that is about to stop.

use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::{Access, CallId, LockSpec, Loss, PoolSpec, Units};
use quorate_site::Effect;

use crate::site::net::Net;

const SECOND: Duration = Duration::from_secs(1);

/// Since when a caller that was sent to another site has waited.
fn moved(net: &Net, call: CallId) -> Option<u64> {
    net.effects.iter().find_map(|(_, effect)| match effect {
        Effect::Moved(id, since) if *id == call => Some(*since),
        _ => None,
    })
}

fn is_drained(net: &Net, site: usize) -> bool {
    net.effects.contains(&(site, Effect::Drained))
}

#[test]
fn a_site_without_callers_can_stop_at_once() {
    let mut net = Net::new(3);
    net.drain(0, 10 * SECOND);
    assert!(is_drained(&net, 0));
    net.drain(0, 10 * SECOND);
    let told = net.effects.iter().filter(|(_, effect)| *effect == Effect::Drained);
    assert_eq!(told.count(), 1);
}

#[test]
fn waiting_and_new_callers_are_sent_elsewhere() {
    let mut net = Net::new(3);
    let holder = net.claim(0, "deploy");
    let waiters = [net.claim(1, "deploy"), net.claim(1, "deploy")];
    net.drain(1, 10 * SECOND);
    assert!(is_drained(&net, 1));
    let late = net.claim(1, "other");
    for call in [waiters[0], waiters[1], late] {
        assert!(moved(&net, call).is_some(), "{call:?}");
        assert_eq!(net.denial(call), None);
    }
    net.crash(1);
    net.leave(0, holder);
    let next = net.claim(2, "deploy");
    assert!(net.grant(next).is_some(), "nothing of the waiters is left");
}

/// The caller of site 2 asked before that of site 3, and is served before it, though it comes to
/// site 1 later.
fn keeps_its_place(spec: &LockSpec) {
    let mut net = Net::new(3);
    let holder = net.claim_as(0, "deploy", spec.clone(), None);
    let second = net.claim_as(1, "deploy", spec.clone(), None);
    let third = net.claim_as(2, "deploy", spec.clone(), None);
    net.drain(1, 10 * SECOND);
    let since = moved(&net, second).expect("it waited");
    let second = net.claim_since(0, "deploy", spec.clone(), since);
    net.leave(0, holder);
    assert!(net.grant(second).is_some() && net.grant(third).is_none(), "{spec:?}");
    net.leave(0, second);
    assert!(net.grant(third).is_some(), "{spec:?}");
}

#[test]
fn a_caller_that_moves_keeps_its_place_in_time() {
    keeps_its_place(&LockSpec::Mutex);
    let units = Units { count: 1, of: 1 };
    keeps_its_place(&LockSpec::Pool(PoolSpec { units, numbered: false }));
    keeps_its_place(&LockSpec::Access(Access::Write));
}

#[test]
fn a_caller_that_moves_goes_ahead_of_local_ones_that_came_later() {
    let mut net = Net::new(3);
    let holder = net.claim(0, "deploy");
    let early = net.claim(1, "deploy");
    let since = {
        net.drain(1, SECOND);
        moved(&net, early).expect("it waited")
    };
    let [first, local] = [net.claim(2, "deploy"), net.claim(2, "deploy")];
    let early = net.claim_since(2, "deploy", LockSpec::Mutex, since);
    net.leave(0, holder);
    assert!(net.grant(first).is_some(), "its request was made already");
    net.leave(2, first);
    assert!(net.grant(early).is_some() && net.grant(local).is_none());
}

/// A time in the future is not believed.
#[test]
fn a_time_that_nobody_has_reached_gives_no_place() {
    let mut net = Net::new(3);
    let holder = net.claim(0, "deploy");
    let next = net.claim(1, "deploy");
    let liar = net.claim_since(2, "deploy", LockSpec::Mutex, u64::MAX);
    net.leave(0, holder);
    assert!(net.grant(next).is_some() && net.grant(liar).is_none());
    net.leave(1, next);
    assert!(net.grant(liar).is_some());
}

#[test]
fn callers_inside_have_the_time_to_leave_and_are_told_a_lease_before_its_end() {
    let mut net = Net::new(3);
    let (quick, slow) = (net.claim(0, "quick"), net.claim(0, "slow"));
    net.drain(0, 10 * SECOND);
    let start = net.now;
    net.pass(5 * SECOND);
    net.leave(0, quick);
    assert!(!is_drained(&net, 0));
    net.pass(3 * SECOND);
    let broken = net.effects.iter().find_map(|(_, effect)| match effect {
        Effect::Broken(id, until, _) if *id == slow => Some(*until),
        _ => None,
    });
    let until = broken.expect("it is told");
    assert!(until <= start + 10 * SECOND && until > net.now);
    assert_eq!(net.loss(slow), None);
    net.pass(3 * SECOND);
    assert!(matches!(net.loss(slow), Some(Loss::Broken(_))));
    assert_eq!(net.loss(quick), None);
    assert!(is_drained(&net, 0));
}

/// The holder's site repairs its quorum at once, so that nothing is lost when the site is gone.
#[test]
fn other_sites_stop_relying_on_it() {
    let mut net = Net::new(3);
    let holders: Vec<CallId> = (0..12).map(|n| net.claim(0, &format!("lock {n}"))).collect();
    net.drain(1, 10 * SECOND);
    assert!(net.site(0).sessions().at(SiteId::new(1)).expect("a session").silent);
    net.pass(2 * SECOND);
    assert!(net.site(0).sessions().at(SiteId::new(1)).expect("a session").silent);
    net.crash(1);
    let degraded = net.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Degraded(..)));
    let before = degraded.count();
    net.pass(6 * SECOND);
    for call in holders {
        assert_eq!(net.loss(call), None);
    }
    let degraded = net.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Degraded(..)));
    assert_eq!(degraded.count(), before, "no grant depended on it when it went");
}
