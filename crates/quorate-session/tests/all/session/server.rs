//! The server's rows: the handshake's table, then its states.

use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::session::{
    ClusterId, Context, Effect, Event, Frame, Half, Hello, Incarnation, Lease, Opening, Packet,
    Refusal, Renewal, Seq, ServerEnd, Terms, Welcome, Window,
};
use quorate_session::{SessionNo, Tick};

fn ms(ms: u64) -> Tick {
    Tick(ms * 1_000_000)
}

fn site() -> SiteId {
    SiteId::new(0)
}

struct Rig {
    end: ServerEnd<char>,
    draining: bool,
    out: Vec<Effect<char>>,
}

impl Rig {
    /// The client's incarnation 5 has session 3 open since time 0.
    fn open() -> Self {
        let mut rig = Self { end: ServerEnd::new(site()), draining: false, out: Vec::new() };
        rig.hello(0, 5, Opening::New(SessionNo(3)));
        let opened = [Effect::Notify(Event::Opened(site(), SessionNo(3))), welcome(3, 0)];
        assert_eq!(rig.effects(), opened);
        rig
    }

    fn act(
        &mut self,
        now_ms: u64,
        act: impl FnOnce(&mut ServerEnd<char>, Context<'_>, &mut Vec<Effect<char>>),
    ) {
        let terms = Terms::default();
        let now = ms(now_ms);
        let cx = Context {
            now,
            terms: &terms,
            incarnation: Incarnation(9),
            quarantined_until: ms(0),
            draining: self.draining,
        };
        while self.end.deadline().is_some_and(|when| when <= now) {
            self.end.on_deadline(cx, &mut self.out);
        }
        act(&mut self.end, cx, &mut self.out);
    }

    /// All locks know of everything.
    fn told(&mut self, now_ms: u64) {
        self.act(now_ms, ServerEnd::on_told);
    }

    fn hello(&mut self, now_ms: u64, incarnation: u64, opening: Opening) {
        self.hello_with(now_ms, ClusterId::default(), incarnation, opening);
    }

    fn hello_with(
        &mut self,
        now_ms: u64,
        cluster_id: ClusterId,
        incarnation: u64,
        opening: Opening,
    ) {
        let hello = Hello { cluster_id, incarnation: Incarnation(incarnation), opening };
        self.act(now_ms, |end, cx, out| end.on_hello(cx, hello, out));
    }

    fn effects(&mut self) -> Vec<Effect<char>> {
        let mut effects = std::mem::take(&mut self.out);
        effects.retain(|effect| !matches!(effect, Effect::Note(..)));
        effects
    }

    fn until(&self) -> Option<Tick> {
        self.end.view().map(|view| view.until)
    }
}

fn welcome(number: u64, received: u64) -> Effect<char> {
    let welcome = Welcome {
        incarnation: Incarnation(9),
        number: SessionNo(number),
        lease: Lease::default(),
        quarantine: Duration::ZERO,
        received: Seq(received),
    };
    Effect::Packet(site(), Packet::Welcome(welcome))
}

fn refused(number: u64, why: Refusal) -> Effect<char> {
    Effect::Packet(site(), Packet::Refused(SessionNo(number), why))
}

fn frame(payload: char) -> Frame<char> {
    Frame { seq: Seq(1), received: Seq(0), payload }
}

const CLOSED: fn() -> Effect<char> = || Effect::Notify(Event::Closed(site()));

#[test]
fn the_same_session_resumes_and_renews_nothing() {
    let mut rig = Rig::open();
    rig.act(10, |end, cx, out| end.on_frame(cx.terms, SessionNo(3), frame('x'), out));
    assert_eq!(rig.effects(), [Effect::Deliver(site(), Half::Arbiter, SessionNo(3), 'x')]);
    rig.act(20, |end, _, _| end.on_down());
    rig.act(30, |end, cx, out| end.send(cx.terms, 'y', out));
    assert_eq!(rig.effects(), []);
    rig.hello(40, 5, Opening::Resume(SessionNo(3), Seq(0)));
    let again = Frame { seq: Seq(1), received: Seq(1), payload: 'y' };
    let again = Effect::Packet(site(), Packet::Down(SessionNo(3), again));
    assert_eq!(rig.effects(), [welcome(3, 1), again]);
    assert_eq!(rig.until(), Some(ms(3000)));
}

#[test]
fn a_larger_number_closes_the_old_session() {
    let mut rig = Rig::open();
    rig.hello(100, 5, Opening::New(SessionNo(4)));
    assert_eq!(rig.effects(), [CLOSED()]);
    rig.told(150);
    let opened = Effect::Notify(Event::Opened(site(), SessionNo(4)));
    assert_eq!(rig.effects(), [opened, welcome(4, 0)]);
    assert_eq!(rig.until(), Some(ms(3150)));
}

#[test]
fn the_next_session_opens_when_all_locks_know_of_the_end_of_the_last() {
    let mut rig = Rig::open();
    rig.hello(3000, 5, Opening::New(SessionNo(4)));
    rig.hello(3010, 5, Opening::New(SessionNo(5)));
    assert_eq!(rig.effects(), [CLOSED()]);
    rig.told(3020);
    let opened = Effect::Notify(Event::Opened(site(), SessionNo(5)));
    assert_eq!(rig.effects(), [opened, welcome(5, 0)], "the one that it asked for last");
    rig.hello(3100, 5, Opening::New(SessionNo(6)));
    rig.act(3110, |end, _, _| end.on_down());
    rig.told(3120);
    assert_eq!(rig.effects(), [CLOSED()], "it asks again on its next connection");
}

#[test]
fn a_larger_incarnation_waits_for_the_old_lease() {
    let mut rig = Rig::open();
    rig.hello(100, 6, Opening::New(SessionNo(1)));
    let left = Duration::from_millis(2900);
    assert_eq!(rig.effects(), [Effect::Packet(site(), Packet::RetryAfter(SessionNo(1), left))]);
    assert_eq!(rig.until(), Some(ms(3000)));
    rig.hello(3000, 6, Opening::New(SessionNo(2)));
    rig.told(3000);
    let opened = Effect::Notify(Event::Opened(site(), SessionNo(2)));
    assert_eq!(rig.effects(), [CLOSED(), opened, welcome(2, 0)]);
}

#[test]
fn a_session_that_is_not_here_is_gone() {
    let mut rig = Rig::open();
    rig.hello(10, 5, Opening::Resume(SessionNo(2), Seq(0)));
    assert_eq!(rig.effects(), [refused(2, Refusal::Gone)]);
    rig.hello(3000, 5, Opening::Resume(SessionNo(3), Seq(0)));
    assert_eq!(rig.effects(), [CLOSED(), refused(3, Refusal::Gone)]);
    rig.hello(3000, 5, Opening::New(SessionNo(3)));
    assert_eq!(rig.effects(), [refused(3, Refusal::Gone)], "S3: opened once");
    let mut fresh = Rig { end: ServerEnd::new(site()), draining: false, out: Vec::new() };
    fresh.hello(0, 5, Opening::Resume(SessionNo(3), Seq(0)));
    assert_eq!(fresh.effects(), [refused(3, Refusal::Gone)], "it restarted");
}

#[test]
fn what_is_smaller_or_strange_is_refused() {
    let mut rig = Rig::open();
    rig.hello(10, 4, Opening::New(SessionNo(9)));
    rig.hello(10, 5, Opening::New(SessionNo(2)));
    assert_eq!(rig.effects(), [refused(9, Refusal::Stale), refused(2, Refusal::Stale)]);
    rig.hello_with(10, ClusterId(1), 5, Opening::New(SessionNo(9)));
    assert_eq!(rig.effects(), [refused(9, Refusal::OtherCluster)]);
    assert_eq!(rig.until(), Some(ms(3000)));
}

#[test]
fn a_renewal_moves_the_deadline() {
    let mut rig = Rig::open();
    let number = SessionNo(3);
    rig.act(1200, |end, cx, out| end.on_renew(cx, number, Renewal(1), Seq(0), out));
    let answer = Packet::Renewed(SessionNo(3), Renewal(1), Seq(0));
    assert_eq!(rig.effects(), [Effect::Packet(site(), answer)]);
    assert_eq!(rig.until(), Some(ms(4200)));
    rig.act(1300, |end, cx, out| end.on_renew(cx, number, Renewal(1), Seq(0), out));
    assert_eq!(rig.until(), Some(ms(4200)), "the same renewal counts once");
}

#[test]
fn at_its_deadline_it_is_closed() {
    let mut rig = Rig::open();
    rig.act(2999, |_, _, _| {});
    assert_eq!(rig.effects(), []);
    rig.act(3000, |end, cx, out| end.on_frame(cx.terms, SessionNo(3), frame('x'), out));
    assert_eq!(rig.effects(), [CLOSED()], "S2: and nothing of it after that");
}

#[test]
fn neither_a_lost_connection_nor_a_broken_stream_ends_the_lease() {
    let mut rig = Rig::open();
    rig.act(10, |end, _, _| end.on_down());
    assert_eq!((rig.effects(), rig.until()), (vec![], Some(ms(3000))));

    let mut rig = Rig::open();
    let gap = || Frame { seq: Seq(2), ..frame('x') };
    rig.act(10, |end, cx, out| end.on_frame(cx.terms, SessionNo(3), gap(), out));
    assert_eq!(rig.effects(), [refused(3, Refusal::Gone)]);
    assert_eq!(rig.until(), Some(ms(3000)));

    let mut rig = Rig::open();
    rig.act(10, |end, cx, out| end.on_frame(cx.terms, SessionNo(3), gap(), out));
    rig.effects();
    rig.act(20, |end, _, _| end.on_down());
    rig.hello(30, 5, Opening::Resume(SessionNo(3), Seq(0)));
    assert_eq!(rig.effects(), [refused(3, Refusal::Gone)], "it learns of it when it resumes");
}

#[test]
fn messages_that_do_not_fit_the_window_wait_and_replies_to_renewals_do_not() {
    let (mut rig, number) = (Rig::open(), SessionNo(3));
    let most = Window::DEFAULT.frames();
    for _ in 0..most + 100 {
        rig.act(10, |end, cx, out| end.send(cx.terms, 'x', out));
    }
    assert_eq!(rig.effects().len(), most);
    rig.act(20, |end, cx, out| end.on_renew(cx, number, Renewal(1), Seq(1), out));
    let renewed = Packet::Renewed(number, Renewal(1), Seq(0));
    let next = Frame { seq: Seq(most as u64 + 1), received: Seq(0), payload: 'x' };
    let packets = [renewed, Packet::Down(number, next)];
    assert_eq!(rig.effects(), packets.map(|packet| Effect::Packet(site(), packet)));
}

#[test]
fn a_session_is_resumed_once_on_a_connection() {
    let mut rig = Rig::open();
    for _ in 0..3 {
        rig.act(10, |end, cx, out| end.send(cx.terms, 'x', out));
    }
    rig.effects();
    rig.hello(20, 5, Opening::Resume(SessionNo(3), Seq(0)));
    rig.hello(20, 5, Opening::New(SessionNo(3)));
    assert_eq!(rig.effects(), [], "it goes on as it was");
    rig.act(30, |end, _, _| end.on_down());
    rig.hello(40, 5, Opening::Resume(SessionNo(3), Seq(1)));
    assert_eq!(rig.effects().len(), 1 + 2, "a welcome, and what it lacks");
    rig.hello(50, 5, Opening::Resume(SessionNo(3), Seq(1)));
    assert_eq!(rig.effects(), []);
}

#[test]
fn a_client_that_lost_what_it_had_acknowledged_is_refused() {
    let mut rig = Rig::open();
    rig.act(10, |end, cx, out| end.send(cx.terms, 'x', out));
    rig.act(20, |end, cx, out| end.on_ack(cx.terms, SessionNo(3), Seq(1), out));
    rig.act(30, |end, _, _| end.on_down());
    rig.effects();
    rig.hello(40, 5, Opening::Resume(SessionNo(3), Seq(0)));
    assert_eq!(rig.effects(), [refused(3, Refusal::Gone)]);
    assert_eq!(rig.until(), Some(ms(3000)));
}

#[test]
fn a_client_that_is_welcomed_learns_that_the_server_is_about_to_stop() {
    let mut rig = Rig::open();
    rig.draining = true;
    let draining = Effect::Packet(site(), Packet::Draining(SessionNo(3)));
    rig.act(5, |end, _, _| end.on_down());
    rig.hello(10, 5, Opening::Resume(SessionNo(3), Seq(0)));
    assert_eq!(rig.effects(), [welcome(3, 0), draining]);
}
