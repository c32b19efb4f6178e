//! The client's rows: states, deadlines, and what it must never do.

use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::session::{
    ClientEnd, Context, Effect, Event, Frame, Half, Hello, Incarnation, Lease, Opening, Packet,
    Refusal, Renewal, Seq, Terms, Welcome, Window,
};
use quorate_session::{SessionNo, Tick};

const SERVER: u64 = 7;

fn ms(ms: u64) -> Tick {
    Tick(ms * 1_000_000)
}

fn site() -> SiteId {
    SiteId::new(1)
}

/// A client's end, the time, and its effects since they were last taken.
struct Rig {
    end: ClientEnd<char>,
    terms: Terms,
    now: Tick,
    out: Vec<Effect<char>>,
}

impl Rig {
    fn new() -> Self {
        let end = ClientEnd::new(site());
        Self { end, terms: Terms::default(), now: ms(0), out: Vec::new() }
    }

    /// Session 1 is open since time 0.
    fn open() -> Self {
        let mut rig = Self::new();
        rig.up(0);
        rig.welcome(0, 1);
        rig.effects();
        rig
    }

    fn act(
        &mut self,
        now_ms: u64,
        act: impl FnOnce(&mut ClientEnd<char>, Context<'_>, &mut Vec<Effect<char>>),
    ) {
        self.now = ms(now_ms);
        let terms = self.terms;
        let cx = Context {
            now: self.now,
            terms: &terms,
            incarnation: Incarnation(1),
            quarantined_until: ms(0),
            draining: false,
        };
        let end = &mut self.end;
        while end.deadline().is_some_and(|when| when <= cx.now) {
            end.on_deadline(cx, &mut self.out);
        }
        act(end, cx, &mut self.out);
        while end.deadline().is_some_and(|when| when <= cx.now) {
            end.on_deadline(cx, &mut self.out);
        }
    }

    /// All locks know of everything.
    fn told(&mut self, now_ms: u64) {
        self.act(now_ms, ClientEnd::on_told);
    }

    fn wait(&mut self, now_ms: u64) {
        self.act(now_ms, |_, _, _| {});
    }

    fn up(&mut self, now_ms: u64) {
        self.act(now_ms, ClientEnd::on_up);
    }

    fn down(&mut self, now_ms: u64) {
        self.act(now_ms, |end, _, _| end.on_down());
    }

    fn welcome(&mut self, now_ms: u64, number: u64) {
        let welcome = Welcome {
            incarnation: Incarnation(SERVER),
            number: SessionNo(number),
            lease: Lease::default(),
            quarantine: Duration::ZERO,
            received: Seq(0),
        };
        self.act(now_ms, |end, cx, out| end.on_welcome(cx, welcome, out));
    }

    fn renewed(&mut self, now_ms: u64, k: u64) {
        self.act(now_ms, |end, cx, out| {
            end.on_renewed(cx, SessionNo(1), Renewal(k), Seq(0), out);
        });
    }

    fn refused(&mut self, now_ms: u64, why: Refusal) {
        self.act(now_ms, |end, _, out| end.on_refused(SessionNo(1), why, out));
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

fn hello(opening: Opening) -> Effect<char> {
    let hello =
        Hello { cluster_id: Terms::default().cluster_id, incarnation: Incarnation(1), opening };
    Effect::Packet(site(), Packet::Hello(hello))
}

fn new(number: u64) -> Effect<char> {
    hello(Opening::New(SessionNo(number)))
}

fn renew(k: u64) -> Effect<char> {
    Effect::Packet(site(), Packet::Renew(SessionNo(1), Renewal(k), Seq(0)))
}

const SILENT: fn() -> Effect<char> = || Effect::Notify(Event::Silent(site()));
const LOST: fn() -> Effect<char> = || Effect::Notify(Event::Lost(site()));

#[test]
fn none_and_a_welcome_is_open() {
    let mut rig = Rig::new();
    rig.up(0);
    assert_eq!(rig.effects(), [new(1)]);
    rig.welcome(100, 1);
    assert_eq!(rig.effects(), [Effect::Notify(Event::Open(site(), SessionNo(1)))]);
    assert_eq!(rig.until(), Some(ms(2970)), "the hello was made at 0");
}

#[test]
fn it_renews_every_third_and_counts_from_the_making() {
    let mut rig = Rig::open();
    rig.wait(1000);
    assert_eq!(rig.effects(), [renew(1)]);
    rig.renewed(1400, 1);
    assert_eq!(rig.until(), Some(ms(1000 + 2970)));
    rig.wait(2050);
    assert_eq!(rig.effects(), [renew(2)], "a late step makes it late");
    rig.renewed(2100, 1);
    rig.renewed(2100, 9);
    assert_eq!(
        rig.until(),
        Some(ms(3970)),
        "neither an old reply counts nor one to a renewal that was never made"
    );
    rig.renewed(2200, 2);
    assert_eq!(rig.until(), Some(ms(2050 + 2970)));
}

#[test]
fn open_and_more_than_half_a_lease_is_silent() {
    let mut rig = Rig::open();
    rig.down(0);
    rig.wait(1500);
    assert_eq!(rig.effects(), [], "not more than half");
    rig.wait(1501);
    assert_eq!(rig.effects(), [SILENT()]);
}

#[test]
fn open_and_the_stream_over_is_silent() {
    let mut rig = Rig::open();
    rig.refused(100, Refusal::Gone);
    assert_eq!(rig.effects(), [SILENT()]);
    let mut rig = Rig::open();
    let gap = Frame { seq: Seq(2), received: Seq(0), payload: 'x' };
    rig.act(100, |end, cx, out| end.on_frame(cx.terms, SessionNo(1), gap, out));
    assert_eq!(rig.effects(), [SILENT()]);
    assert_eq!(rig.until(), Some(ms(2970)), "the lease is not over");
}

#[test]
fn messages_that_do_not_fit_the_window_wait_and_renewals_do_not() {
    let mut rig = Rig::open();
    let most = Window::DEFAULT.frames();
    for _ in 0..most + 100 {
        rig.act(100, |end, cx, out| end.send(cx.terms, 'x', out));
    }
    let sent = rig.effects();
    assert_eq!(sent.len(), most);
    assert!(sent.iter().all(|effect| matches!(effect, Effect::Packet(_, Packet::Up(..)))));
    rig.wait(1000);
    assert_eq!(rig.effects(), [renew(1)], "the lease is renewed");
    rig.act(1100, |end, cx, out| end.on_ack(cx.terms, SessionNo(1), Seq(2), out));
    let next = |after: u64| Frame { seq: Seq(most as u64 + after), received: Seq(0), payload: 'x' };
    let up = |seq| Effect::Packet(site(), Packet::Up(SessionNo(1), next(seq)));
    assert_eq!(rig.effects(), [up(1), up(2)]);
    rig.act(1200, |end, cx, out| {
        end.on_renewed(cx, SessionNo(1), Renewal(1), Seq(3), out);
    });
    assert_eq!(rig.effects(), [up(3)], "the answer to a renewal acknowledges too");
}

#[test]
fn silent_and_renewed_is_open_again_if_the_stream_lives() {
    let mut rig = Rig::open();
    rig.wait(1600);
    assert_eq!(rig.effects(), [renew(1), SILENT()]);
    rig.renewed(1700, 1);
    assert_eq!(rig.effects(), []);
    assert!(!rig.end.view().unwrap().silent);

    let mut rig = Rig::open();
    rig.wait(1000);
    rig.refused(1100, Refusal::Gone);
    rig.renewed(1200, 1);
    assert!(rig.end.view().unwrap().silent);
    assert_eq!(rig.until(), Some(ms(3970)), "what was renewed is renewed");
}

#[test]
fn a_server_that_is_about_to_stop_counts_as_silent_and_its_lease_goes_on() {
    let mut rig = Rig::open();
    rig.act(10, |end, _, out| end.on_draining(SessionNo(2), out));
    assert_eq!(rig.effects(), [], "that is another session");
    rig.act(20, |end, _, out| end.on_draining(SessionNo(1), out));
    assert_eq!(rig.effects(), [SILENT()]);
    rig.wait(1000);
    rig.renewed(1001, 1);
    assert_eq!(rig.effects(), [renew(1)]);
    assert!(rig.end.view().unwrap().silent, "it answers, but lends nothing new");
    assert_eq!(rig.until(), Some(ms(1000 + 2970)));
}

#[test]
fn at_its_deadline_it_is_lost_and_opens_the_next() {
    let mut rig = Rig::open();
    rig.down(10);
    rig.up(20);
    assert_eq!(rig.effects(), [hello(Opening::Resume(SessionNo(1), Seq(0)))]);
    rig.wait(2969);
    assert_eq!(rig.effects(), [SILENT()]);
    rig.wait(2970);
    assert_eq!(rig.effects(), [LOST()]);
    rig.told(2970);
    assert_eq!(rig.effects(), [new(2)]);
    assert_eq!(rig.end.view(), None);
    let late = Frame { seq: Seq(1), received: Seq(0), payload: 'x' };
    rig.act(3000, |end, cx, out| end.on_frame(cx.terms, SessionNo(1), late, out));
    rig.renewed(3000, 1);
    rig.welcome(3000, 1);
    assert_eq!(rig.effects(), [], "S2: nothing of it any more");
}

#[test]
fn it_never_renews_after_its_deadline() {
    let mut rig = Rig::open();
    rig.wait(2970);
    assert_eq!(rig.effects(), [SILENT(), LOST()], "it slept from 0 on");
    rig.told(2970);
    assert_eq!(rig.effects(), [new(2)]);
}

#[test]
fn a_new_hello_waits_for_the_deadline_whatever_ended_the_session() {
    let mut rig = Rig::open();
    rig.refused(100, Refusal::Gone);
    rig.down(200);
    rig.up(300);
    rig.wait(2900);
    assert_eq!(rig.effects(), [SILENT()], "no hello, no renewal");
    rig.wait(2970);
    assert_eq!(rig.effects(), [LOST()]);
    rig.told(2970);
    assert_eq!(rig.effects(), [new(2)]);
}

#[test]
fn the_next_session_is_asked_for_when_all_locks_know_of_the_end_of_the_last() {
    let mut rig = Rig::open();
    rig.wait(2970);
    rig.down(2980);
    rig.up(2990);
    assert_eq!(rig.effects(), [SILENT(), LOST()], "a new connection changes nothing");
    rig.told(3100);
    assert_eq!(rig.effects(), [new(2)]);
    rig.told(3200);
    assert_eq!(rig.effects(), [], "it is asked for once");
}

#[test]
fn resuming_sends_again_and_renews_at_once() {
    let mut rig = Rig::open();
    rig.down(100);
    rig.act(200, |end, cx, out| end.send(cx.terms, 'x', out));
    rig.wait(1200);
    assert_eq!(rig.effects(), [], "no connection, no renewal");
    rig.up(1300);
    rig.effects();
    rig.welcome(1300, 1);
    let frame = Frame { seq: Seq(1), received: Seq(0), payload: 'x' };
    assert_eq!(rig.effects(), [Effect::Packet(site(), Packet::Up(SessionNo(1), frame)), renew(1)]);
}

#[test]
fn a_server_that_restarted_cannot_resume() {
    let mut rig = Rig::open();
    rig.down(100);
    rig.up(200);
    rig.effects();
    let welcome = Welcome {
        incarnation: Incarnation(SERVER + 1),
        number: SessionNo(1),
        lease: Lease::default(),
        quarantine: Duration::ZERO,
        received: Seq(0),
    };
    rig.act(300, |end, cx, out| end.on_welcome(cx, welcome, out));
    assert_eq!(rig.effects(), [SILENT()]);
    assert_eq!(rig.until(), Some(ms(2970)));
}

#[test]
fn retry_after_means_asking_again_then() {
    let mut rig = Rig::new();
    rig.up(0);
    rig.act(10, |end, cx, out| {
        end.on_retry_after(cx, SessionNo(1), Duration::from_millis(500), out);
    });
    rig.effects();
    rig.down(20);
    rig.up(30);
    rig.wait(509);
    assert_eq!(rig.effects(), []);
    rig.wait(510);
    assert_eq!(rig.effects(), [new(2)]);
}

#[test]
fn a_refused_new_session_waits_for_the_next_connection() {
    let mut rig = Rig::new();
    rig.up(0);
    rig.effects();
    rig.refused(10, Refusal::OtherCluster);
    rig.wait(100_000);
    assert_eq!(rig.effects(), []);
    assert_eq!(rig.end.deadline(), None);
    rig.up(100_001);
    assert_eq!(rig.effects(), [new(2)]);
}

#[test]
fn a_welcome_after_the_lease_is_no_session() {
    let mut rig = Rig::new();
    rig.up(0);
    rig.effects();
    rig.welcome(2970, 1);
    assert_eq!(rig.effects(), [new(2)]);
    assert_eq!(rig.end.view(), None);
}

#[test]
fn a_slow_welcome_is_silent_at_once_and_renews() {
    let mut rig = Rig::new();
    rig.up(0);
    rig.effects();
    rig.welcome(2000, 1);
    assert_eq!(
        rig.effects(),
        [Effect::Notify(Event::Open(site(), SessionNo(1))), renew(1), SILENT()]
    );
}

#[test]
fn frames_are_delivered_once() {
    let mut rig = Rig::open();
    let frame = Frame { seq: Seq(1), received: Seq(0), payload: 'x' };
    for _ in 0..2 {
        let frame = frame.clone();
        rig.act(1, |end, cx, out| end.on_frame(cx.terms, SessionNo(1), frame, out));
    }
    assert_eq!(rig.effects(), [Effect::Deliver(site(), Half::Requester, SessionNo(1), 'x')]);
}
