//! Locks are told of sessions a few in each step, and each before it acts.

use std::time::Duration;

use quorate_session::CallId;
use quorate_site::{Effect, GrantState};

use crate::site::net::Net;

const LEASE: Duration = Duration::from_secs(3);

/// Site 1 holds so many names, and hears nothing of the others any more, since half a lease.
fn falls_silent(names: usize, locks_per_step: usize) -> (Net, Vec<CallId>) {
    let mut net = Net::with(3, |config| config.locks_per_step = locks_per_step);
    let calls: Vec<CallId> = (0..names).map(|place| net.claim(0, &format!("n{place}"))).collect();
    net.pass(LEASE);
    for site in [1, 2] {
        net.cut(site, 0);
    }
    net.effects.clear();
    net.now = net.now + LEASE * 6 / 10;
    (net, calls)
}

fn degraded(net: &Net) -> usize {
    let of_call = |(_, effect): &&(usize, Effect)| matches!(effect, Effect::Degraded(..));
    net.effects.iter().filter(of_call).count()
}

#[test]
fn a_step_tells_a_few_locks_and_the_site_asks_for_the_next() {
    let (mut net, calls) = falls_silent(7, 2);
    let mut steps = 0;
    while degraded(&net) < calls.len() {
        let before = degraded(&net);
        net.wake(0);
        steps += 1;
        assert!(degraded(&net) <= before + 2, "a step looks at two locks");
        assert!(steps < 20, "{} of 7 after {steps} steps", degraded(&net));
        let rests = net.site(0).deadline().is_some_and(|when| when > net.now);
        assert!(degraded(&net) == calls.len() || !rests, "it asks to be called again at once");
    }
    assert!(steps >= 4, "seven locks take four steps: {steps}");
}

#[test]
fn the_common_deadline_waits_until_every_grant_was_looked_at() {
    let (mut net, calls) = falls_silent(7, 1);
    let before = net.site(0).common_deadline();
    net.wake(0);
    for _ in 0..30 {
        let site = net.site(0);
        let follows = |call: &&CallId| site.grant_state(**call) == Some(GrantState::Common);
        if calls.iter().any(|call| follows(&call)) {
            assert!(site.common_deadline() <= before, "some grant still depends on silent sites");
        }
        net.wake(0);
    }
    assert_eq!(degraded(&net), calls.len());
    assert!(net.site(0).common_deadline() > before, "no grant follows it any more");
}

#[test]
fn a_lock_is_told_before_it_acts() {
    let (mut net, calls) = falls_silent(7, 1);
    net.now = net.now + LEASE;
    net.wake(0); // both sessions are over, and one lock knows
    let lost = calls.iter().filter(|call| net.loss(**call).is_some()).count();
    assert!(lost < calls.len(), "{lost} locks know");
    for call in &calls {
        net.leave_alone(0, *call);
    }
    let lost = calls.iter().filter(|call| net.loss(**call).is_some()).count();
    assert_eq!(lost, calls.len(), "each learned that its grant was lost before its caller left");
}
