//! The client's rows: states, deadlines, and what it must never do.

use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::session::{
    At, ClientEnd, Effect, Event, Frame, Half, Hello, Incarnation, Lease, Opening, Packet, Refusal,
    Renewal, Seq, Stream, Terms, Welcome,
};
use quorate_session::{SessionNo, Tick};

const SERVER: u64 = 7;

fn ms(ms: u64) -> Tick {
    Tick(ms * 1_000_000)
}

fn site() -> SiteId {
    SiteId::new(1)
}

/// A client's end, the time, and what it said since it was last asked.
struct Bench {
    end: ClientEnd<char>,
    terms: Terms,
    now: Tick,
    out: Vec<Effect<char>>,
}

impl Bench {
    fn new() -> Self {
        let end = ClientEnd::new(site());
        Self { end, terms: Terms::default(), now: ms(0), out: Vec::new() }
    }

    /// One with session 1 open since time 0.
    fn open() -> Self {
        let mut bench = Self::new();
        bench.up(0);
        bench.welcome(0, 1);
        bench.said();
        bench
    }

    fn act(
        &mut self,
        now_ms: u64,
        act: impl FnOnce(&mut ClientEnd<char>, At<'_>, &mut Vec<Effect<char>>),
    ) {
        self.now = ms(now_ms);
        let terms = self.terms;
        let at = At {
            now: self.now,
            terms: &terms,
            incarnation: Incarnation(1),
            quarantined_until: ms(0),
        };
        let end = &mut self.end;
        while end.deadline().is_some_and(|when| when <= at.now) {
            end.on_deadline(at, &mut self.out);
        }
        act(end, at, &mut self.out);
        while end.deadline().is_some_and(|when| when <= at.now) {
            end.on_deadline(at, &mut self.out);
        }
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
        self.act(now_ms, |end, at, out| end.on_welcome(at, welcome, out));
    }

    fn renewed(&mut self, now_ms: u64, k: u64) {
        let answer = (SessionNo(1), Renewal(k), Seq(0));
        self.act(now_ms, |end, at, out| end.on_renewed(at, answer, out));
    }

    fn refused(&mut self, now_ms: u64, why: Refusal) {
        self.act(now_ms, |end, _, out| end.on_refused(SessionNo(1), why, out));
    }

    fn said(&mut self) -> Vec<Effect<char>> {
        let mut said = std::mem::take(&mut self.out);
        said.retain(|effect| !matches!(effect, Effect::Note(..)));
        said
    }

    fn until(&self) -> Option<Tick> {
        self.end.view().map(|view| view.until)
    }
}

fn hello(opening: Opening) -> Effect<char> {
    let hello = Hello { badge: Terms::default().badge, incarnation: Incarnation(1), opening };
    Effect::Packet(site(), Packet::Hello(hello))
}

fn new(number: u64) -> Effect<char> {
    hello(Opening::New(SessionNo(number)))
}

fn renew(k: u64) -> Effect<char> {
    Effect::Packet(site(), Packet::Renew(SessionNo(1), Renewal(k), Seq(0)))
}

const SILENT: fn() -> Effect<char> = || Effect::Tell(Event::Silent(site()));
const LOST: fn() -> Effect<char> = || Effect::Tell(Event::Lost(site()));

#[test]
fn none_and_a_welcome_is_open() {
    let mut bench = Bench::new();
    bench.up(0);
    assert_eq!(bench.said(), [new(1)]);
    bench.welcome(100, 1);
    assert_eq!(bench.said(), [Effect::Tell(Event::Open(site(), SessionNo(1)))]);
    assert_eq!(bench.until(), Some(ms(2970)), "the hello was made at 0");
}

#[test]
fn it_renews_every_third_and_counts_from_the_making() {
    let mut bench = Bench::open();
    bench.wait(1000);
    assert_eq!(bench.said(), [renew(1)]);
    bench.renewed(1400, 1);
    assert_eq!(bench.until(), Some(ms(1000 + 2970)));
    bench.wait(2050);
    assert_eq!(bench.said(), [renew(2)], "a late step makes it late");
    bench.renewed(2100, 1);
    bench.renewed(2100, 9);
    assert_eq!(bench.until(), Some(ms(3970)), "neither an old answer nor a made-up one counts");
    bench.renewed(2200, 2);
    assert_eq!(bench.until(), Some(ms(2050 + 2970)));
}

#[test]
fn open_and_more_than_half_a_lease_is_silent() {
    let mut bench = Bench::open();
    bench.down(0);
    bench.wait(1500);
    assert_eq!(bench.said(), [], "not more than half");
    bench.wait(1501);
    assert_eq!(bench.said(), [SILENT()]);
}

#[test]
fn open_and_the_stream_over_is_silent() {
    let mut bench = Bench::open();
    bench.refused(100, Refusal::Gone);
    assert_eq!(bench.said(), [SILENT()]);
    let mut bench = Bench::open();
    let gap = Frame { seq: Seq(2), received: Seq(0), payload: 'x' };
    bench.act(100, |end, _, out| end.on_frame(SessionNo(1), gap, out));
    assert_eq!(bench.said(), [SILENT()]);
    let mut bench = Bench::open();
    for _ in 0..2 {
        let bytes = Stream::<char>::BYTES_MAX;
        bench.act(100, |end, _, out| end.send('x', bytes, out));
    }
    let said = bench.said();
    assert!(matches!(said[..], [Effect::Packet(_, Packet::Up(..)), Effect::Tell(_)]), "{said:?}");
    assert_eq!(bench.until(), Some(ms(2970)), "the lease is not over");
}

#[test]
fn silent_and_renewed_is_open_again_if_the_stream_lives() {
    let mut bench = Bench::open();
    bench.wait(1600);
    assert_eq!(bench.said(), [renew(1), SILENT()]);
    bench.renewed(1700, 1);
    assert_eq!(bench.said(), []);
    assert!(!bench.end.view().unwrap().silent);

    let mut bench = Bench::open();
    bench.wait(1000);
    bench.refused(1100, Refusal::Gone);
    bench.renewed(1200, 1);
    assert!(bench.end.view().unwrap().silent);
    assert_eq!(bench.until(), Some(ms(3970)), "what was renewed is renewed");
}

#[test]
fn at_its_deadline_it_is_lost_and_opens_the_next() {
    let mut bench = Bench::open();
    bench.down(10);
    bench.up(20);
    assert_eq!(bench.said(), [hello(Opening::Resume(SessionNo(1), Seq(0)))]);
    bench.wait(2969);
    assert_eq!(bench.said(), [SILENT()]);
    bench.wait(2970);
    assert_eq!(bench.said(), [LOST(), new(2)]);
    assert_eq!(bench.end.view(), None);
    let late = Frame { seq: Seq(1), received: Seq(0), payload: 'x' };
    bench.act(3000, |end, _, out| end.on_frame(SessionNo(1), late, out));
    bench.renewed(3000, 1);
    bench.welcome(3000, 1);
    assert_eq!(bench.said(), [], "S2: nothing of it any more");
}

#[test]
fn it_never_renews_after_its_deadline() {
    let mut bench = Bench::open();
    bench.wait(2970);
    assert_eq!(bench.said(), [SILENT(), LOST(), new(2)], "it slept from 0 on");
}

#[test]
fn a_new_hello_waits_for_the_deadline_whatever_ended_the_session() {
    let mut bench = Bench::open();
    bench.refused(100, Refusal::Gone);
    bench.down(200);
    bench.up(300);
    bench.wait(2900);
    assert_eq!(bench.said(), [SILENT()], "no hello, no renewal");
    bench.wait(2970);
    assert_eq!(bench.said(), [LOST(), new(2)]);
}

#[test]
fn resuming_sends_again_and_renews_at_once() {
    let mut bench = Bench::open();
    bench.down(100);
    bench.act(200, |end, _, out| end.send('x', 1, out));
    bench.wait(1200);
    assert_eq!(bench.said(), [], "no connection, no renewal");
    bench.up(1300);
    bench.said();
    bench.welcome(1300, 1);
    let frame = Frame { seq: Seq(1), received: Seq(0), payload: 'x' };
    assert_eq!(bench.said(), [Effect::Packet(site(), Packet::Up(SessionNo(1), frame)), renew(1)]);
}

#[test]
fn a_server_that_restarted_cannot_resume() {
    let mut bench = Bench::open();
    bench.down(100);
    bench.up(200);
    bench.said();
    let welcome = Welcome {
        incarnation: Incarnation(SERVER + 1),
        number: SessionNo(1),
        lease: Lease::default(),
        quarantine: Duration::ZERO,
        received: Seq(0),
    };
    bench.act(300, |end, at, out| end.on_welcome(at, welcome, out));
    assert_eq!(bench.said(), [SILENT()]);
    assert_eq!(bench.until(), Some(ms(2970)));
}

#[test]
fn later_means_asking_again_then() {
    let mut bench = Bench::new();
    bench.up(0);
    bench.act(10, |end, at, out| {
        end.on_later(at, (SessionNo(1), Duration::from_millis(500)), out);
    });
    bench.said();
    bench.down(20);
    bench.up(30);
    bench.wait(509);
    assert_eq!(bench.said(), []);
    bench.wait(510);
    assert_eq!(bench.said(), [new(2)]);
}

#[test]
fn a_refused_new_session_waits_for_the_next_connection() {
    let mut bench = Bench::new();
    bench.up(0);
    bench.said();
    bench.refused(10, Refusal::OtherEpoch);
    bench.wait(100_000);
    assert_eq!(bench.said(), []);
    assert_eq!(bench.end.deadline(), None);
    bench.up(100_001);
    assert_eq!(bench.said(), [new(2)]);
}

#[test]
fn a_welcome_after_the_lease_is_no_session() {
    let mut bench = Bench::new();
    bench.up(0);
    bench.said();
    bench.welcome(2970, 1);
    assert_eq!(bench.said(), [new(2)]);
    assert_eq!(bench.end.view(), None);
}

#[test]
fn a_slow_welcome_is_silent_at_once_and_renews() {
    let mut bench = Bench::new();
    bench.up(0);
    bench.said();
    bench.welcome(2000, 1);
    assert_eq!(bench.said(), [Effect::Tell(Event::Open(site(), SessionNo(1))), renew(1), SILENT()]);
}

#[test]
fn frames_are_delivered_once() {
    let mut bench = Bench::open();
    let frame = Frame { seq: Seq(1), received: Seq(0), payload: 'x' };
    for _ in 0..2 {
        let frame = frame.clone();
        bench.act(1, |end, _, out| end.on_frame(SessionNo(1), frame, out));
    }
    assert_eq!(bench.said(), [Effect::Deliver(site(), Half::Requester, SessionNo(1), 'x')]);
}
