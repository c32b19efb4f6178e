//! The cost of a message when a thousand names are in use, and when a million are.
//!
//! One iteration gives a lock back and takes it again: three messages between two sites, and as
//! many of a site to itself. Names are visited in an order that no cache can guess.

#![allow(clippy::unwrap_used, reason = "it shares the tests' network")]

#[path = "../tests/all/site/net.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod net;

use criterion::{Criterion, criterion_group, criterion_main};
use quorate_session::CallId;

use crate::net::Net;

fn names(c: &mut Criterion) {
    let mut group = c.benchmark_group("names");
    for names in [1_000, 100_000, 1_000_000] {
        let mut net = Net::new(3);
        let mut held: Vec<CallId> = (0..names).map(|place| claim(&mut net, place)).collect();
        let mut place = 0;
        group.bench_function(format!("{names}"), |bencher| {
            bencher.iter(|| {
                place = (place + 618_033) % names;
                net.leave(0, held[place]);
                held[place] = claim(&mut net, place);
            });
        });
    }
    group.finish();
}

fn claim(net: &mut Net, place: usize) -> CallId {
    let call = net.claim(0, &format!("name-{place:07}"));
    net.effects.clear();
    call
}

criterion_group!(benches, names);
criterion_main!(benches);
