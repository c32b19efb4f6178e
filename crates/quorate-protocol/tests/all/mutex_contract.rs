//! One site of the mutex, with inputs that no fault-free run contains: callers and peers
//! that break the contract, and duplicate messages.

use quorate_protocol::mutex::{Fences, Message, Mutex, Options, Target};
use quorate_protocol::{
    ClaimId, Effect, Fence, GrantNo, Input, Out, OutboundSession, Protocol, SessionNo, Shared,
    Tick, Ticket, ValidityBasis, Violation,
};
use quorate_quorum::{Kind, Listed, SiteId, SiteSet, build};

/// Site 1 of three; its quorum is sites 1 and 2.
struct Site {
    mutex: Mutex,
    shared: Shared,
}

const CLAIM: ClaimId = ClaimId(1);

fn site(number: usize) -> SiteId {
    SiteId::new(number - 1)
}

fn ticket(time: u64, number: usize) -> Ticket {
    Ticket { time, site: site(number), claim: CLAIM }
}

impl Site {
    fn new() -> Self {
        let shared = Shared::new(site(1), build(Kind::Majority, 3).unwrap());
        Self { mutex: Mutex::new(Options::default()), shared }
    }

    /// Steps, and returns the effects as text.
    fn step(&mut self, input: Input<Mutex>) -> Result<Vec<String>, Violation> {
        let before = self.mutex.clone();
        let mut out = Out::new();
        let done = self.mutex.step(&mut self.shared, Tick::ZERO, input, &mut out);
        if done.is_err() {
            assert_eq!(self.mutex, before, "a violation changes nothing");
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

    /// Makes a request, and lends it the permission of this site.
    fn acquire(&mut self) {
        let sent = self.step(Input::Acquire(CLAIM, ())).unwrap();
        assert_eq!(sent, ["to 1: request 1.1", "to 2: request 1.1"]);
        self.deliver(1, request(ticket(1, 1))).unwrap();
        self.deliver(1, reply(1, ticket(1, 1))).unwrap();
    }
}

fn request(ticket: Ticket) -> Message {
    Message::Request { ticket, held: false, cut: [].into() }
}

fn reply(arbiter: usize, ticket: Ticket) -> Message {
    let (arbiter, number) = (site(arbiter), GrantNo::new(1));
    let fences = Fences { floor: Fence(1), ceil: Fence(100) };
    let to = Target { ticket, session: SessionNo(0) };
    Message::Reply { arbiter, to, number, then: [].into(), fences }
}

#[test]
fn callers_that_break_the_contract_change_nothing() {
    let mut one = Site::new();
    assert_eq!(one.step(Input::Release(CLAIM)), Err(Violation::NotInside(CLAIM)));
    assert_eq!(one.step(Input::Abandon(CLAIM)), Err(Violation::NotWaiting(CLAIM)));
    one.acquire();
    assert_eq!(one.step(Input::Acquire(ClaimId(2), ())), Err(Violation::Busy));
    assert_eq!(one.step(Input::Release(CLAIM)), Err(Violation::NotInside(CLAIM)));
    assert_eq!(one.step(Input::Abandon(ClaimId(2))), Err(Violation::NotWaiting(ClaimId(2))));
    one.deliver(2, reply(2, ticket(1, 1))).unwrap();
    assert_eq!(one.step(Input::Abandon(CLAIM)), Err(Violation::NotWaiting(CLAIM)));
    assert_eq!(one.step(Input::Release(ClaimId(2))), Err(Violation::NotInside(ClaimId(2))));
}

#[test]
fn a_site_without_a_quorum_cannot_ask() {
    let only: SiteSet = [site(2)].into_iter().collect();
    let quorums = Listed::new(vec![None, Some(only)]).unwrap();
    let mut one = Site::new();
    one.shared = Shared::new(site(1), std::sync::Arc::new(quorums));
    assert_eq!(one.step(Input::Acquire(CLAIM, ())), Err(Violation::NoQuorum));
}

#[test]
fn peers_that_break_the_contract_change_nothing() {
    let mut one = Site::new();
    one.acquire();
    let foreign = ticket(5, 3);
    for message in [request(foreign), Message::Cancel { ticket: foreign }] {
        assert_eq!(one.deliver(2, message), Err(Violation::NotYours(foreign)));
    }
    let own = ticket(1, 1);
    assert_eq!(one.deliver(3, reply(3, own)), Err(Violation::NotAsked(site(3))));
    let fail = Message::Fail { ticket: own };
    assert_eq!(one.deliver(3, fail), Err(Violation::NotAsked(site(3))));
    let inquire =
        Message::Inquire { ticket: own, number: GrantNo::new(1), then: None, demand: false };
    assert_eq!(one.deliver(3, inquire), Err(Violation::NotAsked(site(3))));
    let next = Target { ticket: foreign, session: SessionNo(0) };
    let transfer = Message::Transfer { ticket: own, number: GrantNo::new(1), next };
    assert_eq!(one.deliver(3, transfer), Err(Violation::NotAsked(site(3))));
}

#[test]
fn a_duplicate_request_is_answered_twice_and_queued_once() {
    let mut one = Site::new();
    let (second, third) = (ticket(1, 2), ticket(2, 3));
    let lent = one.deliver(2, request(second)).unwrap();
    assert_eq!(lent, ["to 2: reply 1.2 for 1 #1"]);
    assert_eq!(one.deliver(2, request(second)).unwrap(), lent);
    let queued = one.deliver(3, request(third)).unwrap();
    assert_eq!(queued, ["to 2: transfer 1.2 #1, then 2.3", "to 3: fail 2.3"]);
    let again = one.deliver(3, request(third)).unwrap();
    assert_eq!(again, ["to 3: fail 2.3"]);
    assert_eq!(one.mutex.view().queue, [third]);
}

#[test]
fn late_and_duplicate_messages_are_ignored_with_a_reason() {
    let mut one = Site::new();
    one.acquire();
    let own = ticket(1, 1);
    let twice = one.deliver(1, reply(1, own)).unwrap();
    assert_eq!(twice, ["ignored: the loan is known already, or was refused"]);
    let (ticket, number) = (ticket(9, 2), GrantNo::new(7));
    let yielded = one.deliver(2, Message::Yield { ticket, number, passed: None }).unwrap();
    assert_eq!(yielded, ["ignored: the loan is over already"]);
    let cancelled = one.deliver(2, Message::Cancel { ticket }).unwrap();
    assert_eq!(cancelled, ["ignored: the request is over already"]);
}

#[test]
fn a_grant_depends_on_the_permissions_of_its_quorum() {
    let mut one = Site::new();
    one.acquire();
    assert_eq!(one.mutex.validity_basis(CLAIM), ValidityBasis::Nothing);
    assert_eq!(one.mutex.view().claims[0].missing, [site(2)]);
    let entered = one.deliver(2, reply(2, ticket(1, 1))).unwrap();
    assert_eq!(entered, ["enters with 1.1, fence 1"]);
    let quorum = [site(1), site(2)].into_iter().collect();
    assert_eq!(one.mutex.validity_basis(CLAIM), ValidityBasis::Permissions(quorum));
    assert!(one.mutex.view().claims[0].inside && !one.mutex.is_vacant());
}

/// A ceiling must survive a crash: it is on disk before any message carries it.
#[test]
fn a_ceiling_is_on_disk_before_it_is_sent() {
    let mut one = Site::new();
    one.deliver(2, request(ticket(1, 2))).unwrap();
    one.deliver(3, request(ticket(2, 3))).unwrap();
    one.shared.close_session_of(site(2));
    let ceil = one.shared.ceil();
    let lost = one.step(Input::Closed(site(2))).unwrap();
    assert!(lost[0].starts_with("Persist(FenceCeil"), "{lost:?}");
    assert_eq!(lost[1], "to 3: where 2.3 up to #2");
    assert_eq!(one.shared.floor(), ceil, "the lost holder may have used any fence below");
    assert!(one.shared.ceil() > ceil);
    let raise = Message::Raise { ticket: ticket(2, 3), ceil: one.shared.ceil().next() };
    let raised = one.deliver(3, raise).unwrap();
    assert!(raised[0].starts_with("Persist(FenceCeil"), "{raised:?}");
    assert!(raised[1].starts_with("to 3: raised 2.3"), "{raised:?}");
}

#[test]
fn a_message_without_a_session_is_refused() {
    let mut one = Site::new();
    one.shared.close_session_of(site(2));
    let refused = one.deliver(2, request(ticket(1, 2)));
    assert_eq!(refused, Err(Violation::NoSession(site(2))));
}

/// Site 1 of five has asked 1, 2 and 3, and loses 2 and 3 while 4 is silent and 5 is unreachable.
/// When 2 is back, 4 answers again too, but no event has said so.
#[test]
fn a_session_that_opens_lets_a_request_ask_sites_that_answer_again() {
    let shared = Shared::new(site(1), build(Kind::Majority, 5).unwrap());
    let mut one = Site { mutex: Mutex::new(Options::default()), shared };
    let session = |number, silent| OutboundSession { number, silent, quarantined: false };
    let open = Some(SessionNo(1));
    for (peer, number) in [(2, open), (3, open), (4, open), (5, None)] {
        one.shared.sessions.set_outbound(site(peer), session(number, false));
    }
    let asked = one.step(Input::Acquire(CLAIM, ())).unwrap();
    assert_eq!(asked.len(), 3, "{asked:?}");
    one.shared.sessions.set_outbound(site(4), session(open, true));
    for peer in [2, 3] {
        one.shared.sessions.set_outbound(site(peer), OutboundSession::default());
        one.step(Input::Lost(site(peer))).unwrap();
    }
    one.shared.sessions.set_outbound(site(4), session(open, false));
    let again = Some(SessionNo(2));
    one.shared.sessions.set_outbound(site(2), session(again, false));
    let sent = one.step(Input::Open(site(2), SessionNo(2))).unwrap();
    let requests = |to: &str| sent.iter().any(|sent| sent.starts_with(to));
    assert!(requests("to 2: request 1.1") && requests("to 4: request 1.1"), "{sent:?}");
}
