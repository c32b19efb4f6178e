//! A group lock rejects inputs that break its contract and stays unchanged; it can serve as a
//! read-write lock.

use quorate_protocol::group::{Access, Claim, Group, GroupLock, Groups, Message, Options};
use quorate_protocol::{
    ClaimId, Effect, Fence, Fences, Input, Out, Protocol, SessionNo, Shared, SiteId, Tick, Ticket,
    Violation,
};
use quorate_quorum::{Kind, build};

const ID: ClaimId = ClaimId(1);

fn site(number: usize) -> SiteId {
    SiteId::new(number - 1)
}

fn ticket(time: u64, number: usize) -> Ticket {
    Ticket { time, site: site(number), claim: ID }
}

fn groups(names: &[&str]) -> Groups {
    names.iter().map(|name| Group::new(name)).collect()
}

/// Site 1 of three. It has asked itself and site 2 for group a, and holds its own vote.
fn waiting() -> (GroupLock, Shared) {
    let mut shared = Shared::new(site(1), build(Kind::Majority, 3).unwrap());
    let mut lock = GroupLock::new(Options::default());
    let claim = Claim { groups: groups(&["a"]), no_wait: false };
    let sent = step(&mut lock, &mut shared, Input::Acquire(ID, claim)).unwrap();
    for effect in sent {
        if let Effect::Send(to, message) = effect
            && to == site(1)
        {
            let ok = step(&mut lock, &mut shared, Input::Deliver(to, message)).unwrap();
            let [Effect::Send(_, ok)] = &ok[..] else { panic!("one vote, but {ok:?}") };
            step(&mut lock, &mut shared, Input::Deliver(site(1), ok.clone())).unwrap();
        }
    }
    (lock, shared)
}

fn step(
    lock: &mut GroupLock,
    shared: &mut Shared,
    input: Input<GroupLock>,
) -> Result<Vec<Effect<GroupLock>>, Violation> {
    let mut out = Out::new();
    lock.step(shared, Tick::ZERO, input, &mut out)?;
    Ok(out.drain().collect())
}

#[test]
fn a_contract_violation_changes_nothing() {
    let ok = |from| Message::Ok {
        ticket: ticket(1, from),
        fences: Fences { floor: Fence(1), ceil: Fence(2) },
        waiting: vec![],
        clock: 9,
    };
    let enter = |group: &str| Message::Enter {
        ticket: ticket(1, 1),
        pivot: ticket(1, 3),
        group: Group::new(group),
        fence: Fence(1),
        right: SessionNo(0),
        clock: 9,
    };
    let (one, two, three) = (ticket(1, 1), ticket(4, 2), ticket(4, 3));
    let lock = |ticket| Message::Lock {
        ticket,
        group: Group::new("a"),
        fence: Fence(1),
        right: Some(SessionNo(0)),
    };
    let deliver = |from: usize, message| Input::Deliver(site(from), message);
    let none = Claim { groups: groups(&[]), no_wait: false };
    let empty = Message::Request { ticket: two, groups: groups(&[]), held: false, no_wait: false };
    for (input, violation) in [
        (Input::Acquire(ClaimId(2), none), Violation::NoGroups),
        (Input::Acquire(ID, Claim { groups: groups(&["b"]), no_wait: false }), Violation::Busy),
        (Input::Release(ID), Violation::NotInside(ID)),
        (Input::Release(ClaimId(7)), Violation::NotInside(ClaimId(7))),
        (Input::Abandon(ClaimId(7)), Violation::NotWaiting(ClaimId(7))),
        (Input::Turn(ID), Violation::NoTurns),
        (deliver(3, ok(1)), Violation::NotAsked(site(3))),
        (deliver(3, enter("a")), Violation::NotAsked(site(3))),
        (deliver(2, enter("b")), Violation::NotClaimed(one)),
        (deliver(3, Message::Cancel { ticket: one }), Violation::NotAsked(site(3))),
        (deliver(2, empty), Violation::NoGroups),
        (deliver(2, lock(three)), Violation::NotYours(three)),
        (deliver(2, lock(two)), Violation::NotHolder(two)),
        (deliver(2, Message::Cancelled { ticket: two }), Violation::NotHolder(two)),
        (deliver(2, Message::Over { ticket: two }), Violation::NotHolder(two)),
    ] {
        let (mut lock, mut shared) = waiting();
        let before = (lock.clone(), shared.clock, shared.floor());
        let rejected = step(&mut lock, &mut shared, input.clone()).unwrap_err();
        assert_eq!(rejected, violation, "{input:?}");
        assert_eq!((lock, shared.clock, shared.floor()), before, "{input:?}");
        assert!(!rejected.to_string().is_empty());
    }
}

#[test]
fn a_repeated_request_is_queued_once() {
    let (mut lock, mut shared) = waiting();
    let request = Message::Request {
        ticket: ticket(4, 2),
        groups: groups(&["b"]),
        held: false,
        no_wait: false,
    };
    let once = Input::Deliver(site(2), request);
    assert_eq!(step(&mut lock, &mut shared, once.clone()).unwrap(), []);
    let queue = lock.view().queue;
    let known = [Effect::Ignore("the request is known already")];
    assert_eq!(step(&mut lock, &mut shared, once).unwrap(), known);
    assert_eq!((lock.view().queue, queue.len()), (queue.clone(), 1));
}

#[test]
fn readers_share_one_group_and_each_writer_has_its_own() {
    let read = |number| Claim::of_access(Access::Read, site(number), ID);
    let write = |number, id| Claim::of_access(Access::Write, site(number), ClaimId(id));
    assert_eq!(read(1), read(2));
    let all = [read(1), write(1, 1), write(1, 2), write(2, 1)];
    for (place, one) in all.iter().enumerate() {
        for other in &all[place + 1..] {
            assert!(one.groups.iter().all(|group| !other.groups.contains(group)));
        }
    }
}

/// A manager with a limit of 50 ms; site 2 is inside with group a, site 3 waits with group b.
#[test]
fn no_weaker_request_joins_once_a_stronger_one_has_waited_too_long() {
    let ms = |ms: u64| Tick(ms * 1_000_000);
    let limit = Some(std::time::Duration::from_millis(50));
    let mut shared = Shared::new(site(1), build(Kind::Majority, 3).unwrap());
    let mut manager = GroupLock::new(Options { limit, ..Options::default() });
    let mut deliver = |at: u64, from: usize, message: Message| {
        let mut out = Out::new();
        let input = Input::Deliver(site(from), message);
        manager.step(&mut shared, ms(at), input, &mut out).unwrap();
        let sent = out.drain().filter_map(|effect| match effect {
            Effect::Send(_, message) => Some(message.kind()),
            _ => None,
        });
        sent.collect::<Vec<_>>()
    };
    let request = |time, from, name: &str| Message::Request {
        ticket: ticket(time, from),
        groups: groups(&[name]),
        held: false,
        no_wait: false,
    };
    let (group, fence, right) = (Group::new("a"), Fence(1), Some(SessionNo(0)));
    assert_eq!(deliver(0, 2, request(1, 2, "a")), ["ok"]);
    assert!(deliver(0, 2, Message::Lock { ticket: ticket(1, 2), group, fence, right }).is_empty());
    assert!(deliver(100, 3, request(5, 3, "b")).is_empty());
    assert_eq!(deliver(149, 3, request(6, 3, "a")), ["enter"]);
    assert!(deliver(150, 3, request(7, 3, "a")).is_empty(), "it has waited for 50 ms");
    assert_eq!(deliver(150, 2, request(4, 2, "a")), ["enter"], "it is stronger than the waiter");
}
