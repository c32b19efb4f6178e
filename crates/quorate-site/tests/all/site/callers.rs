//! Callers: queued at a site, between sites, too late, and gone.

use std::time::Duration;

use quorate_protocol::Fence;
use quorate_quorum::SiteId;
use quorate_session::client::ClientId;
use quorate_session::{CallId, ClaimRequest, Claimant, Denial, LockSpec};
use quorate_site::Effect;

use crate::site::net::{Net, name};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_lock_passes_from_site_to_site_and_leaves_nothing_behind() {
    let mut net = Net::new(3);
    let calls: Vec<_> = (0..3).map(|site| (site, net.claim(site, "deploy"))).collect();
    let mut last = Fence(0);
    for (site, call) in calls {
        let grant = net.grant(call).expect("it is its turn");
        assert!(grant.fence > last, "{grant:?}");
        assert!(grant.until > net.now);
        last = grant.fence;
        net.leave(site, call);
    }
    for site in 0..3 {
        assert_eq!(net.site(site).names().count(), 0, "a vacant name costs nothing");
    }
}

#[test]
fn callers_of_one_site_follow_each_other_with_a_fence_each() {
    let mut net = Net::new(3);
    let calls: Vec<CallId> = (0..5).map(|_| net.claim(0, "deploy")).collect();
    let mut fences = Vec::new();
    for &call in &calls {
        fences.push(net.grant(call).expect("it is its turn").fence);
        net.leave(0, call);
    }
    assert!(fences.is_sorted_by(|one, next| one < next), "{fences:?}");
}

/// With four turns, four callers of site 1 follow the first one; then the lock leaves the site.
#[test]
fn the_lock_leaves_a_site_after_its_turns_if_another_site_waits() {
    let mut net = Net::with(3, |config| config.local_turns = 4);
    let ours: Vec<CallId> = (0..10).map(|_| net.claim(0, "deploy")).collect();
    let theirs = net.claim(1, "deploy");
    for &call in &ours[..5] {
        assert!(net.grant(theirs).is_none());
        net.leave(0, call);
    }
    assert!(net.grant(theirs).is_some());
    assert!(net.grant(ours[5]).is_none(), "it waits for the other site");
    net.leave(1, theirs);
    assert!(net.grant(ours[5]).is_some());
}

/// A site cannot always know that another one waits, so it gives the lock back now and then.
#[test]
fn the_turns_of_a_site_are_bounded_even_if_nobody_is_known_to_wait() {
    let mut net = Net::with(3, |config| config.local_turns = 1);
    let calls: Vec<CallId> = (0..40).map(|_| net.claim(0, "deploy")).collect();
    let request = |net: &Net| net.site(0).show(&name("deploy")).map(|view| view.requests[0].ticket);
    let first = request(&net);
    calls[..16].iter().for_each(|&call| net.leave(0, call));
    assert_eq!(request(&net), first, "sixteen callers followed the first");
    net.leave(0, calls[16]);
    assert_ne!(request(&net), first, "then the site asked anew");
    assert!(net.grant(calls[17]).is_some());
}

#[test]
fn a_caller_that_gives_up_makes_room_for_the_next() {
    let mut net = Net::new(3);
    let holder = net.claim(0, "deploy");
    let [first, second] = [net.claim(1, "deploy"), net.claim(1, "deploy")];
    let before = net.site(1).show(&name("deploy")).map(|view| view.requests[0].ticket);
    net.leave(1, first);
    let after = net.site(1).show(&name("deploy")).map(|view| view.requests[0].ticket);
    assert_eq!(after, before, "the second keeps the place of the first");
    net.leave(0, holder);
    assert!(net.grant(first).is_none());
    assert!(net.grant(second).is_some());
}

#[test]
fn a_claim_ends_at_its_deadline() {
    let mut net = Net::new(3);
    let holder = net.claim(0, "deploy");
    let late = net.claim_until(1, "deploy", Some(SECOND));
    net.pass(SECOND);
    assert_eq!(net.denial(late), Some(Denial::TimedOut));
    assert!(net.site(1).show(&name("deploy")).is_none_or(|view| view.calls.is_empty()));
    assert!(net.loss(holder).is_none());
}

#[test]
fn the_denial_says_if_no_quorum_is_reachable() {
    let mut net = Net::new(5);
    (1..4).for_each(|site| net.crash(site));
    net.pass(4 * SECOND);
    let call = net.claim_until(0, "deploy", Some(SECOND));
    net.pass(SECOND);
    let denial = Denial::NoQuorum { answering: 2, sites: 5, needed: 3 };
    assert_eq!(net.denial(call), Some(denial.clone()));
    assert_eq!(denial.to_string(), "no quorum: 2 of 5 sites answer, 3 needed");
}

#[test]
fn a_number_that_is_in_use_is_refused() {
    let mut site = alone();
    let claim = || ClaimRequest {
        name: name("deploy"),
        spec: LockSpec::Mutex,
        claimant: Claimant::default(),
        timeout: None,
        no_wait: false,
        since: None,
    };
    let input = |claim| quorate_site::Input::Claim(CallId(7), ClientId(1), claim);
    site.step(quorate_protocol::Tick(1), input(claim()));
    let effects = site.step(quorate_protocol::Tick(2), input(claim()));
    assert!(effects.contains(&Effect::Denied(CallId(7), Denial::Reused)), "{effects:?}");
    assert!(site.fence(CallId(7)).is_some(), "the first is still inside");
}

fn alone() -> quorate_site::Site {
    let quorums = quorate_quorum::build(quorate_quorum::Kind::Majority, 1).unwrap();
    let config = quorate_site::Config::new(SiteId::new(0), quorums);
    let disk = quorate_site::Disk::default();
    let start = quorate_site::Start::default();
    quorate_site::Site::start(quorate_protocol::Tick::ZERO, config, disk, &start).unwrap().0
}

#[test]
fn a_view_shows_who_is_served_who_waits_and_what_is_lent() {
    let mut net = Net::new(3);
    let calls = [net.claim(0, "deploy"), net.claim(0, "deploy"), net.claim(1, "deploy")];
    let view = net.site(0).show(&name("deploy")).expect("it is in use");
    let seen: Vec<_> = view.calls.iter().map(|call| (call.call, call.fence.is_some())).collect();
    assert_eq!(seen, [(calls[0], true), (calls[1], false)]);
    assert_eq!(&*view.calls[0].claimant.owner, "caller 1");
    let request = view.requests[0].ticket;
    let other = net.site(1).show(&name("deploy")).expect("it asked too");
    let shown: Vec<_> = (0..3).filter_map(|site| net.site(site).show(&name("deploy"))).collect();
    assert!(shown.iter().filter(|view| view.lent == [request]).count() >= 2, "a quorum");
    assert!(shown.iter().any(|view| view.queue == [other.requests[0].ticket]));
}

#[test]
fn all_views_together_explain_who_blocks_whom() {
    let mut net = Net::new(3);
    for site in [2, 0, 1] {
        net.claim(site, "deploy");
    }
    let views = |net: &Net| {
        let shown = SiteId::all(3).map(|site| (site, net.site(site.index()).show(&name("deploy"))));
        shown.filter_map(|(site, view)| Some((site, view?))).collect()
    };
    let standings = quorate_session::explain(&views(&net));
    let sites: Vec<usize> = standings.iter().map(|one| one.request.site.index()).collect();
    assert_eq!(sites, [2, 0, 1], "in the order of their claims");
    assert!(standings[0].inside && standings[0].blocked_by.is_empty());
    assert!(standings[1].blocked_by.contains(&standings[0].request));
    assert!(standings[2].blocked_by.contains(&standings[1].request), "{standings:?}");
    let mut partial: std::collections::BTreeMap<SiteId, _> = views(&net);
    partial.remove(&SiteId::new(2));
    let standings = quorate_session::explain(&partial);
    let unheard = standings.iter().flat_map(|one| &one.unheard);
    assert!(unheard.eq([&SiteId::new(2)]), "{standings:?}");
}
