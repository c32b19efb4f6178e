//! Locks are told of sessions a few in each step, and each before it acts.

use std::time::Duration;

use quorate_session::CallId;
use quorate_session::client::ClientId;
use quorate_session::session::Packet;
use quorate_site::{Effect, GrantState, SiteMessage, SitePacket};

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

/// Site 0 holds the names, or waits for them because site 2 holds them, in this order. Some sites
/// were cut off until their sessions were over, and new connections take the place of the old ones
/// just now.
fn connect_again(names: &[String], waits: bool, cut: [(usize, usize); 2]) -> Net {
    let mut net = Net::new(3);
    for name in names.iter().filter(|_| waits) {
        net.claim(2, name);
    }
    for name in names {
        net.claim(0, name);
    }
    net.pass(LEASE); // spare permissions arrive
    for (one, other) in cut {
        net.cut(one, other);
        net.cut(other, one);
    }
    net.pass(LEASE * 2);
    net.record = Some(Vec::new());
    net.connect_again();
    net
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|place| format!("lock-{place}")).collect()
}

/// The names that sites have asked arbiters for since packets are recorded, in order.
fn asked(net: &Net) -> Vec<String> {
    let name = |packet: &SitePacket| match packet {
        SitePacket::Session(Packet::Up(_, frame)) => match &frame.payload {
            SiteMessage::Protocol(addressed) => Some(addressed.name.to_string()),
            _ => None,
        },
        _ => None,
    };
    net.record.iter().flatten().filter_map(name).collect()
}

/// Whether each of the names was asked for, and for the first time after the one before.
fn asked_in_order(net: &Net, names: &[String]) -> bool {
    let asked = asked(net);
    let first = |name| asked.iter().position(|asked| asked == name).expect("it is asked for");
    names.iter().map(first).is_sorted()
}

#[test]
fn locks_with_callers_inside_ask_again_in_the_order_of_their_claims() {
    let names = names(200);
    let mut net = connect_again(&names, false, [(0, 1), (2, 1)]);
    net.settle();
    assert!(asked_in_order(&net, &names));
}

#[test]
fn locks_with_waiting_callers_ask_again_in_the_order_of_their_claims() {
    let names = names(200);
    let mut net = connect_again(&names, true, [(0, 1), (0, 2)]);
    net.settle();
    assert!(asked_in_order(&net, &names));
}

#[test]
fn new_claims_take_turns_with_locks_that_ask_again() {
    let names = names(3_000);
    let mut net = connect_again(&names, false, [(0, 1), (2, 1)]);
    while asked(&net).len() < 100 {
        assert!(net.go_on());
    }
    let call = net.claim_by(0, ClientId(7), "another lock", false, None);
    let before = asked(&net).len();
    while net.grant(call).is_none() {
        assert!(net.go_on(), "it is granted");
    }
    let meanwhile = asked(&net).len() - before;
    assert!(meanwhile < 300, "{meanwhile} locks asked before the claim was served");
    assert!(asked(&net).len() < names.len(), "the others ask later");
}
