//! Locks while processes are killed, stopped and started again.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::cluster::{Running, TestCluster, until};

/// A script that runs until it is killed, and ignores SIGTERM.
const STUBBORN: &str = "trap '' TERM; echo in; while :; do sleep 0.02; done";

#[test]
fn a_killed_holder_frees_the_lock_and_its_command_dies_with_it() {
    let sites = TestCluster::start(3);
    let file = sites.file("guarded");
    let file = file.to_str().unwrap();
    // The shell itself holds the flock, through the descriptor it opened.
    let script = format!("exec 9> '{file}'; flock -n 9; echo in; exec sleep 60");
    let mut holder = sites.spawn(1, "lock deploy", &["--", "sh", "-c", &script]);
    assert_eq!(holder.line(), "in\n");
    let script = format!("flock -n '{file}' echo alone || echo overlap");
    let waiter = sites.spawn(2, "lock deploy", &["--", "sh", "-c", &script]);
    sites.wait_for_waiters(2, "deploy", 1);
    holder.signal(Signal::SIGKILL);
    let waiter = waiter.finish();
    assert_eq!((waiter.code, waiter.out.as_str()), (Some(0), "alone\n"), "{}", waiter.err);
}

#[test]
fn a_command_that_ignores_sigterm_is_killed_before_the_next_grant() {
    let mut sites = TestCluster::start(3);
    let file = sites.file("guarded");
    let file = file.to_str().unwrap();
    let more = ["--", "flock", "-n", file, "sh", "-c", STUBBORN];
    let mut holder = sites.spawn(1, "lock deploy", &more);
    assert_eq!(holder.line(), "in\n");
    let script = format!("flock -n '{file}' echo alone || echo overlap");
    let waiter = sites.spawn(2, "lock deploy", &["--", "sh", "-c", &script]);
    sites.wait_for_waiters(2, "deploy", 1);
    sites.kill(1);
    let waiter = waiter.finish();
    assert_eq!((waiter.code, waiter.out.as_str()), (Some(0), "alone\n"), "{}", waiter.err);
    let holder = holder.finish();
    assert_eq!(holder.code, Some(121));
    assert!(holder.err.contains("deploy is lost: "), "{}", holder.err);
}

#[test]
fn the_exit_status_of_a_lost_lock_can_be_chosen() {
    let mut sites = TestCluster::start(3);
    let mut command = sites.spawn(
        1,
        "lock deploy --lost-exit-code 44",
        &["--", "sh", "-c", "trap 'echo term; exit 0' TERM; echo in; while :; do sleep 0.02; done"],
    );
    let mut bare = sites.spawn(1, "lock other --lost-exit-code 45", &[]);
    assert_eq!(command.line(), "in\n");
    assert!(bare.line().starts_with("other is held"));
    sites.kill(1);
    let done = command.finish();
    assert_eq!((done.code, done.out.as_str()), (Some(44), "term\n"), "{}", done.err);
    assert_eq!(bare.finish().code, Some(45));
}

#[test]
fn a_holder_keeps_its_lock_when_an_arbiter_restarts() {
    let mut sites = TestCluster::start(3);
    let (holder, fence) = sites.hold(1, "lock deploy");
    sites.kill(2);
    until("site 1 notices that site 2 is down", || {
        sites.run(1, "sites", &[]).out.contains("does not answer")
    });
    sites.restart(2);
    sites.wait_until_connected();
    let script = "echo $QUORATE_FENCE";
    let waiter = sites.spawn(2, "lock deploy", &["--", "sh", "-c", script]);
    sites.wait_for_waiters(2, "deploy", 1);
    assert_eq!(sites.show(3, "deploy")["holders"][0]["fence"], fence);
    assert_eq!(holder.finish().code, Some(0));
    let waiter = waiter.finish();
    assert!(waiter.out.trim().parse::<u64>().unwrap() > fence, "{}", waiter.out);
}

#[test]
fn a_site_paused_for_long_has_lost_its_grants() {
    let sites = TestCluster::start(3);
    let file = sites.file("guarded");
    let file = file.to_str().unwrap();
    let mut holder =
        sites.spawn(1, "lock deploy", &["--", "flock", "-n", file, "sh", "-c", STUBBORN]);
    assert_eq!(holder.line(), "in\n");
    sites.signal(1, Signal::SIGSTOP);
    let script = format!("echo $QUORATE_FENCE; flock -n '{file}' echo alone || echo overlap");
    let next = sites.run(2, "lock deploy", &["--", "sh", "-c", &script]);
    assert_eq!(next.out.lines().last(), Some("alone"), "{}", next.err);
    assert_eq!(holder.finish().code, Some(121));
    sites.signal(1, Signal::SIGCONT);
    sites.wait_until_connected();
    let again = sites.run(1, "lock deploy", &["--", "sh", "-c", "echo $QUORATE_FENCE"]);
    let fence = |text: &str| text.lines().next().unwrap().parse::<u64>().unwrap();
    assert!(fence(&again.out) > fence(&next.out), "{} {}", again.out, next.out);
}

#[test]
fn without_a_quorum_the_error_names_the_count() {
    let mut sites = TestCluster::start(3);
    sites.kill(2);
    sites.kill(3);
    let done = sites.run(1, "lock deploy --wait 3s -- echo no", &[]);
    assert_eq!((done.code, done.out.as_str()), (Some(125), ""));
    assert!(done.err.contains("no quorum: 1 of 3 sites answer, 2 needed"), "{}", done.err);
    let done = sites.run(1, "ls", &[]);
    assert!(done.out.contains("2 sites do not answer: 2, 3"), "{}", done.out);
}

/// The site that would replace a killed one may have lent to a claim that waits at it.
fn assert_that_a_holder_outlives_each_other_site(count: usize) {
    let mut sites = TestCluster::start(count);
    let (holder, fence) = sites.hold(1, "lock deploy");
    let mut waiters: Vec<Running> =
        (2..=count).map(|site| sites.spawn(site, "lock deploy -- echo in", &[])).collect();
    for site in 2..=count {
        sites.wait_for_waiters(1, "deploy", count - 1);
        until("no waiting request has a permission", || {
            let requests = sites.run(1, "explain --json", &["deploy"]).json()["requests"].take();
            let lacks = |request: &Value| request["lacks"].as_array().unwrap().len();
            let waiting = requests.as_array().unwrap().iter().filter(|it| it["inside"] == false);
            waiting.map(lacks).all(|lacks| lacks == count / 2 + 1)
        });
        sites.kill(site);
        // The claim is gone when the lease of its site is over, after those of the holder there.
        sites.wait_for_waiters(1, "deploy", count - 2);
        assert_eq!(sites.show(1, "deploy")["holders"][0]["fence"], fence, "site {site}");
        sites.restart(site);
        sites.wait_until_connected();
        waiters[site - 2] = sites.spawn(site, "lock deploy -- echo in", &[]);
    }
    assert_eq!(holder.finish().code, Some(0));
    for waiter in waiters {
        assert_eq!(waiter.finish().out, "in\n");
    }
}

#[test]
fn a_holder_outlives_each_other_site_while_callers_wait_there() {
    assert_that_a_holder_outlives_each_other_site(3);
    assert_that_a_holder_outlives_each_other_site(5);
}
