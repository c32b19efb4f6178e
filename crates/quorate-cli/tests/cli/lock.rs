//! `quorate lock`: holds a lock while a command runs.

use std::io::Write;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use nix::sys::signal::Signal;

use crate::cluster::{Running, TestCluster, free_port, piped};
use crate::program::{quorate, quorate_with};

#[test]
fn a_lock_passes_from_process_to_process() {
    let sites = TestCluster::start(3);
    let (first, fence) = sites.hold(1, "lock deploy");
    let second = sites.spawn(2, "lock deploy", &["--", "sh", "-c", "echo $QUORATE_FENCE"]);
    sites.wait_for_waiters(3, "deploy", 1);
    assert_eq!(first.finish().code, Some(0));
    let second = second.finish();
    assert_eq!((second.code, second.err.as_str()), (Some(0), ""));
    assert!(second.out.trim().parse::<u64>().unwrap() > fence, "{}", second.out);
}

#[test]
fn it_exits_as_its_command_does() {
    let sites = TestCluster::start(1);
    let code = |script: &str| sites.run(1, "lock deploy", &["--", "sh", "-c", script]).code;
    assert_eq!((code("exit 0"), code("exit 7"), code("kill -9 $$")), (Some(0), Some(7), Some(137)));
    let missing = sites.run(1, "lock deploy -- /no/such/command", &[]);
    assert_eq!(missing.code, Some(127));
    assert!(missing.err.contains("/no/such/command cannot be run"), "{}", missing.err);
    let file = sites.file("site-1.toml");
    let refused = sites.run(1, "lock deploy --", &[file.to_str().unwrap()]);
    assert_eq!(refused.code, Some(126), "{}", refused.err);
}

#[test]
fn an_unreachable_cluster_is_exit_status_125() {
    let address = format!("127.0.0.1:{}", free_port());
    for line in ["lock deploy --no-wait", "ls", "sites"] {
        let done = quorate_with(line, &["--connect", &address]);
        assert_eq!((done.code, done.out.as_str()), (Some(125), ""), "{line}");
        assert!(done.err.contains("no site can be reached"), "{}", done.err);
    }
}

#[test]
fn a_refusal_names_the_holder() {
    let sites = TestCluster::start(3);
    let purpose = "--purpose=release-1.4";
    let (holder, _) = sites.hold(1, &format!("lock deploy --owner ana {purpose}"));
    let done = sites.run(2, "lock deploy --no-wait -- echo no", &[]);
    assert_eq!((done.code, done.out.as_str()), (Some(1), ""));
    for word in ["deploy is held by ana on ", ", pid ", ": release-1.4, for ", "nobody waits"] {
        assert!(done.err.contains(word), "`{word}` is not in: {}", done.err);
    }
    let done = sites.run(3, "lock deploy --wait 100ms -E 9 -- echo no", &[]);
    assert_eq!((done.code, done.out.as_str()), (Some(9), ""));
    assert!(done.err.contains("held by ana"), "{}", done.err);
    assert_eq!(holder.finish().code, Some(0));
    assert_eq!(sites.run(3, "lock deploy --wait 20s -- echo yes", &[]).out, "yes\n");
}

#[test]
fn the_environment_describes_the_grant_and_nothing_inherited() {
    let sites = TestCluster::start(1);
    let mut command = Command::new(crate::PROGRAM);
    command.args(["lock", "deploy/web", "--", "env"]);
    command.env("QUORATE_CONNECT", &sites.addresses[0]);
    for name in ["NAME", "FENCE", "GROUP", "ROLE", "UNITS", "VALID_UNTIL"] {
        command.env(format!("QUORATE_{name}"), "inherited");
    }
    let done = Running::start(piped(&mut command)).finish();
    let value = |name: &str| {
        let prefix = format!("QUORATE_{name}=");
        done.out.lines().find_map(|line| line.strip_prefix(&prefix)).expect("it is set")
    };
    assert_eq!(value("NAME"), "deploy/web");
    assert!(value("FENCE").parse::<u64>().unwrap() > 0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    assert!(value("VALID_UNTIL").parse::<u128>().unwrap() > now - 30_000);
    assert_eq!([value("GROUP"), value("ROLE"), value("UNITS")], [""; 3]);
}

#[test]
fn the_command_inherits_standard_input() {
    let sites = TestCluster::start(1);
    let mut command = Command::new(crate::PROGRAM);
    command.args(["lock", "deploy", "--connect", &sites.addresses[0], "--", "cat"]);
    let mut child = piped(&mut command).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"one\ntwo\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"one\ntwo\n");
}

#[test]
fn signals_reach_the_command() {
    let sites = TestCluster::start(1);
    for (signal, name) in
        [(Signal::SIGTERM, "TERM"), (Signal::SIGINT, "INT"), (Signal::SIGHUP, "HUP")]
    {
        let script =
            format!("trap 'echo {name}; exit 5' {name}; echo in; while :; do sleep 0.02; done");
        let mut running = sites.spawn(1, "lock deploy", &["--", "sh", "-c", &script]);
        assert_eq!(running.line(), "in\n");
        running.signal(signal);
        let done = running.finish();
        assert_eq!((done.code, done.out), (Some(5), format!("{name}\n")));
    }
    let mut running = sites.spawn(1, "lock deploy", &["--", "sh", "-c", "echo in; exec sleep 60"]);
    assert_eq!(running.line(), "in\n");
    running.signal(Signal::SIGTERM);
    assert_eq!(running.finish().code, Some(128 + 15), "the command died of it");
}

#[test]
fn an_interrupted_waiter_leaves_the_queue() {
    let sites = TestCluster::start(3);
    let (_holder, _) = sites.hold(1, "lock deploy");
    let waiter = sites.spawn(2, "lock deploy -- echo no", &[]);
    sites.wait_for_waiters(1, "deploy", 1);
    waiter.signal(Signal::SIGINT);
    let done = waiter.finish();
    assert_eq!((done.code, done.out.as_str()), (Some(130), ""));
    sites.wait_for_waiters(1, "deploy", 0);
}

#[test]
fn locks_can_be_nested() {
    let sites = TestCluster::start(3);
    let inner = [crate::PROGRAM, "lock", "b", "--connect", &sites.addresses[1]];
    let more = [&["--"], &inner[..], &["--", "sh", "-c", "echo $QUORATE_NAME; exit 3"]].concat();
    let done = sites.run(1, "lock a", &more);
    assert_eq!((done.code, done.out.as_str()), (Some(3), "b\n"), "{}", done.err);
}

#[test]
fn without_a_command_it_holds_until_its_input_ends() {
    let sites = TestCluster::start(1);
    let mut running = sites.spawn(1, "lock deploy", &[]);
    let line = running.line();
    assert!(line.starts_with("deploy is held with fence "), "{line}");
    assert_eq!(sites.show(1, "deploy")["holders"].as_array().unwrap().len(), 1);
    assert_eq!(running.finish().code, Some(0));
    assert_eq!(sites.show(1, "deploy")["holders"].as_array().unwrap().len(), 0);
    let mut running = sites.spawn(1, "lock deploy", &[]);
    assert!(running.line().starts_with("deploy is held"));
    running.signal(Signal::SIGTERM);
    assert_eq!(running.finish().code, Some(0));
}

#[test]
fn invalid_arguments_are_refused() {
    let long = "x".repeat(257);
    for (name, why) in
        [("", "it is empty"), (long.as_str(), "longer than 256 bytes"), ("a\nb", "control")]
    {
        quorate_with("lock", &[name]).refused(&["invalid name", why]);
        quorate_with("show", &[name]).refused(&["invalid name", why]);
    }
    quorate("lock deploy --wait soon").refused(&["soon", "--wait"]);
    quorate("lock deploy --wait 1s --no-wait").refused(&["cannot be used with"]);
    quorate("lock deploy -E 256").refused(&["256"]);
    quorate("lock deploy --cert only.pem").refused(&["--key", "--ca"]);
    quorate("break deploy --fence many --reason x").refused(&["many"]);
}
