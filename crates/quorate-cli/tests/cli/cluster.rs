//! A cluster of `quorate serve` processes, and commands that use it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

use crate::program::Done;

/// The length of a lease in these tests.
pub(crate) const LEASE_MS: u64 = 1000;

/// How long any condition may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Waits until `is_so`. It needs no pause: it runs a command, which takes its time.
#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < end, "{what}: not within {TIMEOUT:?}");
    }
}

/// A port on which nobody listens, outside the system's range of ephemeral ports.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(std::process::id() % 200).expect("it is small") * 100;
    loop {
        let port = 11_000 + (start + NEXT.fetch_add(1, Ordering::Relaxed)) % 20_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// A cluster with each site in its own process.
#[derive(Debug)]
pub(crate) struct TestCluster {
    folder: TempDir,
    pub(crate) addresses: Vec<String>,
    processes: Vec<Option<Running>>,
    /// The TLS flags of clients.
    tls: Vec<String>,
}

impl TestCluster {
    /// Starts `count` sites, and waits until they are connected.
    pub(crate) fn start(count: usize) -> Self {
        Self::start_with(count, |_, _| String::new(), Vec::new())
    }

    /// The same, over TLS with the certificates in `folder`.
    pub(crate) fn start_tls(count: usize, folder: &Path) -> Self {
        let file = |name: &str| folder.join(name).display().to_string();
        let more = |_: &Path, site: usize| {
            let (ca, cert) = (file("ca.pem"), file(&format!("site-{site}.pem")));
            let key = file(&format!("site-{site}.key"));
            format!("[tls]\nca = {ca:?}\ncert = {cert:?}\nkey = {key:?}\n")
        };
        Self::start_with(count, more, tls_flags(folder))
    }

    /// The same with `more` at the end of each configuration.
    pub(crate) fn start_with(
        count: usize,
        more: impl Fn(&Path, usize) -> String,
        tls: Vec<String>,
    ) -> Self {
        let mut sites = Self::configure(count, more, tls);
        for site in 1..=count {
            sites.restart(site);
        }
        sites.wait_until_connected();
        sites
    }

    /// Configures sites, but starts none. `more` is the end of each configuration.
    pub(crate) fn configure(
        count: usize,
        more: impl Fn(&Path, usize) -> String,
        tls: Vec<String>,
    ) -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let addresses: Vec<String> =
            (0..count).map(|_| format!("127.0.0.1:{}", free_port())).collect();
        for site in 1..=count {
            let data = folder.path().join(format!("data-{site}")).display().to_string();
            let text = format!(
                "cluster = \"test\"\nsite = {site}\nsites = {addresses:?}\ndata = {data:?}\n\
                 lease_ms = {LEASE_MS}\n{}",
                more(folder.path(), site)
            );
            fs::write(folder.path().join(format!("site-{site}.toml")), text).expect("it fits");
        }
        let processes = (0..count).map(|_| None).collect();
        Self { folder, addresses, processes, tls }
    }

    /// Replaces a part of the configuration of a site.
    #[track_caller]
    pub(crate) fn change(&self, site: usize, from: &str, to: &str) {
        let path = self.file(&format!("site-{site}.toml"));
        let text = fs::read_to_string(&path).expect("it is configured");
        assert!(text.contains(from), "`{from}` is not in {text}");
        fs::write(path, text.replacen(from, to, 1)).expect("it fits");
    }

    /// Waits for a line in the log of a site that contains all of `words`, and returns it.
    #[track_caller]
    pub(crate) fn wait_for_log(&self, site: usize, words: &[&str]) -> String {
        let mut found = None;
        until(&format!("site {site} logs {words:?}"), || {
            found = self.logged(site, words).into_iter().next();
            found.is_some() || crate::program::quorate("--version").code.is_none()
        });
        found.expect("it was found")
    }

    /// The lines in the log of a site that contain all of `words`.
    pub(crate) fn logged(&self, site: usize, words: &[&str]) -> Vec<String> {
        let log = fs::read_to_string(self.log(site)).unwrap_or_default();
        let has_all = |line: &&str| words.iter().all(|word| line.contains(word));
        log.lines().filter(has_all).map(str::to_owned).collect()
    }

    /// The path of a file in the directory of the sites.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts a site that does not run.
    pub(crate) fn restart(&mut self, site: usize) {
        let config = self.file(&format!("site-{site}.toml"));
        let log = File::options().create(true).append(true).open(self.log(site));
        let mut command = Command::new(crate::PROGRAM);
        command.args(["serve", "--config"]).arg(config).stderr(log.expect("it can be made"));
        self.processes[site - 1] = Some(Running::start(command));
    }

    /// The log file of a site.
    pub(crate) fn log(&self, site: usize) -> PathBuf {
        self.file(&format!("site-{site}.log"))
    }

    /// Kills a site.
    pub(crate) fn kill(&mut self, site: usize) {
        self.signal(site, Signal::SIGKILL);
        self.processes[site - 1].take().expect("it runs").child.wait().expect("it has ended");
    }

    /// Sends a signal to a site.
    pub(crate) fn signal(&self, site: usize, signal: Signal) {
        self.processes[site - 1].as_ref().expect("it runs").signal(signal);
    }

    /// How much memory a site uses, in MiB.
    pub(crate) fn memory(&self, site: usize) -> u64 {
        self.memory_line(site, "VmRSS:")
    }

    /// The most memory that a site has used, in MiB.
    #[allow(dead_code, reason = "the benchmark `stress` reports it")]
    pub(crate) fn peak_memory(&self, site: usize) -> u64 {
        self.memory_line(site, "VmHWM:")
    }

    fn memory_line(&self, site: usize, start: &str) -> u64 {
        let id = self.processes[site - 1].as_ref().expect("it runs").child.id();
        let status = fs::read_to_string(format!("/proc/{id}/status")).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix(start));
        let kib = line.and_then(|line| line.split_whitespace().next()).expect("it has memory");
        kib.parse::<u64>().expect("a number") >> 10
    }

    /// The exit status of a site that was asked to stop.
    pub(crate) fn end_of(&mut self, site: usize) -> Option<i32> {
        self.processes[site - 1].take().expect("it runs").finish().code
    }

    /// Waits until all sites are connected to all others, and none is in quarantine.
    #[track_caller]
    pub(crate) fn wait_until_connected(&self) {
        let others = self.addresses.len() - 1;
        until("all sites are connected", || {
            let done = self.run(1, "sites --json", &[]);
            done.code == Some(0)
                && done.json()["sites"].as_array().expect("a list").iter().all(|site| {
                    site["answers"] == true
                        && site["quarantine_ms"] == 0
                        && site["hears"].as_array().expect("a list").len() == others
                })
        });
    }

    /// `quorate` with these arguments, connected to a site.
    fn command(&self, site: usize, line: &str, more: &[&str]) -> Command {
        self.command_at(&self.addresses[site - 1], line, more)
    }

    /// `quorate` with these arguments, and these addresses.
    fn command_at(&self, addresses: &str, line: &str, more: &[&str]) -> Command {
        let mut command = Command::new(crate::PROGRAM);
        let mut words = line.split_whitespace();
        let depth = if line.starts_with("elect ") { 2 } else { 1 }; // of the subcommand
        command.args(words.by_ref().take(depth));
        command.args(["--connect", addresses]);
        command.args(&self.tls).args(words).args(more);
        command
    }

    /// Runs a command to its end, without input.
    pub(crate) fn run(&self, site: usize, line: &str, more: &[&str]) -> Done {
        let mut command = self.command(site, line, more);
        Running::start(piped(command.stdin(Stdio::null()))).finish()
    }

    /// Starts a command whose input stays open.
    pub(crate) fn spawn(&self, site: usize, line: &str, more: &[&str]) -> Running {
        Running::start(piped(&mut self.command(site, line, more)))
    }

    /// The same, with another standard error, such as a terminal.
    pub(crate) fn spawn_with_errors_to(&self, site: usize, line: &str, err: Stdio) -> Running {
        let mut command = piped(&mut self.command(site, line, &[]));
        command.stderr(err);
        Running::start(command)
    }

    /// The same, with these addresses.
    pub(crate) fn spawn_at(&self, addresses: &str, line: &str, more: &[&str]) -> Running {
        Running::start(piped(&mut self.command_at(addresses, line, more)))
    }

    /// The same, with the addresses of all sites.
    pub(crate) fn spawn_anywhere(&self, line: &str, more: &[&str]) -> Running {
        self.spawn_at(&self.addresses.join(","), line, more)
    }

    /// Holds a lock until the command's input ends. Returns the command and its fence.
    pub(crate) fn hold(&self, site: usize, line: &str) -> (Running, u64) {
        let script = "echo $QUORATE_FENCE; cat > /dev/null";
        let mut running = self.spawn(site, line, &["--", "sh", "-c", script]);
        let fence = running.line().trim().parse().expect("a fence");
        (running, fence)
    }

    /// The status of a lock, asked through a site.
    pub(crate) fn show(&self, site: usize, name: &str) -> Value {
        self.run(site, "show --json", &[name]).json()
    }

    /// Waits until a lock has `count` waiters.
    #[track_caller]
    pub(crate) fn wait_for_waiters(&self, site: usize, name: &str, count: usize) {
        until("the lock has as many waiters", || {
            self.show(site, name)["waiting"].as_array().expect("a list").len() == count
        });
    }
}

/// The flags of a client with the certificates in `folder`.
pub(crate) fn tls_flags(folder: &Path) -> Vec<String> {
    let file = |flag: &str, name: &str| format!("{flag}={}", folder.join(name).display());
    vec![file("--ca", "ca.pem"), file("--cert", "client.pem"), file("--key", "client.key")]
}

/// The same command with all its streams piped.
pub(crate) fn piped(command: &mut Command) -> Command {
    let mut own = Command::new(command.get_program());
    own.args(command.get_args()).stdin(Stdio::piped());
    for (key, value) in command.get_envs() {
        own.env(key, value.expect("it is set"));
    }
    own.stdout(Stdio::piped()).stderr(Stdio::piped());
    own
}

/// A running command; it is killed when dropped.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    out: Option<BufReader<ChildStdout>>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().expect("the command was built");
        let out = child.stdout.take().map(BufReader::new);
        Self { child, out }
    }

    /// The next line it prints; empty at the end of its output.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.out.as_mut().expect("it is piped").read_line(&mut line).expect("it speaks UTF-8");
        line
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).expect("it is small");
        kill(Pid::from_raw(id), signal).expect("it runs");
    }

    /// Closes its output: whatever it prints from now on is an error for it.
    pub(crate) fn close_output(&mut self) {
        self.out = None;
        self.child.stderr = None;
    }

    /// Closes its input, and waits for its end.
    pub(crate) fn finish(mut self) -> Done {
        drop(self.child.stdin.take());
        self.end()
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Done {
        let _open = self.child.stdin.take();
        let (mut out, mut err) = (String::new(), String::new());
        if let Some(stream) = &mut self.out {
            stream.read_to_string(&mut out).expect("it speaks UTF-8");
        }
        if let Some(stream) = &mut self.child.stderr {
            stream.read_to_string(&mut err).expect("it speaks UTF-8");
        }
        let code = self.child.wait().expect("it ends").code();
        Done { code, out, err }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
