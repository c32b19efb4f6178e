//! Commands whose site does not answer any more: they end at their deadline, or go on elsewhere.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;

use nix::sys::signal::Signal;

use crate::cluster::{Running, TestCluster, piped};
use crate::program::Done;

/// Runs `quorate` with these words and addresses.
fn run(line: &str, addresses: &str) -> Done {
    let mut command = Command::new(crate::PROGRAM);
    let mut words = line.split_whitespace();
    command.args(words.by_ref().take(1)).args(["--connect", addresses]).args(words);
    Running::start(piped(command.stdin(Stdio::null()))).finish()
}

/// A lock is held through site 2, and a command waits for it through site 1, which then fails.
#[track_caller]
fn assert_that_a_wait_ends(fail: impl Fn(&mut TestCluster)) {
    let mut sites = TestCluster::start(3);
    let (_holder, _) = sites.hold(2, "lock deploy");
    let waiter = sites.spawn(1, "lock deploy --wait 4s -- echo in", &[]);
    sites.wait_for_waiters(2, "deploy", 1);
    fail(&mut sites);
    let done = waiter.finish();
    assert_eq!((done.code, done.out.as_str()), (Some(125), ""), "{}", done.err);
    let tried = format!("no site answers: tried {}; the last answer came", sites.addresses[0]);
    assert!(done.err.contains(&tried), "{}", done.err);
}

#[test]
fn a_wait_ends_though_its_site_was_killed() {
    assert_that_a_wait_ends(|sites| sites.kill(1));
}

#[test]
fn a_wait_ends_though_its_site_hangs() {
    assert_that_a_wait_ends(|sites| sites.signal(1, Signal::SIGSTOP));
}

#[test]
fn no_command_waits_for_a_site_that_never_answers() {
    let hung = TcpListener::bind("127.0.0.1:0").unwrap(); // it accepts no connection
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let [hung_at, mute_at] = [&hung, &mute].map(|it| it.local_addr().unwrap().to_string());
    thread::spawn(move || {
        let kept: Vec<_> = mute.incoming().collect(); // it accepts all, and answers none
        drop(kept);
    });
    for line in ["lock deploy --no-wait", "lock deploy --wait 300ms", "show deploy", "sites"] {
        for address in [&hung_at, &mute_at] {
            let done = run(line, address);
            assert_eq!(done.code, Some(125), "{line}: {}", done.err);
            let why = format!("no site can be reached: {address}: it does not answer");
            assert!(done.err.contains(&why), "{line}: {}", done.err);
        }
    }
}

#[test]
fn a_site_that_hangs_does_not_keep_commands_from_the_others() {
    let sites = TestCluster::start(3);
    sites.signal(2, Signal::SIGSTOP);
    for _ in 0..6 {
        let done = sites.spawn_anywhere("lock deploy --wait 20s -- echo in", &[]).finish();
        assert_eq!((done.code, done.out.as_str()), (Some(0), "in\n"), "{}", done.err);
        let done = sites.spawn_anywhere("show deploy", &[]).finish();
        assert_eq!(done.code, Some(0), "{}", done.err);
    }
}

#[test]
fn clients_spread_over_the_sites_they_were_given() {
    let sites = TestCluster::start(3);
    let held: Vec<Running> = (0..12)
        .map(|lock| {
            let line = format!("lock lock-{lock} -- sh -c");
            let mut running = sites.spawn_anywhere(&line, &["echo in; cat > /dev/null"]);
            assert_eq!(running.line(), "in\n");
            running
        })
        .collect();
    let site = |lock: usize| {
        let shown = sites.show(1, &format!("lock-{lock}"));
        shown["holders"][0]["site"].as_u64().expect("it is held")
    };
    let first = site(0);
    assert!((1..12).any(|lock| site(lock) != first), "all are at site {first}");
    drop(held);
}

/// The site at which the only waiter of a lock waits, asked through site 1; `None` if it does not.
fn site_of_waiter(sites: &TestCluster, name: &str) -> Option<usize> {
    let shown = sites.show(1, name);
    shown["waiting"][0]["site"].as_u64().and_then(|site| usize::try_from(site).ok())
}

/// A lock is held through site 1. A command that knows the other four sites waits, and the site
/// that it uses fails.
#[track_caller]
fn assert_that_a_waiter_moves(fail: impl Fn(&mut TestCluster, usize)) {
    let mut sites = TestCluster::start(5);
    let (holder, _) = sites.hold(1, "lock deploy");
    let others = sites.addresses[1..].join(",");
    let waiter = sites.spawn_at(&others, "lock deploy -- echo in", &[]);
    sites.wait_for_waiters(1, "deploy", 1);
    let first = site_of_waiter(&sites, "deploy").expect("it waits");
    fail(&mut sites, first);
    holder.finish(); // whether its grant survived is another question
    let done = waiter.finish();
    assert_eq!((done.code, done.out.as_str()), (Some(0), "in\n"), "{}", done.err);
}

#[test]
fn a_waiter_moves_when_its_site_is_killed() {
    assert_that_a_waiter_moves(TestCluster::kill);
}

#[test]
fn a_waiter_moves_when_its_site_hangs() {
    assert_that_a_waiter_moves(|sites, site| sites.signal(site, Signal::SIGSTOP));
}
