//! Claims that wait until there is room for them: clients take turns, and nothing else waits.

use std::time::Duration;

use quorate_session::client::ClientId;
use quorate_session::{CallId, Denial};
use quorate_site::Effect;

use crate::site::net::Net;

const BUSY: ClientId = ClientId(7);
const OTHER: ClientId = ClientId(3);

/// Site 0 with claims of one client for so many names that the streams to its peers have no room
/// left. Nothing has arrived yet.
fn burst(claims: usize) -> (Net, Vec<CallId>) {
    let mut net = Net::new(3);
    let claim = |place| net.claim_by(0, BUSY, &format!("lock-{place}"), false, None);
    let calls = (0..claims).map(claim).collect();
    (net, calls)
}

/// The calls that were granted, in order.
fn granted(net: &Net) -> Vec<CallId> {
    let grant = |(_, effect): &(usize, Effect)| match effect {
        Effect::Grant(call, _) => Some(*call),
        _ => None,
    };
    net.effects.iter().filter_map(grant).collect()
}

#[test]
fn a_burst_of_one_client_delays_another_by_one_turn() {
    let (mut net, calls) = burst(5_000);
    let placed = net.site(0).names().count();
    assert!(placed < calls.len() / 4, "{placed} claims fill the streams, the rest waits");
    let other = net.claim_by(0, OTHER, "another lock", false, None);
    assert_eq!(net.site(0).names().count(), placed, "there is no room");
    net.settle();
    let order = granted(&net);
    assert_eq!(order.len(), calls.len() + 1, "all are served");
    let place = order.iter().position(|call| *call == other).expect("it is served");
    assert!(place <= placed + 1, "{place}: behind the {placed} that were under way");
}

#[test]
fn claims_that_wait_for_room_have_their_deadlines_and_are_not_busy() {
    let (mut net, _) = burst(4_000);
    let second = Duration::from_secs(1);
    let timed = net.claim_by(0, OTHER, "timed", false, Some(second / 100));
    let no_wait = net.claim_by(0, OTHER, "free", true, None);
    assert_eq!((net.grant(no_wait), net.denial(no_wait)), (None, None), "nobody has said no");
    net.now = net.now + second / 50;
    net.wake(0);
    assert_eq!(net.denial(timed), Some(Denial::TimedOut));
    net.settle();
    assert!(net.grant(no_wait).is_some());
    assert!(net.grant(timed).is_none());
}

#[test]
fn callers_leave_at_once_whatever_waits() {
    let mut net = Net::new(3);
    let holder = net.claim(0, "held");
    let waiter = net.claim(1, "held");
    assert!(net.grant(holder).is_some() && net.grant(waiter).is_none());
    let claim = |place| net.claim_by(0, BUSY, &format!("lock-{place}"), false, None);
    let calls: Vec<CallId> = (0..4_000).map(claim).collect();
    let under_way = net.packets;
    net.leave_alone(0, holder);
    assert!(net.packets > under_way, "its messages are sent");
    let (last, names) = (calls[calls.len() - 1], net.site(0).names().count());
    net.leave_alone(0, last);
    net.settle();
    assert!(net.grant(waiter).is_some());
    assert!(net.grant(last).is_none(), "it left before its claim was placed");
    assert!(names < calls.len());
}

/// A site whose claims wait for their turn, and not for room, asks to be called again at once.
#[test]
fn a_step_places_a_few_claims_and_asks_for_another() {
    let mut net = Net::with(3, |config| config.claims_per_step = 2);
    for peer in [1, 2] {
        net.cut(0, peer);
        net.cut(peer, 0);
    }
    // Nobody acknowledges. When the peers are silent, nobody waits for them any more.
    let claim = |place| net.claim_by(0, BUSY, &format!("lock-{place}"), false, None);
    let calls: Vec<CallId> = (0..3_000).map(claim).collect();
    let placed = net.site(0).names().count();
    assert!(placed < calls.len());
    net.now = net.now + Duration::from_millis(1_600);
    net.wake(0);
    assert_eq!(net.site(0).names().count(), placed + 2);
    assert_eq!(net.site(0).deadline(), Some(net.now));
    net.wake(0);
    assert_eq!(net.site(0).names().count(), placed + 4);
    net.settle();
    assert_eq!(net.site(0).names().count(), calls.len());
    assert!(net.site(0).deadline() > Some(net.now), "nothing is left to do at once");
}

#[test]
fn the_claims_of_a_client_for_one_name_keep_their_order() {
    let mut net = Net::new(3);
    let claim = |place| {
        let text = if place % 3 == 0 { "one".to_owned() } else { format!("lock-{place}") };
        (place, net.claim_by(0, BUSY, &text, false, None))
    };
    let calls: Vec<(usize, CallId)> = (0..3_000).map(claim).collect();
    let of_one: Vec<CallId> =
        calls.iter().filter(|(place, _)| place % 3 == 0).map(|(_, call)| *call).collect();
    net.settle();
    for call in &of_one {
        assert!(net.grant(*call).is_some(), "it is its turn");
        net.leave(0, *call);
    }
    let order: Vec<CallId> =
        granted(&net).into_iter().filter(|call| of_one.contains(call)).collect();
    assert_eq!(order, of_one);
}

#[test]
fn a_site_that_stops_sends_claims_elsewhere_that_were_not_placed() {
    let (mut net, calls) = burst(4_000);
    let placed = net.site(0).names().count();
    net.drain(0, Duration::from_secs(10));
    let moved = net.effects.iter().filter(|(_, effect)| matches!(effect, Effect::Moved(..)));
    let (moved, granted) = (moved.count(), granted(&net));
    assert!(granted.iter().all(|call| calls[..placed].contains(call)), "no claim is placed now");
    assert_eq!(moved + granted.len(), calls.len());
}
