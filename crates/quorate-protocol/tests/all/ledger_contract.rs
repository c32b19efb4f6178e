//! One site of a ledger pool, with inputs that no run of the simulator contains: callers and peers
//! that break the contract, callers that do not wait, and a ledger of 65 536 callers.

use std::collections::BTreeSet;

use quorate_protocol::ledger::{Change, Claim, LedgerPool, Message, Options, Try, Units, Update};
use quorate_protocol::{
    ClaimId, Effect, Fence, Fences, Field, Input, NUMBER_MAX, Out, Protocol, Shared, Tick, Ticket,
    ValidityBasis, Violation,
};
use quorate_quorum::{Kind, SiteId, build};

/// One site of three, with majorities: site 1 asks sites 1 and 2.
struct Site {
    pool: LedgerPool,
    shared: Shared,
}

fn site(number: usize) -> SiteId {
    SiteId::new(number - 1)
}

fn ticket(time: u64, number: usize) -> Ticket {
    Ticket { time, site: site(number), claim: ClaimId(1) }
}

fn first(ticket: Ticket) -> Try {
    Try { ticket, number: 1 }
}

fn claim(count: u32, of: u32) -> Claim {
    Claim { units: Units { count, of }, numbered: true, no_wait: false }
}

fn request(of: Try) -> Message {
    Message::Request { of, known: 0 }
}

fn reply(of: Try, changes: Vec<Change>) -> Message {
    let update = Update { whole: true, changes, version: 0 };
    Message::Reply { of, update, fences: Fences { floor: Fence(1), ceil: Fence(100) }, clock: 1 }
}

fn units(numbers: impl IntoIterator<Item = u32>) -> BTreeSet<u32> {
    numbers.into_iter().collect()
}

impl Site {
    fn new(number: usize, units: u32) -> Self {
        let shared = Shared::new(site(number), build(Kind::Majority, 3).unwrap());
        Self { pool: LedgerPool::new(units, Options::default()), shared }
    }

    fn effects(&mut self, input: Input<LedgerPool>) -> Result<Vec<Effect<LedgerPool>>, Violation> {
        let before = self.pool.clone();
        let mut out = Out::new();
        let done = self.pool.step(&mut self.shared, Tick::ZERO, input, &mut out);
        if done.is_err() {
            assert_eq!(self.pool, before, "a violation changes nothing");
            assert!(out.is_empty(), "a violation has no effects");
        }
        done.map(|()| out.drain().collect())
    }

    /// Steps, and returns the effects as text.
    fn step(&mut self, input: Input<LedgerPool>) -> Result<Vec<String>, Violation> {
        let text = |effect| match effect {
            Effect::Send(to, message) => format!("to {to}: {message}"),
            Effect::Grant(_, grant) => format!("enters {grant}"),
            Effect::Ignore(why) => format!("ignored: {why}"),
            other => format!("{other:?}"),
        };
        self.effects(input).map(|effects| effects.into_iter().map(text).collect())
    }

    fn deliver(&mut self, from: usize, message: Message) -> Result<Vec<String>, Violation> {
        self.step(Input::Deliver(site(from), message))
    }

    fn acquire(&mut self, id: u32, claim: Claim) -> Vec<String> {
        self.step(Input::Acquire(ClaimId(id), claim)).unwrap()
    }

    fn held_up(&self, id: u32) -> bool {
        self.pool.claim_view(ClaimId(id)).unwrap().held_up
    }
}

#[test]
fn callers_that_break_the_contract_change_nothing() {
    let (mut one, id) = (Site::new(1, 3), ClaimId(1));
    for (count, of) in [(0, 3), (4, 3), (1, 2)] {
        let refused = one.step(Input::Acquire(id, claim(count, of)));
        assert_eq!(refused, Err(Violation::Units(Units { count, of })));
    }
    assert_eq!(one.step(Input::Release(id)), Err(Violation::NotInside(id)));
    assert_eq!(one.step(Input::Abandon(id)), Err(Violation::NotWaiting(id)));
    assert_eq!(one.acquire(1, claim(2, 3)), ["to 1: request 1.1", "to 2: request 1.1"]);
    assert_eq!(one.step(Input::Acquire(id, claim(1, 3))), Err(Violation::Busy));
    assert_eq!(one.step(Input::Release(id)), Err(Violation::NotInside(id)));
    assert_eq!(one.step(Input::Turn(id)), Err(Violation::NoTurns));
    let own = first(ticket(1, 1));
    one.deliver(1, reply(own, vec![])).unwrap();
    let entered = one.deliver(2, reply(own, vec![])).unwrap();
    assert_eq!(entered[2], "enters with 1.1, 2 of 3 (0 1), fence 1");
    let quorum = [site(1), site(2)].into_iter().collect();
    assert_eq!(one.pool.validity_basis(id), ValidityBasis::Permissions(quorum));
    assert_eq!(one.step(Input::Abandon(id)), Err(Violation::NotWaiting(id)));
    assert_eq!(one.step(Input::Acquire(id, claim(1, 3))), Err(Violation::Busy));
}

#[test]
fn peers_that_break_the_contract_change_nothing() {
    let mut one = Site::new(1, 3);
    one.acquire(1, claim(2, 3));
    let (own, foreign) = (first(ticket(1, 1)), ticket(5, 3));
    let enter = |of, numbers| Message::Enter {
        of,
        callers: vec![(foreign, units(numbers))],
        floor: Fence(2),
    };
    let left = Message::Left { ticket: foreign };
    for message in [request(first(foreign)), left, enter(first(ticket(1, 2)), vec![0])] {
        assert_eq!(one.deliver(2, message), Err(Violation::NotYours(foreign)));
    }
    let not_lent = one.deliver(3, enter(first(foreign), vec![0]));
    assert_eq!(not_lent, Err(Violation::NotHolder(foreign)));
    for numbers in [vec![], vec![3]] {
        let refused = one.deliver(3, enter(first(foreign), numbers));
        assert_eq!(refused, Err(Violation::Numbers(foreign)));
    }
    assert_eq!(one.deliver(3, reply(own, vec![])), Err(Violation::NotAsked(site(3))));
    let far = Message::Request { of: first(foreign), known: NUMBER_MAX + 1 };
    assert_eq!(one.deliver(3, far), Err(Violation::Implausible(Field::Version)));
    let nowhere = Change::Leave(Ticket { site: SiteId::new(7), ..foreign });
    let refused = one.deliver(2, reply(own, vec![nowhere]));
    assert_eq!(refused, Err(Violation::Implausible(Field::Site)));
    one.shared.sessions.set_inbound(site(3), None);
    let refused = one.deliver(3, request(first(foreign)));
    assert_eq!(refused, Err(Violation::NoSession(site(3))));
}

/// A ceiling must survive a crash: it is on disk before any message carries it.
#[test]
fn a_ceiling_is_on_disk_before_it_is_sent() {
    let mut one = Site::new(1, 3);
    one.deliver(2, request(first(ticket(1, 2)))).unwrap();
    one.deliver(3, request(first(ticket(2, 3)))).unwrap();
    one.shared.close_session_of(site(2));
    let ceil = one.shared.ceil();
    let lost = one.step(Input::Closed(site(2))).unwrap();
    assert!(lost[0].starts_with("Persist(FenceCeil"), "{lost:?}");
    assert_eq!(lost[1], "to 3: reply 2.3");
    assert_eq!(one.shared.floor(), ceil, "the lost borrower may have used any fence below");
}

/// L9: a caller that does not wait is denied when the request of its site has to wait.
#[test]
fn a_caller_with_no_wait_is_held_up_at_an_arbiter_and_at_the_door() {
    let hasty = Claim { no_wait: true, ..claim(1, 2) };
    let mut one = Site::new(1, 2);
    one.acquire(1, hasty);
    one.acquire(2, hasty);
    assert!(!one.held_up(1) && !one.held_up(2));
    one.deliver(2, Message::Fail { of: first(ticket(1, 1)) }).unwrap();
    assert!(one.held_up(1) && one.held_up(2));
    one.acquire(3, hasty);
    assert!(one.held_up(3), "the request before it waits already");

    let mut one = Site::new(1, 2);
    one.acquire(1, hasty);
    one.acquire(2, hasty);
    let of = first(ticket(1, 1));
    one.deliver(1, reply(of, vec![])).unwrap();
    let other = Change::Join(ticket(9, 3), units([0]));
    let entered = one.deliver(2, reply(of, vec![other])).unwrap();
    assert!(entered.contains(&"enters with 1.1, 1 of 2 (1), fence 1".to_owned()), "{entered:?}");
    assert!(one.held_up(2), "it does not fit at the door");
}

/// Site 3 asks arbiter 1 and itself for one unit. Returns the number of changes in each message
/// from arbiter 1.
fn ask(arbiter: &mut Site, three: &mut Site, id: u32, of: u32) -> Vec<usize> {
    let sent = three.effects(Input::Acquire(ClaimId(id), claim(1, of))).unwrap();
    let request = sent.into_iter().find_map(|effect| match effect {
        Effect::Send(to, message) if to == site(1) => Some(message),
        _ => None,
    });
    let request = request.expect("it asks arbiter 1");
    let Message::Request { of, .. } = request else { unreachable!() };
    three.deliver(3, reply(of, vec![])).unwrap();
    let mut changes = Vec::new();
    for effect in arbiter.effects(Input::Deliver(site(3), request)).unwrap() {
        let Effect::Send(_, message) = effect else { unreachable!() };
        if let Message::Part { update } | Message::Reply { update, .. } = &message {
            changes.push(update.changes.len());
        }
        three.deliver(1, message).unwrap();
    }
    changes
}

/// Arbiter 1 has a ledger of 65 536 callers. It goes to site 3 in parts; the next time, changes do.
#[test]
fn a_long_ledger_comes_in_parts_and_then_in_changes() {
    const UNITS: u32 = 1 << 16;
    let (mut arbiter, mut three) = (Site::new(1, UNITS), Site::new(3, UNITS));
    let holder = |unit: u32| Ticket { claim: ClaimId(unit), ..ticket(1, 2) };
    for unit in 0..UNITS {
        let register = Message::Register { ticket: holder(unit), numbers: units([unit]) };
        let (input, mut out) = (Input::Deliver(site(2), register), Out::new());
        arbiter.pool.step(&mut arbiter.shared, Tick::ZERO, input, &mut out).unwrap();
    }
    let parts = ask(&mut arbiter, &mut three, 1, UNITS);
    assert_eq!(parts.iter().sum::<usize>(), UNITS as usize);
    assert!(parts.len() > 10 && parts.iter().all(|&part| part <= 1 << 12), "{parts:?}");
    assert!(!three.pool.view().claims[0].inside, "no unit is free");

    let left = Message::Left { ticket: holder(77) };
    let mut told = arbiter.effects(Input::Deliver(site(2), left)).unwrap();
    let Some(Effect::Send(_, gone)) = told.pop() else { panic!("the borrower is told") };
    let entered = three.effects(Input::Deliver(site(1), gone)).unwrap();
    let enter = entered.into_iter().find_map(|effect| match effect {
        Effect::Send(to, message @ Message::Enter { .. }) if to == site(1) => Some(message),
        _ => None,
    });
    assert!(three.pool.claim_view(ClaimId(1)).unwrap().inside, "a unit is free");
    arbiter.deliver(3, enter.expect("it enters at arbiter 1")).unwrap();
    assert_eq!(ask(&mut arbiter, &mut three, 2, UNITS), [1], "only its own entry is new");
}
