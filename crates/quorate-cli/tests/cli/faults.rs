//! Locks while processes are killed, stopped and started again.

use nix::sys::signal::Signal;

use crate::sites::{Sites, until};

/// Holds an `flock` on a file for as long as any process of it lives, and ignores SIGTERM.
const STUBBORN: &str = "trap '' TERM; echo in; while :; do sleep 0.02; done";

#[test]
fn a_killed_holder_frees_the_lock_and_its_command_dies_with_it() {
    let sites = Sites::start(3);
    let file = sites.file("guarded");
    let file = file.to_str().unwrap();
    // The shell holds the flock itself, through the descriptor it was given.
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
fn a_command_that_will_not_stop_is_dead_before_the_next_one_is_inside() {
    let mut sites = Sites::start(3);
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
fn a_lost_lock_has_the_exit_status_one_wants() {
    let mut sites = Sites::start(3);
    let mut command = sites.spawn(
        1,
        "lock deploy --lost-exit-code 44",
        &["--", "sh", "-c", "trap 'echo told; exit 0' TERM; echo in; while :; do sleep 0.02; done"],
    );
    let mut bare = sites.spawn(1, "lock other --lost-exit-code 45", &[]);
    assert_eq!(command.line(), "in\n");
    assert!(bare.line().starts_with("other is held"));
    sites.kill(1);
    let done = command.finish();
    assert_eq!((done.code, done.out.as_str()), (Some(44), "told\n"), "{}", done.err);
    assert_eq!(bare.finish().code, Some(45));
}

#[test]
fn a_holder_outlives_an_arbiter_that_is_killed_and_comes_back() {
    let mut sites = Sites::start(3);
    let (holder, fence) = sites.hold(1, "lock deploy");
    sites.kill(2);
    until("site 1 misses site 2", || sites.run(1, "sites", &[]).out.contains("does not answer"));
    sites.restart(2);
    sites.wait_until_whole();
    let script = "echo $QUORATE_FENCE";
    let waiter = sites.spawn(2, "lock deploy", &["--", "sh", "-c", script]);
    sites.wait_for_waiters(2, "deploy", 1);
    assert_eq!(sites.show(3, "deploy")["holders"][0]["fence"], fence);
    assert_eq!(holder.finish().code, Some(0));
    let waiter = waiter.finish();
    assert!(waiter.out.trim().parse::<u64>().unwrap() > fence, "{}", waiter.out);
}

#[test]
fn a_site_that_was_stopped_for_long_comes_back_without_its_grants() {
    let sites = Sites::start(3);
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
    sites.wait_until_whole();
    let again = sites.run(1, "lock deploy", &["--", "sh", "-c", "echo $QUORATE_FENCE"]);
    let fence = |text: &str| text.lines().next().unwrap().parse::<u64>().unwrap();
    assert!(fence(&again.out) > fence(&next.out), "{} {}", again.out, next.out);
}

#[test]
fn without_a_quorum_nobody_gets_in_and_is_told_why() {
    let mut sites = Sites::start(3);
    sites.kill(2);
    sites.kill(3);
    let done = sites.run(1, "lock deploy --wait 3s -- echo no", &[]);
    assert_eq!((done.code, done.out.as_str()), (Some(125), ""));
    assert!(done.err.contains("no quorum: 1 of 3 sites answer, 2 needed"), "{}", done.err);
    let done = sites.run(1, "ls", &[]);
    assert!(done.out.contains("2 sites do not answer: 2, 3"), "{}", done.out);
}
