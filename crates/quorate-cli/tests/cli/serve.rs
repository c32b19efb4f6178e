//! `quorate serve`, `up` and `cert`: sites as processes.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;

use crate::cluster::{Running, TestCluster, free_port, piped, tls_flags, until};
use crate::program::{file, quorate, quorate_with};

#[test]
fn up_runs_a_cluster() {
    let port = free_port();
    let mut command = Command::new(crate::PROGRAM);
    command.args(["up", "--sites", "1", "--lease", "1s", "--port", &port.to_string()]);
    let mut up = Running::start(piped(&mut command));
    let line = up.line();
    assert!(line.starts_with(&format!("1 site on 127.0.0.1:{port}: quorum majority")), "{line}");
    let address = format!("127.0.0.1:{port}");
    let done = quorate_with("lock deploy --connect", &[&address, "--", "echo", "inside"]);
    assert_eq!((done.code, done.out.as_str()), (Some(0), "inside\n"));
    let done = quorate_with("up --sites 1 --port", &[&port.to_string()]);
    assert_eq!(done.code, Some(125));
    assert!(done.err.contains("choose other ports with --port"), "{}", done.err);
    up.signal(Signal::SIGINT);
    let done = up.finish();
    assert_eq!(done.code, Some(0));
    assert!(done.out.ends_with("stopped\n"), "{}", done.out);
}

#[test]
fn invalid_arguments_of_up_are_refused() {
    quorate("up --quorum nosuch").refused(&["nosuch", "majority"]);
    quorate("up --sites 0").refused(&["0"]);
    quorate("up --lease 1ms").refused(&["lease"]);
    quorate("up --lease soon").refused(&["soon"]);
    quorate("up --port 65535").refused(&["5 ports from 65535", "--port"]);
}

#[test]
fn a_configuration_is_checked() {
    let good =
        "cluster = \"c\"\nsite = 2\nsites = [\"127.0.0.1:1\", \"127.0.0.1:2\"]\ndata = \"d\"\n";
    let path = file("good.toml", good);
    let done = quorate_with("serve --check --config", &[&path]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.contains("is fine: site 2 of 2, cluster c, majority of 2"), "{}", done.out);
    let bad = |name: &str, text: &str, words: &[&str]| {
        quorate_with("serve --config", &[&file(name, text)]).refused(words);
    };
    bad("site.toml", &good.replace("site = 2", "site = 3"), &["site = 3", "2 sites"]);
    bad("word.toml", &(good.to_owned() + "lease = 3\n"), &["unknown field `lease`"]);
    bad("open.toml", &good.replace("127.0.0.1:1", "10.0.0.1:1"), &["10.0.0.1:1", "quorate cert"]);
    bad("kind.toml", &(good.to_owned() + "quorum = \"nosuch\"\n"), &["nosuch"]);
    quorate("serve --check --config /no/such/file").refused(&["/no/such/file"]);
}

#[test]
fn an_unknown_log_level_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let config = format!(
        "cluster = \"c\"\nsite = 1\nsites = [\"127.0.0.1:{}\"]\ndata = {:?}\n",
        free_port(),
        data.path()
    );
    let path = file("level.toml", &config);
    let mut command = Command::new(crate::PROGRAM);
    command.args(["serve", "--config", &path]).env("QUORATE_LOG", "quorate_server=debug");
    let done = Running::start(piped(&mut command)).finish();
    assert_eq!(done.code, Some(2), "{}", done.err);
    assert!(done.err.contains("`quorate_server=debug`, which is not a log level"), "{}", done.err);
}

#[test]
fn a_site_stops_when_asked() {
    let mut sites = TestCluster::start(3);
    for (site, signal) in [(2, Signal::SIGTERM), (3, Signal::SIGINT)] {
        sites.signal(site, signal);
        assert_eq!(sites.end_of(site), Some(0));
        let log = fs::read_to_string(sites.log(site)).unwrap();
        assert!(log.contains("the site runs") && log.contains("the site stops"), "{log}");
    }
}

#[test]
fn only_clients_with_certificates_of_the_cluster_connect() {
    let ours = tempfile::tempdir().unwrap();
    let done = quorate_with("cert --sites 3", &[ours.path().to_str().unwrap()]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert!(done.out.starts_with("wrote 9 files"), "{}", done.out);
    quorate_with("cert --sites 3", &[ours.path().to_str().unwrap()]).refused(&["is there already"]);
    let theirs = tempfile::tempdir().unwrap();
    quorate_with("cert --sites 3", &[theirs.path().to_str().unwrap()]);

    let sites = TestCluster::start_tls(3, ours.path());
    assert_eq!(sites.run(1, "lock deploy -- echo inside", &[]).out, "inside\n");
    let try_with = |flags: &[String]| {
        let mut command = Command::new(crate::PROGRAM);
        command.args(["lock", "deploy", "--no-wait", "--connect", &sites.addresses[0]]);
        command.args(flags).args(["--", "echo", "inside"]).stdin(Stdio::null());
        Running::start(piped(&mut command)).finish()
    };
    let ours_flags = tls_flags(ours.path());
    assert_eq!(try_with(&ours_flags).code, Some(0));
    let stranger = try_with(&tls_flags(theirs.path()));
    assert_eq!((stranger.code, stranger.out.as_str()), (Some(125), ""), "{}", stranger.err);
    let mut half = tls_flags(theirs.path());
    half[0].clone_from(&ours_flags[0]); // our authority, but a certificate signed by another one
    assert_eq!(try_with(&half).code, Some(125));
    assert_eq!(try_with(&[]).code, Some(125), "without TLS");
}

#[test]
fn garbage_on_a_connection_does_no_harm() {
    let sites = TestCluster::start(3);
    let (holder, _) = sites.hold(1, "lock deploy");
    let noise: Vec<u8> =
        (0..100_000_u32).map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1]).collect();
    let huge = [0xff, 0xff, 0xff, 0xff, 1, 2, 3];
    for bytes in [&noise[..], &huge, b"GET / HTTP/1.1\r\n\r\n", b""] {
        let mut stream = TcpStream::connect(&sites.addresses[0]).unwrap();
        stream.write_all(bytes).ok(); // it may be closed before all is written
        stream.shutdown(std::net::Shutdown::Write).ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
    }
    assert_eq!(holder.finish().code, Some(0));
    assert_eq!(sites.run(1, "lock deploy --wait 20s -- echo inside", &[]).out, "inside\n");
}

#[test]
fn completions_and_manual_pages_are_written() {
    for shell in ["bash", "zsh", "fish"] {
        let done = quorate(&format!("completions {shell}"));
        assert!(done.code == Some(0) && done.out.contains("quorate"), "{shell}");
    }
    let page = quorate("man").out;
    assert!(page.contains(".TH quorate 1") && !page.contains("run\\-under\\-lock"), "{page}");
    assert!(quorate("man lock").out.contains("QUORATE_FENCE"));
    quorate("man nosuch").refused(&["nosuch"]);
}

#[test]
fn every_command_has_help_with_an_example() {
    let lines = "quorum list,quorum show,bench,up,lock,ls,show,explain,watch,break,sites,serve,\
        cert,completions,man,";
    for line in lines.split(',') {
        let done = quorate(&format!("{line} --help"));
        assert_eq!(done.code, Some(0));
        assert!(done.out.contains("Example"), "{line}: {}", done.out);
    }
    assert!(quorate("--version").out.starts_with("quorate "));
}

/// The terminal is closed: a signal comes, and nobody reads the output any more.
#[test]
fn a_closed_terminal_stops_neither_a_site_nor_up() {
    let folder = tempfile::tempdir().unwrap();
    let ports = [free_port(), free_port()];
    let config = folder.path().join("site.toml");
    let text = format!(
        "cluster = \"c\"\nsite = 1\nsites = [\"127.0.0.1:{}\"]\ndata = {:?}\n",
        ports[0],
        folder.path().join("data")
    );
    fs::write(&config, text).unwrap();
    let serve = ["serve", "--log", "json", "--config", config.to_str().unwrap()];
    let port = ports[1].to_string();
    let up = ["up", "--sites", "1", "--lease", "1s", "--port", &port];
    for (arguments, port) in [(&serve[..], ports[0]), (&up[..], ports[1])] {
        let address = format!("127.0.0.1:{port}");
        let lock =
            || quorate_with("lock deploy --wait 20s --connect", &[&address, "--", "echo", "in"]);
        let mut command = Command::new("nohup");
        command.arg(crate::PROGRAM).args(arguments);
        let mut running = Running::start(piped(&mut command));
        until("it runs", || lock().code == Some(0));
        running.close_output();
        running.signal(Signal::SIGHUP);
        // It logs this, to nobody.
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        stream.read_to_end(&mut Vec::new()).ok();
        assert_eq!(lock().out, "in\n");
        running.signal(Signal::SIGTERM);
        assert_eq!(running.finish().code, Some(0));
    }
}
