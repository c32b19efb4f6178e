//! A client and its sites: how waits end, and when it leaves a site for another.

use std::time::Duration;

use quorate_session::client::{
    ClientEffect, ClientInput, ClientMachine, ClientMessage, ClientRequest, QuorumStatus,
    SiteChoice, SiteReply,
};
use quorate_session::session::{
    Frame, Hello, Incarnation, Lease, Opening, Packet, Refusal, RelativeDeadline, Renewal, Seq,
    Terms, Welcome,
};
use quorate_session::{ClaimRequest, Claimant, Denial, Fence, Granted, LockSpec, SessionNo, Tick};

const MS: u64 = 1_000_000;
const LEASE: u64 = 3_000 * MS;

/// A client of several sites, which the test plays.
struct Client {
    machine: ClientMachine,
    now: u64,
    /// The session, and how many frames of it were sent to the client.
    session: u64,
    sent: u64,
}

impl Client {
    /// A client that has just been started.
    fn new(sites: usize) -> Self {
        let now = 10 * LEASE;
        let choice = SiteChoice::new(Tick(now), Terms::default(), sites, 0, 7);
        let machine = ClientMachine::new(Tick(now), Terms::default()).with_sites(choice);
        let mut client = Self { machine, now, session: 0, sent: 0 };
        assert_eq!(client.step(0, ClientInput::Time), [ClientEffect::Dial(0)]);
        client
    }

    /// A client with a session at its first site.
    fn open(sites: usize) -> Self {
        let mut client = Self::new(sites);
        let effects = client.step(1, ClientInput::Up);
        client.welcome(&effects);
        client
    }

    /// A step after so many milliseconds.
    fn step(&mut self, after_ms: u64, input: ClientInput) -> Vec<ClientEffect> {
        self.now += after_ms * MS;
        self.machine.step(Tick(self.now), input)
    }

    /// The site opens the session that the client asks for.
    #[track_caller]
    fn welcome(&mut self, effects: &[ClientEffect]) {
        let opens = |effect: &ClientEffect| match effect {
            ClientEffect::Packet(Packet::Hello(Hello { opening: Opening::New(no), .. })) => {
                Some(no.0)
            }
            _ => None,
        };
        self.session = effects.iter().find_map(opens).expect("it asks for a new session");
        self.sent = 0;
        let welcome = Welcome {
            incarnation: Incarnation(1),
            number: SessionNo(self.session),
            lease: Lease::default(),
            quarantine: Duration::ZERO,
            received: Seq(0),
        };
        self.step(1, ClientInput::Packet(Packet::Welcome(welcome)));
    }

    fn on_reply(&mut self, reply: SiteReply) -> Vec<ClientEffect> {
        self.sent += 1;
        let payload = ClientMessage::Reply(reply);
        let frame = Frame { seq: Seq(self.sent), received: Seq(0), payload };
        self.step(1, ClientInput::Packet(Packet::Down(SessionNo(self.session), frame)))
    }

    fn claim(&mut self, call: u64, timeout_ms: Option<u64>) -> Vec<ClientEffect> {
        let (name, spec, claimant) =
            ("deploy".parse().unwrap(), LockSpec::Mutex, Claimant::default());
        let timeout = timeout_ms.map(Duration::from_millis);
        let claim = ClaimRequest { name, spec, claimant, timeout, no_wait: false, since: None };
        self.step(0, ClientInput::Request(ClientRequest::Claim(call, claim)))
    }

    fn enter(&mut self, call: u64) {
        self.claim(call, None);
        let end = RelativeDeadline { renewal: Renewal(0), after: Duration::from_secs(3) };
        let granted = self.on_reply(SiteReply::Granted(call, Fence(1), Granted::Mutex, end));
        assert!(matches!(granted[..], [ClientEffect::Granted(..)]), "{granted:?}");
    }

    /// Lets time pass, with a step at each deadline, until the client does something about its
    /// connection; returns that, and the milliseconds.
    fn until_it_moves(&mut self) -> (Vec<ClientEffect>, u64) {
        let start = self.now;
        loop {
            let due = self.machine.deadline().expect("it waits for something").0;
            assert!(due > self.now, "a deadline is left that is due");
            self.now = due;
            let effects = self.machine.step(Tick(due), ClientInput::Time);
            let moves = |effect: &ClientEffect| {
                matches!(effect, ClientEffect::Dial(_) | ClientEffect::Close)
            };
            let moved: Vec<ClientEffect> = effects.into_iter().filter(moves).collect();
            if !moved.is_empty() {
                return (moved, (self.now - start) / MS);
            }
        }
    }
}

fn quorum(reached: bool) -> SiteReply {
    let answering = if reached { 3 } else { 1 };
    SiteReply::Quorum(QuorumStatus { reached, joined: true, answering, sites: 3, needed: 2 })
}

/// The calls that the client leaves.
fn left(effects: &[ClientEffect]) -> Vec<u64> {
    let call = |effect: &ClientEffect| match effect {
        ClientEffect::Packet(Packet::Up(_, frame)) => match frame.payload {
            ClientMessage::Request(ClientRequest::Leave(call)) => Some(call),
            _ => None,
        },
        _ => None,
    };
    effects.iter().filter_map(call).collect()
}

#[test]
fn a_wait_ends_though_no_site_was_ever_reached() {
    let mut client = Client::new(3);
    client.claim(1, Some(400));
    assert!(!client.step(399, ClientInput::Time).iter().any(is_denied));
    let effects = client.step(1, ClientInput::Time);
    assert_eq!(effects, [ClientEffect::Denied(1, Denial::NoAnswer(None))]);
}

fn is_denied(effect: &ClientEffect) -> bool {
    matches!(effect, ClientEffect::Denied(..))
}

#[test]
fn a_wait_ends_at_its_deadline_and_a_grant_that_comes_later_is_given_back() {
    let mut client = Client::open(3);
    client.claim(1, Some(500));
    assert_eq!(client.machine.deadline(), Some(Tick(client.now + 500 * MS)));
    let effects = client.step(500, ClientInput::Time);
    assert!(effects.contains(&ClientEffect::Denied(1, Denial::TimedOut)), "{effects:?}");
    assert_eq!(left(&effects), [1]);
    let end = RelativeDeadline { renewal: Renewal(0), after: Duration::from_secs(3) };
    let late = client.on_reply(SiteReply::Granted(1, Fence(1), Granted::Mutex, end));
    assert_eq!(late, [], "its caller was told that it is denied");
    assert_eq!(client.machine.valid_until(1), None);
}

#[test]
fn the_reason_is_what_was_known_last() {
    let mut client = Client::open(1);
    client.on_reply(quorum(false));
    client.claim(1, Some(100));
    let denial = Denial::NoQuorum { answering: 1, sites: 3, needed: 2 };
    assert!(client.step(100, ClientInput::Time).contains(&ClientEffect::Denied(1, denial)));
    client.on_reply(quorum(true));
    client.claim(2, Some(100));
    let timed_out = ClientEffect::Denied(2, Denial::TimedOut);
    assert!(client.step(100, ClientInput::Time).contains(&timed_out));
    client.claim(3, Some(1_600));
    client.step(1_000, ClientInput::Time);
    let silence = Duration::from_millis(1_700);
    let no_answer = ClientEffect::Denied(3, Denial::NoAnswer(Some(silence)));
    let effects = client.step(600, ClientInput::Time);
    assert!(effects.contains(&no_answer), "{effects:?}");
}

#[test]
fn a_client_that_holds_nothing_leaves_a_silent_site_after_a_third_of_a_lease() {
    let mut client = Client::open(3);
    client.claim(1, None);
    let (moved, after) = client.until_it_moves();
    let [ClientEffect::Close, ClientEffect::Dial(site)] = moved[..] else { panic!("{moved:?}") };
    assert_ne!(site, 0);
    // The renewal was due after a third of a lease, and its answer another third later.
    assert!((1_990..=2_000).contains(&after), "{after}");
    let effects = client.step(5, ClientInput::Up);
    client.welcome(&effects);
    assert_eq!(client.session, 2, "it does not wait for the end of the first");
}

#[test]
fn a_client_that_holds_a_grant_stays_until_its_session_is_over() {
    let mut client = Client::open(3);
    client.enter(1);
    let end = client.machine.valid_until(1).unwrap();
    let (moved, _) = client.until_it_moves();
    assert!(matches!(moved[..], [ClientEffect::Close, ClientEffect::Dial(1 | 2)]), "{moved:?}");
    assert!(client.now >= end.0, "not before the end of its grant");
}

#[test]
fn a_broken_connection_is_opened_again_once() {
    let mut client = Client::open(3);
    client.claim(1, None);
    assert_eq!(client.step(1, ClientInput::Down), [ClientEffect::Dial(0)]);
    let effects = client.step(1, ClientInput::Up);
    let resumed = |effect: &ClientEffect| {
        let ClientEffect::Packet(Packet::Hello(hello)) = effect else { return false };
        matches!(hello.opening, Opening::Resume(SessionNo(1), _))
    };
    assert!(effects.iter().any(resumed), "{effects:?}");
    let effects = client.step(1, ClientInput::Down);
    assert!(matches!(effects[..], [ClientEffect::Dial(1 | 2)]), "{effects:?}");
}

/// A site that has answered for a third of a lease since may break the connection once more.
#[test]
fn a_connection_that_has_lasted_is_opened_again() {
    let mut client = Client::open(3);
    client.step(1, ClientInput::Down);
    client.step(1, ClientInput::Up);
    let welcome = Welcome {
        incarnation: Incarnation(1),
        number: SessionNo(client.session),
        lease: Lease::default(),
        quarantine: Duration::ZERO,
        received: Seq(0),
    };
    client.step(1, ClientInput::Packet(Packet::Welcome(welcome)));
    let effects = client.step(1_000, ClientInput::Time);
    let renewal = effects.iter().find_map(|effect| match effect {
        ClientEffect::Packet(Packet::Renew(_, renewal, _)) => Some(*renewal),
        _ => None,
    });
    let renewed = Packet::Renewed(SessionNo(client.session), renewal.expect("it renews"), Seq(0));
    client.step(1, ClientInput::Packet(renewed));
    assert_eq!(client.step(1, ClientInput::Down), [ClientEffect::Dial(0)]);
}

/// A site that receives nothing is left, though it sends.
#[test]
fn only_answers_are_answers() {
    let mut client = Client::open(3);
    client.step(1_000, ClientInput::Time); // it renews
    client.on_reply(quorum(true));
    let effects = client.step(1_000, ClientInput::Time);
    assert!(effects.contains(&ClientEffect::Close), "{effects:?}");
}

/// However the connection breaks, a site has a third of a lease from when it owed an answer.
#[test]
fn a_site_that_is_dialed_again_has_no_more_time_to_answer() {
    let mut client = Client::open(3);
    client.step(1_000, ClientInput::Time); // it renews
    assert_eq!(client.step(600, ClientInput::Down), [ClientEffect::Dial(0)]);
    let (moved, after) = client.until_it_moves();
    assert!(matches!(moved[..], [ClientEffect::Dial(1 | 2)]), "{moved:?}");
    assert!((390..=400).contains(&after), "{after}");
    let mut client = Client::open(3);
    client.step(500, ClientInput::Down);
    client.step(600, ClientInput::Up);
    let (moved, after) = client.until_it_moves();
    assert!(matches!(moved[..], [ClientEffect::Close, ClientEffect::Dial(1 | 2)]), "{moved:?}");
    assert!((390..=400).contains(&after), "{after}");
}

/// A client that held a grant at a site without a quorum leaves when the grant is over, though the
/// connection broke meanwhile and the site does not repeat what it has said.
#[test]
fn what_a_site_said_of_its_quorum_outlasts_the_connection() {
    let mut client = Client::open(3);
    client.enter(1);
    client.on_reply(quorum(false));
    client.step(1, ClientInput::Down);
    client.step(1, ClientInput::Up);
    let effects = client.step(1, ClientInput::Request(ClientRequest::Leave(1)));
    let [.., ClientEffect::Close, ClientEffect::Dial(1 | 2)] = effects[..] else {
        panic!("{effects:?}")
    };
}

#[test]
fn no_site_that_fails_is_dialed_twice_in_a_row_and_each_has_its_turn() {
    let mut client = Client::new(4);
    let (mut last, mut times, mut waited) = (0, [0; 4], 0);
    for _ in 0..40 {
        let failed = client.step(1, ClientInput::DialFailed(last));
        let (moved, after) = if failed.is_empty() { client.until_it_moves() } else { (failed, 0) };
        let [ClientEffect::Dial(site)] = moved[..] else { panic!("{moved:?}") };
        assert_ne!(site, last);
        assert!(after <= 500, "no longer than a sixth of a lease: {after}");
        (last, waited) = (site, waited + after);
        times[site] += 1;
    }
    assert_eq!(times, [10; 4]);
    assert!(waited > 2_000, "it does not dial all the time: {waited}");
}

#[test]
fn an_attempt_that_nobody_answers_ends_after_a_third_of_a_lease() {
    let mut client = Client::new(2);
    let (moved, after) = client.until_it_moves();
    assert_eq!((moved, after), (vec![ClientEffect::Dial(1)], 1_000));
}

#[test]
fn a_site_without_a_quorum_is_left_and_told_so() {
    let mut client = Client::open(3);
    client.claim(1, None);
    let effects = client.on_reply(quorum(false));
    assert_eq!(left(&effects), [1]);
    let [.., ClientEffect::Close, ClientEffect::Dial(1 | 2)] = effects[..] else {
        panic!("{effects:?}")
    };
    let mut holder = Client::open(3);
    holder.enter(1);
    assert_eq!(holder.on_reply(quorum(false)), [], "its grant may be extended there");
    let mut alone = Client::open(1);
    assert_eq!(alone.on_reply(quorum(false)), [], "there is no other");
}

/// If no site has a quorum, a client does not run from one to the next.
#[test]
fn after_a_round_each_site_without_a_quorum_gets_a_lease() {
    let mut client = Client::open(3);
    let mut moves = 0;
    let end = client.now + 10 * LEASE;
    client.on_reply(quorum(false));
    while client.now < end {
        let effects = client.step(1, ClientInput::Up);
        client.welcome(&effects);
        moves += 1;
        if !client.on_reply(quorum(false)).contains(&ClientEffect::Close) {
            let (moved, _) = client.until_it_moves();
            if !moved.iter().any(|effect| matches!(effect, ClientEffect::Dial(_))) {
                client.until_it_moves();
            }
        } else if client.machine.deadline().is_some_and(|due| due.0 < client.now + 500 * MS) {
            client.until_it_moves();
        }
    }
    assert!((8..=20).contains(&moves), "{moves}");
}

#[test]
fn a_client_that_slept_does_not_blame_its_site() {
    let mut client = Client::open(3);
    client.step(1_000, ClientInput::Time); // it renews
    let effects = client.step(1_900, ClientInput::Time);
    assert!(!effects.contains(&ClientEffect::Close), "{effects:?}");
    let (moved, after) = client.until_it_moves();
    assert!(moved.contains(&ClientEffect::Close) && after <= 1_000, "{moved:?}, {after}");
}

#[test]
fn a_session_that_its_site_has_forgotten_is_replaced_at_once_by_a_client_that_holds_nothing() {
    let mut client = Client::open(3);
    client.step(1, ClientInput::Down);
    client.step(1, ClientInput::Up);
    let gone = Packet::Refused(SessionNo(1), Refusal::Gone);
    let effects = client.step(1, ClientInput::Packet(gone.clone()));
    client.welcome(&effects);
    assert_eq!(client.session, 2);
    let mut holder = Client::open(3);
    holder.enter(1);
    holder.step(1, ClientInput::Down);
    holder.step(1, ClientInput::Up);
    assert_eq!(holder.step(1, ClientInput::Packet(gone)), []);
    assert!(holder.machine.valid_until(1).is_some(), "until the end of its lease");
}

#[test]
fn a_release_ends_though_the_site_does_not_answer() {
    let mut client = Client::open(1);
    client.enter(1);
    let effects = client.step(1, ClientInput::Request(ClientRequest::Leave(1)));
    assert!(!effects.contains(&ClientEffect::Left(1)));
    let end = client.now + LEASE;
    let mut ended = false;
    while !ended && client.now <= end {
        client.now = client.machine.deadline().expect("it has a session").0;
        ended = client
            .machine
            .step(Tick(client.now), ClientInput::Time)
            .contains(&ClientEffect::Left(1));
    }
    assert!(ended, "within a lease");
    assert_eq!(client.machine.valid_until(1), None);
}

/// A refusal of another session says nothing about the present one: the site still has no quorum.
#[test]
fn a_refusal_of_another_session_does_not_make_a_site_wanted_again() {
    let mut client = Client::open(3);
    client.enter(1);
    client.on_reply(quorum(false));
    let refused = Packet::Refused(SessionNo(99), Refusal::Stale);
    assert_eq!(client.step(1, ClientInput::Packet(refused)), []);
    let leave = ClientInput::Request(ClientRequest::Leave(1));
    let effects = client.step(1, leave);
    assert!(effects.contains(&ClientEffect::Close), "it holds nothing any more: {effects:?}");
}
