//! The measured cluster: worker processes, controlled by the measuring process.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, io};

use clap::ValueEnum;
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use quorate_server::certificates::make_certificates;
use quorate_terminal::answer::Failure;
use tempfile::TempDir;

use super::measure::PoolBy;
use super::messages::{SiteSettings, WorkerCommand, WorkerReport};
use super::worker::WORKER;

/// One worker process; it is killed when this is dropped.
pub(super) struct Worker {
    child: Child,
    commands: ChildStdin,
    reports: BufReader<ChildStdout>,
    echo: String,
}

impl Worker {
    /// Starts a worker on the processor of host number `host`, with the certificate of `owner` if
    /// there is a directory of certificates.
    fn start(host: usize, certs: Option<&Path>, owner: &str) -> Result<Self, Failure> {
        let program = env::current_exe().map_err(Failure::service)?;
        let mut command = Command::new(program);
        command.arg(WORKER);
        if let Some(processor) = processor_of(host) {
            command.args(["--processor", &processor.to_string()]);
        }
        if let Some(certs) = certs {
            command.arg("--certs").arg(certs).args(["--owner", owner]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(Failure::service)?;
        let commands = child.stdin.take().expect("it is piped");
        let reports = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut worker = Self { child, commands, reports, echo: String::new() };
        if let WorkerReport::Hello(echo) = worker.receive()? {
            worker.echo = echo;
        }
        Ok(worker)
    }

    /// The address of its echo server.
    pub(super) fn echo(&self) -> &str {
        &self.echo
    }

    /// Sends a command, and does not wait for the report.
    pub(super) fn send(&mut self, command: &WorkerCommand) -> Result<(), Failure> {
        let line = serde_json::to_string(command).expect("a command can be written");
        writeln!(self.commands, "{line}").map_err(gone)
    }

    /// Waits for the next report.
    pub(super) fn receive(&mut self) -> Result<WorkerReport, Failure> {
        let mut line = String::new();
        if self.reports.read_line(&mut line).map_err(gone)? == 0 {
            return Err(gone("its output has ended"));
        }
        match serde_json::from_str(&line).map_err(Failure::service)? {
            WorkerReport::Failed(why) => Err(Failure::Service(why)),
            report => Ok(report),
        }
    }

    /// Sends a command, and waits for the report.
    pub(super) fn ask(&mut self, command: &WorkerCommand) -> Result<WorkerReport, Failure> {
        self.send(command)?;
        self.receive()
    }

    /// Kills the process, as a crash would end it.
    pub(super) fn kill(&mut self) {
        drop(self.child.kill()); // it may have ended
        drop(self.child.wait());
    }
}

fn gone(error: impl Display) -> Failure {
    Failure::Service(format!("a worker process of the benchmark has ended: {error}"))
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A cluster of worker processes, and its callers.
pub(super) struct BenchCluster {
    /// One process for each site.
    pub(super) sites: Vec<Worker>,
    /// The callers' processes, if callers connect over a socket.
    pub(super) clients: Vec<Worker>,
    addresses: Vec<String>,
    lease_ms: u64,
    pool: PoolBy,
    via: Via,
    folder: TempDir,
    /// The directory of the certificates, if the cluster uses TLS.
    certs: Option<PathBuf>,
}

/// Where callers run, and how they reach their site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Via {
    /// Tasks in the runtime of their site
    Embedded,
    /// In the process of their site, which runs in its own thread
    Thread,
    /// In separate processes, one for each site
    Socket,
}

impl Via {
    pub(super) fn name(self) -> &'static str {
        match self {
            Via::Embedded => "embedded",
            Via::Thread => "thread",
            Via::Socket => "socket",
        }
    }
}

impl BenchCluster {
    /// Starts the sites, and the client processes if callers use sockets.
    pub(super) fn start(
        sites: usize,
        via: Via,
        tls: bool,
        lease_ms: u64,
        pool: PoolBy,
    ) -> Result<Self, Failure> {
        let folder = tempfile::tempdir().map_err(Failure::service)?;
        let certs = tls.then(|| folder.path().join("certs"));
        if let Some(certs) = &certs {
            make_certificates(certs, sites).map_err(Failure::service)?;
        }
        let mut cluster = Self {
            sites: Vec::new(),
            clients: Vec::new(),
            addresses: free_addresses(sites).map_err(Failure::service)?,
            lease_ms,
            pool,
            via,
            folder,
            certs,
        };
        for site in 0..sites {
            let worker = cluster.start_site(site)?;
            cluster.sites.push(worker);
        }
        for site in 0..if via == Via::Socket { sites } else { 0 } {
            let worker = cluster.start_client(site)?;
            cluster.clients.push(worker);
        }
        for worker in 0..sites {
            cluster.callers()[worker].ask(&WorkerCommand::Hold("all are there".into()))?;
            cluster.callers()[worker].ask(&WorkerCommand::Release)?;
        }
        Ok(cluster)
    }

    /// Starts or restarts a site.
    pub(super) fn start_site(&self, site: usize) -> Result<Worker, Failure> {
        let owner = format!("site-{}", site + 1);
        let mut worker = Worker::start(site, self.certs.as_deref(), &owner)?;
        worker.ask(&WorkerCommand::Site(SiteSettings {
            site: site + 1,
            sites: self.addresses.clone(),
            data: self.data(site),
            pool: self.pool.setting().to_owned(),
            lease_ms: self.lease_ms,
            own_thread: self.via == Via::Thread,
        }))?;
        Ok(worker)
    }

    /// Starts a client of a site.
    pub(super) fn start_client(&self, site: usize) -> Result<Worker, Failure> {
        let mut worker = Worker::start(site, self.certs.as_deref(), "client")?;
        worker.ask(&WorkerCommand::Connect(self.addresses[site].clone()))?;
        Ok(worker)
    }

    /// The processes that contain the callers, one for each site.
    pub(super) fn callers(&mut self) -> &mut [Worker] {
        if self.via == Via::Socket { &mut self.clients } else { &mut self.sites }
    }

    fn data(&self, site: usize) -> PathBuf {
        self.folder.path().join(format!("site-{}", site + 1))
    }
}

/// The processor that stands for a host: that of a site and its clients, assigned round-robin. So
/// raw figures and lock figures come from processes placed alike.
fn processor_of(host: usize) -> Option<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).ok()?;
    let free: Vec<usize> =
        (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu) == Ok(true)).collect();
    Some(*free.get(host.checked_rem(free.len())?)?)
}

/// Addresses on which nobody listens at the moment. Their ports are below those that the system
/// gives to connections, so none is taken before a site listens on it.
fn free_addresses(count: usize) -> io::Result<Vec<String>> {
    let start = std::process::id() % 10_000;
    let addresses = (0..10_000).map(|n| format!("127.0.0.1:{}", 20_000 + (start + n) % 10_000));
    let free = addresses.filter(|address| TcpListener::bind(address).is_ok());
    let free: Vec<String> = free.take(count).collect();
    let none = || io::Error::new(io::ErrorKind::AddrInUse, "no port from 20000 on is free");
    if free.len() == count { Ok(free) } else { Err(none()) }
}
