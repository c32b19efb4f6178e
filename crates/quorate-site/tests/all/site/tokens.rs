//! Group locks by token: shared claims, deadlines, and records on disk.

use std::time::Duration;

use quorate_protocol::token::{Durable, Epoch};
use quorate_quorum::SiteId;
use quorate_session::session::Packet;
use quorate_session::{CallId, Denial, Group, LockSpec, TokenSpec};
use quorate_site::identity::IdentityMessage;
use quorate_site::{Effect, Kept, Past, SitePacket};

use crate::site::net::{Net, name};

const LEASE: Duration = Duration::from_secs(3);

fn any(groups: &[&str]) -> LockSpec {
    LockSpec::Token(TokenSpec(groups.iter().map(|group| Group::new(group)).collect()))
}

fn claim(net: &mut Net, site: usize, groups: &[&str]) -> CallId {
    net.claim_as(site, "warehouse", any(groups), None)
}

#[test]
fn callers_of_one_site_are_inside_together_under_one_fence() {
    let mut net = Net::new(3);
    let first = claim(&mut net, 0, &["a"]);
    let other = claim(&mut net, 0, &["b"]);
    let second = claim(&mut net, 0, &["b", "a"]);
    let fence = net.grant(first).expect("nobody is inside").fence;
    assert_eq!(net.grant(second).map(|grant| grant.fence), Some(fence), "it joins");
    assert_eq!(net.grant(other), None);
    net.leave(0, first);
    assert_eq!(net.grant(other), None, "one is still inside");
    net.leave(0, second);
    assert!(net.grant(other).is_some_and(|grant| grant.fence > fence));
}

/// All callers in the queue that accept the group enter with the first one.
#[test]
fn queued_callers_of_the_same_group_enter_together() {
    let mut net = Net::new(3);
    let inside = claim(&mut net, 1, &["x"]);
    let line: Vec<_> = [&["a"][..], &["b"], &["c", "a"], &["a"]]
        .iter()
        .map(|groups| claim(&mut net, 0, groups))
        .collect();
    net.leave(1, inside);
    let fences: Vec<_> =
        line.iter().map(|&call| net.grant(call).map(|grant| grant.fence)).collect();
    assert!(fences[0].is_some());
    assert_eq!((fences[2], fences[3]), (fences[0], fences[0]));
    assert_eq!(fences[1], None);
}

#[test]
fn while_another_group_waits_only_a_few_newcomers_join() {
    for (rival, known) in [(0, "in line"), (1, "at another site")] {
        let mut net = Net::with(3, |config| config.local_turns = 2);
        let first = claim(&mut net, 0, &["a"]);
        claim(&mut net, rival, &["b"]);
        let newcomers = [(); 4].map(|()| claim(&mut net, 0, &["a"]));
        let joined = newcomers.iter().filter(|&&call| net.grant(call).is_some()).count();
        assert_eq!(joined, 2, "{known}");
        net.leave(0, first);
    }
}

#[test]
fn a_follower_is_inside_with_its_captain_and_the_next_group_when_all_have_left() {
    let mut net = Net::new(3);
    let captain = claim(&mut net, 0, &["a"]);
    let follower = claim(&mut net, 1, &["a", "b"]);
    let next = claim(&mut net, 2, &["b"]);
    let fence = net.grant(captain).expect("nobody is inside").fence;
    assert_eq!(net.grant(follower).map(|grant| grant.fence), Some(fence));
    net.leave(0, captain);
    net.pass(LEASE * 3);
    assert_eq!((net.loss(follower), net.grant(next)), (None, None), "its delegation is renewed");
    net.leave(1, follower);
    assert!(net.grant(next).is_some_and(|grant| grant.fence > fence));
}

/// The promises of a site are on disk before they are sent, and its token is not.
#[test]
fn the_next_token_has_a_higher_epoch_after_all_have_restarted() {
    let mut net = Net::new(3);
    let mut fences = Vec::new();
    for round in 0..3 {
        let call = claim(&mut net, round, &["a"]);
        net.pass(LEASE * 4);
        fences.push(net.grant(call).expect("a token is made").fence);
        (0..3).for_each(|site| net.crash(site));
        (0..3).for_each(|site| net.start(site));
    }
    assert!(fences.is_sorted_by(|one, next| one < next), "{fences:?}");
}

#[test]
fn the_killed_captains_site_is_followed_by_another_group_after_its_lease() {
    let mut net = Net::new(3);
    let captain = claim(&mut net, 0, &["a"]);
    let follower = claim(&mut net, 1, &["a"]);
    let next = claim(&mut net, 2, &["b"]);
    let fence = net.grant(captain).expect("nobody is inside").fence;
    net.crash(0);
    net.pass(LEASE / 2);
    assert_eq!(net.grant(next), None, "its leases run");
    net.pass(LEASE * 3);
    assert!(net.loss(follower).is_some(), "its delegation has expired");
    assert!(net.grant(next).is_some_and(|grant| grant.fence > fence));
    let made = |(_, effect): &(usize, Effect)| {
        matches!(effect, Effect::Regenerated(_, what)
            if what.before.0 > 0 && what.promised.iter().map(SiteId::index).eq([1, 2]))
    };
    assert!(net.effects.iter().any(made), "and it is said who promised what in its place");
}

#[test]
fn the_killed_followers_site_does_not_keep_others_waiting_for_long() {
    let mut net = Net::new(3);
    let captain = claim(&mut net, 0, &["a"]);
    let follower = claim(&mut net, 1, &["a"]);
    let next = claim(&mut net, 2, &["b"]);
    assert!(net.grant(follower).is_some());
    net.crash(1);
    net.leave(0, captain);
    assert_eq!(net.grant(next), None, "the follower may be inside");
    net.pass(LEASE * 3 / 2);
    assert!(net.grant(next).is_some(), "it is inside no more");
}

#[test]
fn a_token_that_nobody_uses_is_released_and_costs_nothing() {
    let mut net = Net::new(3);
    let first = claim(&mut net, 0, &["a"]);
    let fence = net.grant(first).expect("nobody is inside").fence;
    net.leave(0, first);
    let again = claim(&mut net, 0, &["a"]);
    assert_eq!(net.grant(again).map(|grant| grant.fence.0), Some(fence.0 + 1), "it was still here");
    net.leave(0, again);
    net.pass(LEASE * 9 / 2); // its holder has said so: no lease has to end first
    for site in 0..3 {
        assert_eq!(net.site(site).names().count(), 0, "nothing is left at site {site}");
    }
    let later = claim(&mut net, 1, &["b"]);
    assert!(net.grant(later).is_some_and(|grant| grant.fence.0 > fence.0 + 1), "at once");
}

/// Its holder keeps it, renews it, or has just released it: nobody waits for a timer.
#[test]
fn an_idle_token_is_had_at_once_whenever_it_is_asked_for() {
    for twelfths in 0..72 {
        for site in [0, 1] {
            let mut net = Net::new(3);
            let first = claim(&mut net, 0, &["a"]);
            net.leave(0, first);
            net.pass(LEASE * twelfths / 12);
            let next = claim(&mut net, site, &["b"]);
            assert!(net.grant(next).is_some(), "{twelfths} twelfths of a lease later, at {site}");
        }
    }
}

#[test]
fn a_broken_occupancy_ends_for_all_and_nobody_joins_any_more() {
    let mut net = Net::new(3);
    let inside = [0, 0, 1].map(|site| claim(&mut net, site, &["a"]));
    let fence = net.grant(inside[0]).expect("nobody is inside").fence;
    net.break_it(2, "warehouse", fence);
    let newcomer = claim(&mut net, 0, &["a"]);
    assert_eq!(net.grant(newcomer), None);
    net.pass(LEASE * 2);
    for call in inside {
        let loss = net.loss(call).map(|loss| loss.to_string());
        assert_eq!(loss.as_deref(), Some("it was broken: it hangs"));
    }
    assert!(net.grant(newcomer).is_some_and(|grant| grant.fence > fence));
}

#[test]
fn a_caller_with_no_wait_joins_or_is_denied() {
    let mut net = Net::new(3);
    let first = net.no_wait(0, "warehouse", any(&["a"]));
    assert!(net.grant(first).is_some());
    let joins = net.no_wait(1, "warehouse", any(&["b", "a"]));
    assert!(net.grant(joins).is_some());
    for site in 0..3 {
        let other = net.no_wait(site, "warehouse", any(&["b"]));
        assert_eq!(net.denial(other), Some(Denial::Busy), "site {site}");
    }
}

#[test]
fn a_name_is_one_kind_at_a_time_and_the_token_is_shown() {
    let mut net = Net::new(3);
    let holder = claim(&mut net, 1, &["a"]);
    assert!(net.grant(holder).is_some());
    let other = net.claim_as(0, "warehouse", LockSpec::Mutex, None);
    let denial = net.denial(other).expect("it is in use").to_string();
    assert!(denial.starts_with("it is a group lock by token"), "{denial}");
    let tokens: Vec<_> =
        (0..3).map(|site| net.site(site).show(&name("warehouse")).and_then(|v| v.token)).collect();
    assert_eq!(tokens.iter().flatten().count(), 1);
    assert_eq!(tokens[1].map(|stamp| stamp.round), Some(1), "site 2 has it, in its first session");
    let waits = claim(&mut net, 0, &["b"]);
    let view = net.site(0).show(&name("warehouse")).expect("it is in use");
    let views = (0..3).map(|site| (net.site(site).me(), net.site(site)));
    let views = views.filter_map(|(me, site)| Some((me, site.show(&name("warehouse"))?)));
    let standings = quorate_session::explain(&views.collect());
    let own = view.calls.iter().find(|call| call.call == waits).and_then(|call| call.request);
    let standing = standings.iter().find(|one| Some(one.request) == own).expect("it waits");
    assert!(standing.blocked_by.iter().any(|ticket| ticket.site.index() == 1), "{standing:?}");
}

/// One name after the other, more than would ever stay on disk. A name whose record was folded has
/// higher fences than before, also after its sites have restarted.
#[test]
fn a_site_keeps_a_limited_number_of_records_and_fences_grow() {
    let most = 64;
    let mut net = Net::with(3, |config| config.unused_records = most);
    let mut fences = Vec::new();
    for number in 0..2_000 {
        let lock = format!("lock {number}");
        let call = net.claim_as(number % 3, &lock, any(&["a"]), None);
        let grant = net.grant(call);
        fences.push(grant.unwrap_or_else(|| panic!("{number}: {:?}", net.denial(call))).fence);
        net.leave(number % 3, call);
        if number % 50 == 49 {
            net.pass(LEASE * 6); // idle tokens are dropped, and the leases of voters end
        }
    }
    net.pass(LEASE * 6);
    for site in 0..3 {
        assert_eq!(net.site(site).names().count(), 0, "site {site}");
        let kept = net.disk(site).tokens.len();
        assert!(kept <= most, "site {site} has {kept} records on disk");
        assert_ne!(net.disk(site).folded, Kept::default(), "site {site}");
    }
    for number in [0, 7, 1_999] {
        let call = net.claim_as(1, &format!("lock {number}"), any(&["a"]), None);
        let fence = net.grant(call).expect("nobody else wants it").fence;
        assert!(fence > fences[number], "lock {number}: {fence:?} after {:?}", fences[number]);
        fences[number] = fence;
        net.leave(1, call);
    }
    for site in 0..3 {
        net.crash(site);
    }
    for site in 0..3 {
        net.start(site);
    }
    net.pass(LEASE * 2);
    for number in [0, 7, 1_234] {
        let call = net.claim_as(2, &format!("lock {number}"), any(&["a"]), None);
        let fence = net.grant(call).expect("nobody else wants it").fence;
        assert!(fence > fences[number], "lock {number}: {fence:?} after {:?}", fences[number]);
    }
}

/// A site that did not hear of a token for a while has folded its record, and the folded floor lies
/// above the token's epoch. It cannot be let in with that token, which makes way for another (O21).
#[test]
fn a_token_below_a_folded_floor_makes_way() {
    let mut net = Net::with(3, |config| config.unused_records = 0);
    for _ in 0..5 {
        let call = net.claim_as(1, "depot", any(&["a"]), None);
        assert!(net.grant(call).is_some());
        net.leave(1, call);
        net.pass(LEASE * 6);
    }
    let holder = claim(&mut net, 0, &["a"]);
    let fence = net.grant(holder).expect("nobody is inside").fence;
    net.cut(0, 2);
    net.cut(2, 0);
    net.cut(1, 2);
    net.cut(2, 1);
    net.pass(LEASE * 3);
    let call = net.claim_as(1, "depot", any(&["a"]), None);
    let other = net.grant(call).expect("nobody else wants it").fence;
    assert!(other > fence);
    net.leave(1, call);
    net.heal();
    net.pass(LEASE);
    let waiting = claim(&mut net, 2, &["b"]);
    assert_eq!(net.grant(waiting), None);
    net.pass(LEASE);
    net.leave(0, holder);
    let next = net.grant(waiting).expect("the token makes way at once").fence;
    assert!(next > fence);
}

/// Old records are folded when a site starts, at most 4096 in one step.
#[test]
fn the_records_of_a_full_disk_are_folded() {
    let mut past = Past::default();
    for number in 0..70_000_u64 {
        let record = Durable { valid: Epoch(number % 1_000), ..Durable::default() };
        past.tokens.insert(name(&format!("lock {number}")), Kept { write: number, record });
    }
    let mut net = Net::with_past(1, past);
    while net.disk(0).tokens.len() > quorate_site::Config::UNUSED_RECORDS {
        let before = net.disk(0).tokens.len();
        net.pass(LEASE);
        let folded = before - net.disk(0).tokens.len();
        assert!(folded > 0, "{before} are left");
    }
    assert_eq!(net.disk(0).folded.record.valid, Epoch(999));
    let call = net.claim_as(0, "lock 7", any(&["a"]), None);
    let grant = net.grant(call).expect("nobody else wants it");
    assert!(grant.fence.0 >> 32 > 999, "{:?}", grant.fence);
}

/// Each effect waits for the write that it depends on, and not for later ones: otherwise a site
/// that keeps writing would send nothing.
#[test]
fn an_effect_waits_for_its_own_write_only() {
    let mut net = Net::new(3);
    net.cut(1, 0);
    net.cut(2, 0);
    net.record = Some(Vec::new());
    for lock in ["warehouse", "depot"] {
        net.claim_as(0, lock, any(&["a"]), None);
    }
    let wrote = |packet: &SitePacket| match packet {
        SitePacket::Identity(IdentityMessage::Wrote(number)) => Some(*number),
        _ => None,
    };
    let frames = |net: &Net| {
        let packets = net.record.iter().flatten();
        packets.filter(|packet| matches!(packet, SitePacket::Session(Packet::Up(..)))).count()
    };
    let numbers: Vec<u64> = net.record.iter().flatten().filter_map(wrote).collect();
    let &[first, .., last] = &numbers[..] else { panic!("two writes: {numbers:?}") };
    assert!(first < last);
    assert_eq!(frames(&net), 0, "nobody has registered a write");
    for (number, prepares) in [(first, 2), (last, 4)] {
        let acknowledged = IdentityMessage::Acknowledged(number);
        net.deliver(1, 0, SitePacket::Identity(acknowledged));
        assert_eq!(frames(&net), prepares, "write {number} is registered");
    }
}
