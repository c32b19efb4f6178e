//! The memory of locks that are held, waited for, and unused. One test, because all threads of a
//! process share the count.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

#[path = "all/site/net.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod net;

use std::time::Duration;

use peak_alloc::PeakAlloc;
use quorate_session::CallId;

use crate::net::Net;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

const LOCKS: u32 = 100_000;

#[test]
fn locks_are_small_and_vacant_ones_are_nothing() {
    let mut net = Net::new(5);
    let empty = size_of_site(&mut net, 0);

    let held: Vec<CallId> = (0..LOCKS).map(|lock| claim(&mut net, 0, lock)).collect();
    let holding = size_of_site(&mut net, 0) - empty;
    println!("{LOCKS} held mutexes: {} bytes each at their site", holding / LOCKS as usize);
    // They have the permissions of all five sites by now, three and two spare ones.
    assert!(holding < 132_000_000, "{holding} bytes for {LOCKS} held mutexes");

    let waiting: Vec<CallId> = (0..LOCKS).map(|lock| claim(&mut net, 1, lock)).collect();
    let waits = size_of_site(&mut net, 1) - empty;
    println!("{LOCKS} waiting claims: {} bytes each at their site", waits / LOCKS as usize);
    assert!(waits < 150_000_000, "{waits} bytes for {LOCKS} waiting claims");

    for (call, site) in held.iter().map(|call| (call, 0)).chain(waiting.iter().map(|c| (c, 1))) {
        net.leave(site, *call);
        net.effects.clear();
    }
    for site in 0..5 {
        assert_eq!(net.site(site).names().count(), 0);
        let left = size_of_site(&mut net, site).saturating_sub(empty);
        assert!(left < 10_000, "{left} bytes are left of {LOCKS} vacant names");
    }
}

fn claim(net: &mut Net, site: usize, lock: u32) -> CallId {
    let call = net.claim(site, &format!("lock-{lock:06}"));
    net.effects.clear();
    call
}

/// The bytes that a copy of the site takes, once what it said is acknowledged and forgotten. Names
/// are shared with the copy and come on top: a text and two counters each.
fn size_of_site(net: &mut Net, site: usize) -> usize {
    net.pass(Duration::from_secs(2));
    net.effects.clear();
    let before = ALLOCATED.current_usage();
    let copy = net.site(site).clone();
    let size = ALLOCATED.current_usage() - before;
    drop(copy);
    size
}
