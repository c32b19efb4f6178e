//! A role lock rejects inputs that break its contract and stays unchanged; all sites compute the
//! same host for a group.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_protocol::group::Group;
use quorate_protocol::role::{Claim, Message, Options, Role, RoleLock};
use quorate_protocol::{
    ClaimId, Effect, Fence, Fences, GrantNo, Input, Out, OutboundSession, Protocol, Shared, SiteId,
    Tick, Ticket, Violation,
};
use quorate_quorum::{Kind, Listed, build};

const ID: ClaimId = ClaimId(1);
const TIME: Duration = Duration::from_millis(4);

fn site(number: usize) -> SiteId {
    SiteId::new(number - 1)
}

fn ticket(time: u64, number: usize) -> Ticket {
    Ticket { time, site: site(number), claim: ID }
}

/// A stage hosted by a site, which uses claim 0.
fn stage(time: u64, number: usize) -> Ticket {
    Ticket { claim: ClaimId(0), ..ticket(time, number) }
}

fn claim(name: &str) -> Claim {
    Claim { groups: BTreeMap::from([(Group::new(name), Role::Shared)]), time: TIME, no_wait: false }
}

fn step(
    lock: &mut RoleLock,
    shared: &mut Shared,
    input: Input<RoleLock>,
) -> Result<Vec<Effect<RoleLock>>, Violation> {
    let mut out = Out::new();
    lock.step(shared, Tick::ZERO, input, &mut out)?;
    Ok(out.drain().collect())
}

fn three() -> Shared {
    Shared::new(site(1), build(Kind::Majority, 3).unwrap())
}

/// Site 1 of three. It hosts group b, whose stage holds the lock of site 1, and a process of site 1
/// waits for b.
fn waiting() -> (RoleLock, Shared) {
    let (mut lock, mut shared) = (RoleLock::new(Options::default()), three());
    let mut own = step(&mut lock, &mut shared, Input::Acquire(ID, claim("b"))).unwrap();
    while let Some(effect) = own.pop() {
        if let Effect::Send(to, message) = effect
            && to == site(1)
        {
            own.extend(step(&mut lock, &mut shared, Input::Deliver(to, message)).unwrap());
        }
    }
    (lock, shared)
}

#[test]
fn a_contract_violation_changes_nothing() {
    let fences = Fences { floor: Fence(1), ceil: Fence(2) };
    let rec = |pr| {
        let (number, contended, clock) = (GrantNo::new(1), false, 9);
        Message::RecGroup { pr, number, fences, contended, clock }
    };
    let rel = |pr| Message::RelGroup { pr, number: GrantNo::new(1), better: true };
    let (group, role, time) = (Group::new("b"), Role::Shared, TIME);
    let req =
        |ticket| Message::ReqProcess { ticket, group: group.clone(), role, time, no_wait: false };
    let rep = |ticket| {
        let (group, fence) = (group.clone(), Fence(1));
        let (pr, stage_fence, left) = (stage(2, 2), fence, TIME);
        Message::RepProcess { ticket, group, pr, fence, stage_fence, left }
    };
    let deliver = |from: usize, message| Input::Deliver(site(from), message);
    let none = Claim { groups: BTreeMap::new(), time: TIME, no_wait: false };
    for (input, violation) in [
        (Input::Acquire(ClaimId(2), none), Violation::NoGroups),
        (Input::Acquire(ID, claim("c")), Violation::Busy),
        (Input::Release(ID), Violation::NotInside(ID)),
        (Input::Release(ClaimId(7)), Violation::NotInside(ClaimId(7))),
        (Input::Abandon(ClaimId(7)), Violation::NotWaiting(ClaimId(7))),
        (Input::Turn(ID), Violation::NoTurns),
        (deliver(2, req(ticket(4, 3))), Violation::NotYours(ticket(4, 3))),
        (deliver(2, rep(ticket(4, 3))), Violation::NotYours(ticket(4, 3))),
        (deliver(3, rec(stage(2, 1))), Violation::NotAsked(site(3))),
        (deliver(3, rel(stage(2, 1))), Violation::NotAsked(site(3))),
        (deliver(2, rec(stage(2, 3))), Violation::NotYours(stage(2, 3))),
        (
            deliver(2, Message::LibGroup { pr: stage(2, 3), floor: None }),
            Violation::NotYours(stage(2, 3)),
        ),
    ] {
        let (mut lock, mut shared) = waiting();
        let before = (lock.clone(), shared.clock, shared.floor());
        let refused = step(&mut lock, &mut shared, input.clone()).unwrap_err();
        assert_eq!(refused, violation, "{input:?}");
        assert_eq!((lock, shared.clock, shared.floor()), before, "{input:?}");
        assert!(!refused.to_string().is_empty());
    }
}

#[test]
fn a_site_without_a_quorum_hosts_no_group() {
    let quorums = || std::sync::Arc::new("quorum 2: 1 2\nquorum 3: 1 3".parse::<Listed>().unwrap());
    let mut lock = RoleLock::new(Options::default());
    let mut shared = Shared::new(site(1), quorums());
    for name in ["a", "b", "c", "d"] {
        let host = RoleLock::host_of(&Group::new(name), &shared).unwrap();
        assert_ne!(host, site(1), "{name}");
        let elsewhere = Shared::new(site(3), quorums());
        assert_eq!(RoleLock::host_of(&Group::new(name), &elsewhere), Some(host), "all sites agree");
    }
    let (ticket, group) = (ticket(4, 2), Group::new("a"));
    let asked =
        Message::ReqProcess { ticket, group, role: Role::Shared, time: TIME, no_wait: false };
    let refused = step(&mut lock, &mut shared, Input::Deliver(site(2), asked));
    assert_eq!(refused, Err(Violation::NoQuorum));
    for peer in [2, 3] {
        shared.sessions.set_outbound(site(peer), OutboundSession::default());
    }
    let refused = step(&mut lock, &mut shared, Input::Acquire(ID, claim("a")));
    assert_eq!(refused, Err(Violation::NoQuorum), "no host is reachable");
}

/// Durations saturate instead of overflowing: others wait, and nothing breaks.
#[test]
fn declared_durations_saturate() {
    let options = Options { tc: TIME, ..Options::default() };
    let (mut lock, mut shared) = (RoleLock::new(options), three());
    for (number, role) in (1..).zip([Role::Exclusive, Role::Exclusive, Role::Shared]) {
        let ticket = Ticket { claim: ClaimId(number), ..ticket(4, 2) };
        let (group, time) = (Group::new("b"), Duration::MAX);
        let asked = Message::ReqProcess { ticket, group, role, time, no_wait: false };
        step(&mut lock, &mut shared, Input::Deliver(site(2), asked)).unwrap();
    }
    let longest = lock.view().etas.iter().map(|eta| eta.after).max();
    assert_eq!(longest, Some(Duration::MAX), "the second exclusive request waits for the first");
}

#[test]
fn only_the_groups_of_a_lost_host_move() {
    let (all, mut without) = (three(), three());
    without.sessions.set_outbound(site(2), OutboundSession::default());
    let (mut moved, mut stayed) = (0, 0);
    for number in 0..60 {
        let group = Group::new(&format!("g{number}"));
        let hosts = (RoleLock::host_of(&group, &all), RoleLock::host_of(&group, &without));
        if hosts.0 == Some(site(2)) {
            assert_ne!(hosts.1, hosts.0);
            moved += 1;
        } else {
            assert_eq!(hosts.1, hosts.0);
            stayed += 1;
        }
    }
    assert!(moved > 10 && stayed > 30, "{moved} moved, {stayed} stayed");
}
