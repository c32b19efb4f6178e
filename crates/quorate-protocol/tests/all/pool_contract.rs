//! One site of a pool, with inputs that no fault-free run contains: callers and peers that
//! break the contract, and duplicate messages.

use std::collections::BTreeSet;
use std::sync::Arc;

use quorate_protocol::pool::{Claim, Message, Options, Pool, TryNo, Units};
use quorate_protocol::{
    ClaimId, Effect, Fence, Fences, GrantNo, Input, Out, Protocol, Shared, Tick, Ticket,
    ValidityBasis, Violation,
};
use quorate_quorum::{Arbiters, Kind, SiteId, build};

const CLAIM: ClaimId = ClaimId(1);

/// Site 1 of three, with a pool of three units; for two of them it asks sites 1 and 2.
struct Site {
    pool: Pool,
    shared: Shared,
}

fn site(number: usize) -> SiteId {
    SiteId::new(number - 1)
}

fn ticket(time: u64, number: usize) -> Ticket {
    Ticket { time, site: site(number), claim: CLAIM }
}

fn claim(count: u32, of: u32) -> Claim {
    Claim { units: Units { count, of }, numbered: false, no_wait: false }
}

fn request(ticket: Ticket, units: u32) -> Message {
    let (numbers, attempt) = (BTreeSet::new(), TryNo(0));
    Message::Request { ticket, units, held: false, numbers, no_wait: false, attempt }
}

fn ok(ticket: Ticket) -> Message {
    let fences = Fences { floor: Fence(1), ceil: Fence(100) };
    Message::Ok { ticket, number: GrantNo::new(1), fences, clock: 1, attempt: TryNo(0) }
}

impl Site {
    fn new() -> Self {
        let arbiters = Arc::new(Arbiters::uniform(3, 3).unwrap());
        let shared = Shared::new(site(1), build(Kind::Majority, 3).unwrap());
        Self { pool: Pool::new(&arbiters, Options::default()), shared }
    }

    /// Steps, and returns the effects as text.
    fn step(&mut self, input: Input<Pool>) -> Result<Vec<String>, Violation> {
        let before = self.pool.clone();
        let mut out = Out::new();
        let done = self.pool.step(&mut self.shared, Tick::ZERO, input, &mut out);
        if done.is_err() {
            assert_eq!(self.pool, before, "a violation changes nothing");
            assert!(out.is_empty(), "a violation has no effects");
        }
        let text = |effect| match effect {
            Effect::Send(to, message) => format!("to {to}: {message}"),
            Effect::Grant(_, grant) => format!("enters {grant}"),
            Effect::Ignore(why) => format!("ignored: {why}"),
            other => format!("{other:?}"),
        };
        done.map(|()| out.drain().map(text).collect())
    }

    fn deliver(&mut self, from: usize, message: Message) -> Result<Vec<String>, Violation> {
        self.step(Input::Deliver(site(from), message))
    }

    fn acquire(&mut self) {
        let sent = self.step(Input::Acquire(CLAIM, claim(2, 3))).unwrap();
        assert_eq!(sent, ["to 1: request 1.1 for 2", "to 2: request 1.1 for 2"]);
    }
}

#[test]
fn impossible_numbers_of_units_are_refused() {
    let mut one = Site::new();
    for (count, of) in [(0, 3), (4, 3), (1, 2), (1, 0)] {
        let units = Units { count, of };
        let refused = one.step(Input::Acquire(CLAIM, claim(count, of)));
        assert_eq!(refused, Err(Violation::Units(units)));
    }
    assert_eq!(Violation::Units(Units { count: 9, of: 8 }).to_string(), "invalid units: 9 of 8");
    for units in [0, 4] {
        let refused = one.deliver(2, request(ticket(1, 2), units));
        assert_eq!(refused, Err(Violation::Units(Units { count: units, of: 3 })));
    }
}

#[test]
fn callers_that_break_the_contract_change_nothing() {
    let mut one = Site::new();
    assert_eq!(one.step(Input::Release(CLAIM)), Err(Violation::NotInside(CLAIM)));
    assert_eq!(one.step(Input::Abandon(CLAIM)), Err(Violation::NotWaiting(CLAIM)));
    one.acquire();
    assert_eq!(one.step(Input::Acquire(CLAIM, claim(1, 3))), Err(Violation::Busy));
    assert_eq!(one.step(Input::Release(CLAIM)), Err(Violation::NotInside(CLAIM)));
    assert_eq!(one.step(Input::Turn(CLAIM)), Err(Violation::NoTurns));
    one.deliver(1, ok(ticket(1, 1))).unwrap();
    one.deliver(2, ok(ticket(1, 1))).unwrap();
    assert_eq!(one.step(Input::Abandon(CLAIM)), Err(Violation::NotWaiting(CLAIM)));
}

#[test]
fn peers_that_break_the_contract_change_nothing() {
    let mut one = Site::new();
    one.acquire();
    let foreign = ticket(5, 3);
    let release = Message::Release { ticket: foreign, floor: None };
    for message in [request(foreign, 1), release] {
        assert_eq!(one.deliver(2, message), Err(Violation::NotYours(foreign)));
    }
    assert_eq!(one.deliver(3, ok(ticket(1, 1))), Err(Violation::NotAsked(site(3))));
    let (number, attempt) = (GrantNo::new(1), TryNo(0));
    let cancel = Message::Cancel { ticket: ticket(1, 1), number, attempt };
    assert_eq!(one.deliver(3, cancel), Err(Violation::NotAsked(site(3))));
    one.deliver(3, request(foreign, 1)).unwrap();
    for numbers in [[0, 1].into(), [7].into()] {
        let name = Message::Name { ticket: foreign, numbers };
        assert_eq!(one.deliver(3, name), Err(Violation::Numbers(foreign)));
    }
    one.shared.close_session_of(site(3));
    let refused = one.deliver(3, request(ticket(6, 3), 1));
    assert_eq!(refused, Err(Violation::NoSession(site(3))));
}

#[test]
fn duplicate_messages_count_once() {
    let mut one = Site::new();
    let other = ticket(1, 2);
    assert_eq!(one.deliver(2, request(other, 2)).unwrap(), ["to 2: ok 1.2 #1"]);
    let again = one.deliver(2, request(other, 2)).unwrap();
    assert_eq!(again, ["ignored: the request is known already"]);
    assert_eq!(one.pool.view().lent, [other]);
    let third = one.deliver(3, request(ticket(2, 3), 2)).unwrap();
    assert!(third.is_empty(), "two and two are more than three: {third:?}");
    let cancelled = Message::Cancelled { ticket: other, number: GrantNo::new(1) };
    assert_eq!(one.deliver(2, cancelled).unwrap(), ["ignored: the loan is over already"]);

    one.acquire_behind();
    let own = ticket(3, 1);
    one.deliver(2, ok(own)).unwrap();
    let twice = one.deliver(2, ok(own)).unwrap();
    assert_eq!(twice, ["ignored: the loan is known already, or was given back"]);
}

impl Site {
    /// Makes a request after observing ticket 2.3.
    fn acquire_behind(&mut self) {
        let sent = self.step(Input::Acquire(CLAIM, claim(2, 3))).unwrap();
        assert_eq!(sent[1], "to 2: request 3.1 for 2");
    }
}

#[test]
fn a_grant_depends_on_the_permissions_of_its_quorum() {
    let mut one = Site::new();
    one.acquire();
    one.deliver(1, ok(ticket(1, 1))).unwrap();
    assert_eq!(one.pool.validity_basis(CLAIM), ValidityBasis::Nothing);
    assert_eq!(one.pool.view().claims[0].missing, [site(2)]);
    let entered = one.deliver(2, ok(ticket(1, 1))).unwrap();
    assert_eq!(entered, ["enters with 1.1, 2 of 3, fence 1"]);
    let quorum = [site(1), site(2)].into_iter().collect();
    assert_eq!(one.pool.validity_basis(CLAIM), ValidityBasis::Permissions(quorum));
    assert!(!one.pool.is_vacant());
}

/// A ceiling must survive a crash: it is on disk before any message carries it.
#[test]
fn a_ceiling_is_on_disk_before_it_is_sent() {
    let mut one = Site::new();
    one.deliver(2, request(ticket(1, 2), 3)).unwrap();
    one.deliver(3, request(ticket(2, 3), 1)).unwrap();
    one.shared.close_session_of(site(2));
    let ceil = one.shared.ceil();
    let lost = one.step(Input::Closed(site(2))).unwrap();
    assert!(lost[0].starts_with("Persist(FenceCeil"), "{lost:?}");
    assert_eq!(lost[1], "to 3: ok 2.3 #1");
    assert_eq!(one.shared.floor(), ceil, "the lost holder may have used any fence below");
}
