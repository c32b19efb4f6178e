//! Sites that are asked to stop: callers move, and nothing is lost that need not be.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use nix::sys::signal::Signal;
use quorate::Options;

use crate::cluster::{TestCluster, until};

/// The waiter's client knows two sites; the one that it uses stops.
#[test]
fn a_waiter_goes_on_waiting_elsewhere_and_a_holder_may_finish() {
    let mut sites = TestCluster::start(3);
    let (holder, _) = sites.hold(1, "lock deploy");
    let addresses = sites.addresses[..2].join(",");
    let waiter = sites.spawn_at(&addresses, "lock deploy", &["--", "echo", "my turn"]);
    sites.wait_for_waiters(3, "deploy", 1);
    let used = sites.show(3, "deploy")["waiting"][0]["site"].as_u64().expect("a site");
    let used = usize::try_from(used).expect("a small number");
    sites.signal(used, Signal::SIGTERM);
    if used == 1 {
        assert!(holder.finish().code == Some(0), "it had the time to finish");
        assert_eq!(sites.end_of(1), Some(0));
    } else {
        assert_eq!(sites.end_of(2), Some(0));
        sites.wait_for_waiters(3, "deploy", 1);
        assert!(holder.finish().code == Some(0));
    }
    let waiter = waiter.finish();
    assert_eq!((waiter.code, waiter.out.trim()), (Some(0), "my turn"), "{}", waiter.err);
}

#[test]
fn a_holder_that_does_not_finish_is_told_and_a_second_signal_stops_at_once() {
    let mut sites = TestCluster::start(3);
    let (holder, _) = sites.hold(1, "lock deploy");
    sites.signal(1, Signal::SIGTERM);
    until("it says so", || fs::read_to_string(sites.log(1)).unwrap().contains("about to stop"));
    sites.signal(1, Signal::SIGTERM);
    assert_eq!(sites.end_of(1), Some(0));
    assert_eq!(holder.end().code, Some(121), "its grant is lost with its site");
}

/// Five sites are restarted one after another while clients take and wait for a lock.
#[test]
fn a_rolling_restart_fails_no_waiter() {
    let mut sites = TestCluster::start(5);
    let (over, grants) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let clients: Vec<_> = (0..10)
        .map(|_| {
            let (addresses, over) = (sites.addresses.clone(), Arc::clone(&over));
            let grants = Arc::clone(&grants);
            let work = async move {
                let cluster = Options::new(addresses).connect().await.unwrap();
                while !over.load(Ordering::Relaxed) {
                    let guard = cluster.mutex("busy").unwrap().lock().await;
                    let guard = guard.expect("a waiter is served");
                    grants.fetch_add(1, Ordering::Relaxed);
                    drop(guard.release().await); // it may be lost
                }
            };
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            thread::spawn(move || runtime.unwrap().block_on(work))
        })
        .collect();
    for site in 1..=5 {
        let before = grants.load(Ordering::Relaxed);
        sites.signal(site, Signal::SIGTERM);
        assert_eq!(sites.end_of(site), Some(0));
        sites.restart(site);
        sites.wait_until_connected();
        until("grants go on", || grants.load(Ordering::Relaxed) > before + 10);
    }
    over.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().expect("no waiter failed");
    }
}
