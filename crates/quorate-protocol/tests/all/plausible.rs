//! Messages with numbers that cannot be true: each is a violation that names the field, and changes
//! nothing. The highest number that an honest site can send is none.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quorate_protocol::group::{Group, GroupLock, Groups};
use quorate_protocol::mutex::{self, Mutex, Pass, Release, Target};
use quorate_protocol::pool::{self, Pool};
use quorate_protocol::role::{self, Role, RoleLock};
use quorate_protocol::token::{self, Entry, Epoch, Queue, Stamp, Token, TokenLock, Waiter};
use quorate_protocol::{
    ClaimId, Fence, Fences, Field, GrantNo, Input, JUMP_MAX, NUMBER_MAX, Out, Protocol, SessionNo,
    Shared, SiteId, Tick, Ticket, Violation, group,
};
use quorate_quorum::{Arbiters, Kind, build};

fn shared() -> Shared {
    Shared::new(SiteId::new(0), build(Kind::Majority, 3).unwrap())
}

/// A ticket of site 2.
fn at(time: u64) -> Ticket {
    Ticket { time, site: SiteId::new(1), claim: ClaimId(1) }
}

/// A ticket of a site that the cluster does not have.
fn nowhere() -> Ticket {
    Ticket { site: SiteId::new(3), ..at(1) }
}

fn groups() -> Groups {
    [Group::new("a")].into_iter().collect()
}

/// Each message of site 2 is rejected for its field, and nothing has changed.
fn reject<P: Protocol>(protocol: &P, messages: impl IntoIterator<Item = (P::Message, Field)>) {
    let messages = messages.into_iter();
    reject_for(protocol, messages.map(|(one, field)| (one, Violation::Implausible(field))));
}

fn reject_for<P: Protocol>(
    protocol: &P,
    messages: impl IntoIterator<Item = (P::Message, Violation)>,
) {
    for (message, violation) in messages {
        let (mut lock, mut site, mut out) = (protocol.clone(), shared(), Out::new());
        let input = Input::Deliver(SiteId::new(1), message.clone());
        let done = lock.step(&mut site, Tick(5), input, &mut out);
        assert_eq!(done, Err(violation), "{message:?}");
        assert!(lock == *protocol && site == shared() && out.is_empty(), "{message:?}");
    }
}

#[test]
fn a_mutex_checks_times_sites_fences_and_loans() {
    use mutex::Message::{Direct, Have, Lack, Raise, Raised, Release as Done, Reply, Request};
    let loan = |count| GrantNo { incarnation: 0, count };
    let target = |ticket| Target { ticket, session: SessionNo(1) };
    let request = |ticket| Request { ticket, held: false, cut: BTreeSet::new() };
    let reply = |arbiter, number, floor| Reply {
        arbiter: SiteId::new(arbiter),
        to: target(at(1)),
        number: loan(number),
        then: BTreeSet::new(),
        fences: Fences { floor: Fence(floor), ceil: Fence(9) },
    };
    let pass = Some(Pass { next: target(nowhere()), rest: BTreeSet::new() });
    let release = |number, passed, floor| {
        Done(Release { ticket: at(1), number, passed, floor: Fence(floor) })
    };
    let cut = BTreeSet::from([SiteId::new(7)]);
    let later = GrantNo { incarnation: 1, count: 1 };
    reject(
        &Mutex::new(mutex::Options::default()),
        [
            (request(at(u64::MAX)), Field::Time),
            (Direct { ticket: at(1), cut }, Field::Site),
            (reply(3, 1, 1), Field::Site),
            (reply(1, u64::MAX, 1), Field::Loan),
            (reply(1, 1, u64::MAX - 9), Field::Fence),
            (release(loan(1), pass, 1), Field::Site),
            (release(loan(1), None, u64::MAX), Field::Fence),
            (release(later, None, 1), Field::Loan),
            (Have { ticket: at(1), number: loan(1 << 33) }, Field::Loan),
            (Lack { ticket: at(1), upto: loan(u64::MAX) }, Field::Loan),
            (Raise { ticket: at(1), ceil: Fence(u64::MAX) }, Field::Fence),
            (Raised { ticket: at(1), ceil: Fence(1 << 63) }, Field::Fence),
        ],
    );
}

#[test]
fn a_group_lock_checks_times_sites_and_fences() {
    use group::Message::{Enter, Lock, Ok as Vote, Raise, Request};
    let fences = Fences { floor: Fence(1), ceil: Fence(u64::MAX) };
    let vote = |fences, waiting: &[Ticket], clock| {
        let waiting = waiting.iter().map(|ticket| (*ticket, groups())).collect();
        Vote { ticket: at(1), fences, waiting, clock }
    };
    let enter = |pivot, fence| Enter {
        ticket: at(1),
        pivot,
        group: Group::new("a"),
        fence: Fence(fence),
        right: SessionNo(1),
        clock: 1,
    };
    let lock = Lock { ticket: at(1), group: Group::new("a"), fence: Fence(1 << 63), right: None };
    let request = Request { ticket: at(1 << 63), groups: groups(), held: false, no_wait: false };
    reject(
        &GroupLock::new(group::Options::default()),
        [
            (request, Field::Time),
            (vote(fences, &[], 1), Field::Fence),
            (vote(Fences::default(), &[nowhere()], 1), Field::Site),
            (vote(Fences::default(), &[], u64::MAX), Field::Time),
            (enter(nowhere(), 1), Field::Site),
            (enter(at(1), u64::MAX), Field::Fence),
            (lock, Field::Fence),
            (Raise { ticket: at(1), ceil: Fence(u64::MAX) }, Field::Fence),
        ],
    );
}

#[test]
fn pools_and_role_locks_check_times_fences_and_loans() {
    let arbiters = Arbiters::uniform(3, 2).unwrap();
    let number = GrantNo { incarnation: 0, count: u64::MAX };
    let fences = Fences { floor: Fence(u64::MAX), ceil: Fence(u64::MAX) };
    let floor = Some(Fence(u64::MAX));
    let ticket = at(1);
    reject(
        &Pool::new(&arbiters.into(), pool::Options::default()),
        [
            (pool::Message::Cancelled { ticket, number }, Field::Loan),
            (pool::Message::Release { ticket, floor }, Field::Fence),
            (pool::Message::Named { ticket, fences, attempt: pool::TryNo(0) }, Field::Fence),
            (pool::Message::Wait { ticket: at(u64::MAX) }, Field::Time),
        ],
    );
    let ask = role::Message::ReqProcess {
        ticket: at(u64::MAX),
        group: Group::new("a"),
        role: Role::Shared,
        time: Duration::ZERO,
        no_wait: false,
    };
    reject(
        &RoleLock::new(role::Options::default()),
        [
            (ask, Field::Time),
            (role::Message::RepRelGroup { pr: at(1), number }, Field::Loan),
            (role::Message::LibGroup { pr: at(1), floor }, Field::Fence),
            (role::Message::Raise { pr: at(1), ceil: Fence(u64::MAX) }, Field::Fence),
        ],
    );
}

#[test]
fn a_token_lock_checks_epochs_rounds_numbers_leases_and_queues() {
    use token::Message::{Prepare, Promise, Registered, Request, Withdraw};
    let me = SiteId::new(0);
    let queue = |group: &str, waiting: &[(usize, u64)]| -> Queue {
        let waiter = |&(site, sn)| Waiter { site: SiteId::new(site), sn };
        let waiting = waiting.iter().map(waiter).collect();
        [Entry { group: Group::new(group), waiting }].into_iter().collect()
    };
    let token = |epoch, round, queue, served: &[(usize, u64)]| {
        let served = served.iter().map(|(site, sn)| (SiteId::new(*site), *sn));
        let served: BTreeMap<SiteId, u64> = served.collect();
        let stamp = Stamp { epoch: Epoch(epoch), round };
        token::Message::Token { token: Token { stamp, queue, served }, until: None }
    };
    let promise = |sn, lease| Promise { epoch: Epoch(3), sn, groups: Some(groups()), lease };
    let long = Duration::from_hours(1);
    reject(
        &TokenLock::restarted(me, 3, token::Options::default(), token::Durable::default()),
        [
            (Request { sn: 0, groups: groups(), again: false }, Field::RequestNumber),
            (Prepare { epoch: Epoch(u64::MAX), sn: 1, groups: groups() }, Field::Epoch),
            (Prepare { epoch: Epoch(1 << 29), sn: 1, groups: groups() }, Field::Epoch),
            (Withdraw { epoch: Epoch(1 << 40) }, Field::Epoch),
            (promise(0, None), Field::RequestNumber),
            (promise(1, Some(long)), Field::Lease),
            (Registered { epoch: Epoch(1), renewal: 1, lease: long }, Field::Lease),
            (token(1, Stamp::LAST - 1, Queue::default(), &[]), Field::Round),
            (token(1, 1, Queue::default(), &[(3, 1)]), Field::Site),
            (token(1, 1, Queue::default(), &[(1, u64::MAX)]), Field::RequestNumber),
            (token(1, 1, queue("a", &[]), &[]), Field::Queue),
            (token(1, 1, queue("a", &[(9, 1)]), &[]), Field::Site),
            (token(1, 1, queue("a", &[(0, 1)]), &[]), Field::Queue),
        ],
    );
}

#[test]
fn a_number_far_above_ours_is_rejected_once() {
    let mut site = shared();
    let lock = Mutex::new(mutex::Options::default());
    let deliver = |site: &mut Shared, message| {
        let (mut lock, mut out) = (lock.clone(), Out::new());
        lock.step(site, Tick(5), Input::Deliver(SiteId::new(1), message), &mut out)
    };
    let request =
        |time| mutex::Message::Request { ticket: at(time), held: false, cut: BTreeSet::new() };
    let raise = |ceil| mutex::Message::Raise { ticket: at(1), ceil: Fence(ceil) };
    let far = Violation::Far(Field::Time);
    assert_eq!(deliver(&mut site, request(JUMP_MAX + 1)), Err(far));
    assert_eq!(deliver(&mut site, request(JUMP_MAX + 1)), Err(far), "its stream is not over");
    site.note_rejected(far);
    assert_eq!(deliver(&mut site, request(2 * JUMP_MAX + 1)), Err(far));
    assert_eq!(deliver(&mut site, request(JUMP_MAX + 9)), Ok(()));
    assert_eq!(site.clock.time(), JUMP_MAX + 9);
    let ceil = site.ceil().0 + JUMP_MAX;
    let far = Violation::Far(Field::Fence);
    assert_eq!(deliver(&mut site, raise(ceil + 1)), Err(far));
    site.note_rejected(far);
    assert_eq!(deliver(&mut site, raise(ceil + 1)), Ok(()));
    for _ in 0..99 {
        site.note_rejected(far);
    }
    let never = Err(Violation::Implausible(Field::Fence));
    assert_eq!(deliver(&mut site, raise(u64::MAX)), never, "however often");
}

#[test]
fn the_longest_way_is_fourteen_rejections() {
    let (mut site, mut rejections) = (shared(), 0);
    let lock = Mutex::new(mutex::Options::default());
    let ticket = at(NUMBER_MAX);
    let request = mutex::Message::Request { ticket, held: false, cut: BTreeSet::new() };
    let deliver = |site: &mut Shared| {
        let input = Input::Deliver(SiteId::new(1), request.clone());
        lock.clone().step(site, Tick(5), input, &mut Out::new())
    };
    while let Err(far) = deliver(&mut site) {
        site.note_rejected(far);
        rejections += 1;
    }
    assert_eq!(rejections, 14);
}
