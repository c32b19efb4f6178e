//! The longest step of a site when sessions end and open, sites fall silent, leases are renewed, a
//! quarantine ends, and all callers leave: with a thousand names, a hundred thousand, a million.
//!
//! `cargo bench -p quorate-site --bench steps`, or with `-- 100000` for this many names alone. A
//! step takes one input: while it runs, the site reads no packet and renews no lease.

#![allow(clippy::unwrap_used, reason = "it shares the tests' network")]

#[path = "../tests/all/site/net.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod net;

use std::time::{Duration, Instant};

use crate::net::Net;

/// A lease, by the clock of the sites: it stands still while a step runs.
const LEASE: Duration = Duration::from_secs(3);

fn main() {
    let given: Option<usize> = std::env::args().skip(1).find_map(|count| count.parse().ok());
    let counts = given.map_or(vec![1_000, 100_000, 1_000_000], |count| vec![count]);
    println!("{:>9}  {:<44} {:>9} {:>9}", "names", "what happens", "longest", "all");
    for names in counts {
        measure(names);
    }
}

/// Site 1 of three holds all names; site 2 crashes, restarts, and its quarantine ends.
fn measure(names: usize) {
    let mut net = Net::new(3);
    let mut calls = Vec::new();
    report(&mut net, names, "all names are claimed at site 1", |net| {
        calls = (0..names).map(|place| claim(net, place)).collect();
    });
    report(&mut net, names, "leases are renewed, spares are asked for", |net| net.pass(LEASE));
    net.crash(1);
    report(&mut net, names, "site 2 falls silent", |net| net.pass(LEASE * 6 / 10));
    report(&mut net, names, "the sessions with site 2 end", |net| net.pass(LEASE));
    report(&mut net, names, "site 2 restarts", |net| net.start(1));
    report(&mut net, names, "the quarantine of site 2 ends", |net| net.pass(LEASE * 2));
    net.crash(0);
    net.pass(LEASE * 2);
    report(&mut net, names, "site 1 restarts, and all names are claimed", |net| {
        net.start(0);
        calls = (0..names).map(|place| claim(net, place)).collect();
    });
    report(&mut net, names, "the quarantine of site 1 ends", |net| net.pass(LEASE * 2));
    report(&mut net, names, "all callers leave, one after the other", |net| {
        for call in std::mem::take(&mut calls) {
            net.leave(0, call);
            net.effects.clear();
        }
    });
}

fn report(net: &mut Net, names: usize, what: &str, act: impl FnOnce(&mut Net)) {
    net.effects.clear();
    net.longest = Duration::ZERO;
    let began = Instant::now();
    act(net);
    let (longest, all) = (net.longest.as_secs_f64() * 1e3, began.elapsed().as_secs_f64());
    println!("{names:>9}  {what:<44} {longest:>6.2} ms {all:>7.2} s");
}

fn claim(net: &mut Net, place: usize) -> quorate_session::CallId {
    let call = net.claim(0, &format!("name-{place:07}"));
    net.effects.clear();
    call
}
