//! The longest step of a site when sessions end and open, sites fall silent, leases are renewed, a
//! quarantine ends, and all callers leave: with a thousand names, a hundred thousand, a million.
//!
//! `cargo bench -p quorate-site --bench steps`, or with `-- 100000 5` for this many names alone,
//! and so many sites instead of three. A step takes one input: while it runs, the site reads no
//! packet and renews no lease. *Longest* is the processor time of the longest step; *by the clock*
//! includes what other programs take.

#![allow(clippy::unwrap_used, reason = "it shares the tests' network")]

#[path = "../tests/all/site/net.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod net;

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::net::{Net, Stopwatch};

/// A lease, by the clock of the sites: it stands still while a step runs.
const LEASE: Duration = Duration::from_secs(3);

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|it| it.parse().ok()).collect();
    let counts = given.first().map_or(vec![1_000, 100_000, 1_000_000], |count| vec![*count]);
    let sites = given.get(1).map_or(3, |sites| *sites);
    println!(
        "{:>9}  {:<44} {:>9} {:>12} {:>9}",
        "names", "what happens", "longest", "by the clock", "all"
    );
    for names in counts {
        measure(names, sites);
    }
}

/// The longest step since it was read: its processor time, and its time by the clock.
type Longest = Rc<Cell<(Duration, Duration)>>;

/// Measures steps in both times.
struct TwoClocks {
    began: (Duration, Instant),
    longest: Longest,
}

impl Stopwatch for TwoClocks {
    fn begin(&mut self) {
        self.began = (processor_time(), Instant::now());
    }

    fn end(&mut self) {
        let (cpu, wall) = self.longest.get();
        let spent = processor_time().saturating_sub(self.began.0);
        self.longest.set((cpu.max(spent), wall.max(self.began.1.elapsed())));
    }
}

/// The processor time of this thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.try_into().expect("below a second"))
}

/// Site 1 holds all names; site 2 crashes, restarts, and its quarantine ends.
fn measure(names: usize, sites: usize) {
    let mut net = Net::new(sites);
    let longest = Longest::default();
    let clocks = TwoClocks { began: (Duration::ZERO, Instant::now()), longest: longest.clone() };
    net.stopwatch = Some(Box::new(clocks));
    let report = |net: &mut Net, what: &str, act: &mut dyn FnMut(&mut Net)| {
        net.effects.clear();
        longest.take();
        let began = Instant::now();
        act(net);
        let ((cpu, wall), all) = (longest.take(), began.elapsed().as_secs_f64());
        let (cpu, wall) = (cpu.as_secs_f64() * 1e3, wall.as_secs_f64() * 1e3);
        println!("{names:>9}  {what:<44} {cpu:>6.2} ms {wall:>9.2} ms {all:>7.2} s");
    };
    let mut calls = Vec::new();
    report(&mut net, "all names are claimed at site 1", &mut |net| {
        calls = (0..names).map(|place| claim(net, place)).collect();
    });
    report(&mut net, "leases are renewed, spares are asked for", &mut |net| net.pass(LEASE));
    net.crash(1);
    report(&mut net, "site 2 falls silent", &mut |net| net.pass(LEASE * 6 / 10));
    report(&mut net, "the sessions with site 2 end", &mut |net| net.pass(LEASE));
    report(&mut net, "site 2 restarts", &mut |net| net.start(1));
    report(&mut net, "the quarantine of site 2 ends", &mut |net| net.pass(LEASE * 2));
    net.crash(0);
    net.pass(LEASE * 2);
    report(&mut net, "site 1 restarts, and all names are claimed", &mut |net| {
        net.start(0);
        calls = (0..names).map(|place| claim(net, place)).collect();
    });
    report(&mut net, "the quarantine of site 1 ends", &mut |net| net.pass(LEASE * 2));
    report(&mut net, "all callers leave, one after the other", &mut |net| {
        for call in std::mem::take(&mut calls) {
            net.leave(0, call);
            net.effects.clear();
        }
    });
}

fn claim(net: &mut Net, place: usize) -> quorate_session::CallId {
    let call = net.claim(0, &format!("name-{place:07}"));
    net.effects.clear();
    call
}
