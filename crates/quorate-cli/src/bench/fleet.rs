//! The processes that are measured, seen from the one that measures.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, io};

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use quorate_server::certificates::make_certificates;
use quorate_terminal::answer::Failure;
use tempfile::TempDir;

use super::order::{Order, Report, SitePlan};
use super::worker::WORKER;

/// One process; it is killed when this is dropped.
pub(super) struct Worker {
    child: Child,
    orders: ChildStdin,
    reports: BufReader<ChildStdout>,
    echo: String,
}

impl Worker {
    /// Starts a process that waits for orders, on the processor of host number `host`, and with the
    /// certificate of `owner` if there is a folder of them.
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
        let orders = child.stdin.take().expect("it is piped");
        let reports = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut worker = Self { child, orders, reports, echo: String::new() };
        if let Report::Hello(echo) = worker.hear()? {
            worker.echo = echo;
        }
        Ok(worker)
    }

    /// Where it sends back what it is sent.
    pub(super) fn echo(&self) -> &str {
        &self.echo
    }

    /// Tells it what to do, and does not wait.
    pub(super) fn tell(&mut self, order: &Order) -> Result<(), Failure> {
        let line = serde_json::to_string(order).expect("an order can be written");
        writeln!(self.orders, "{line}").map_err(gone)
    }

    /// What it says next.
    pub(super) fn hear(&mut self) -> Result<Report, Failure> {
        let mut line = String::new();
        if self.reports.read_line(&mut line).map_err(gone)? == 0 {
            return Err(gone("it says nothing more"));
        }
        match serde_json::from_str(&line).map_err(Failure::service)? {
            Report::Failed(why) => Err(Failure::Service(why)),
            report => Ok(report),
        }
    }

    /// Both.
    pub(super) fn ask(&mut self, order: &Order) -> Result<Report, Failure> {
        self.tell(order)?;
        self.hear()
    }

    /// Ends it without a word, as a crash does.
    pub(super) fn kill(&mut self) {
        drop(self.child.kill()); // it may have ended
        drop(self.child.wait());
    }
}

fn gone(error: impl Display) -> Failure {
    Failure::Service(format!("a process of the bench has ended: {error}"))
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A cluster of processes, and where its callers are.
pub(super) struct Fleet {
    /// One for each site.
    pub(super) sites: Vec<Worker>,
    /// The callers' processes, if they reach their sites over a socket.
    pub(super) clients: Vec<Worker>,
    addresses: Vec<String>,
    lease_ms: u64,
    via: Via,
    folder: TempDir,
    /// Where the certificates are, if it speaks TLS.
    certs: Option<PathBuf>,
}

/// Where callers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Via {
    /// Among the tasks of their site's runtime.
    Embedded,
    /// In the process of their site, which has a thread of its own.
    Thread,
    /// In another process.
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

impl Fleet {
    /// Starts the sites, and the clients if there are any.
    pub(super) fn start(sites: usize, via: Via, tls: bool, lease_ms: u64) -> Result<Self, Failure> {
        let folder = tempfile::tempdir().map_err(Failure::service)?;
        let certs = tls.then(|| folder.path().join("certs"));
        if let Some(certs) = &certs {
            make_certificates(certs, sites).map_err(Failure::service)?;
        }
        let mut fleet = Self {
            sites: Vec::new(),
            clients: Vec::new(),
            addresses: free_addresses(sites).map_err(Failure::service)?,
            lease_ms,
            via,
            folder,
            certs,
        };
        for site in 0..sites {
            let worker = fleet.start_site(site)?;
            fleet.sites.push(worker);
        }
        for site in 0..if via == Via::Socket { sites } else { 0 } {
            let worker = fleet.start_client(site)?;
            fleet.clients.push(worker);
        }
        for worker in 0..sites {
            fleet.callers()[worker].ask(&Order::Hold("all are there".into()))?;
            fleet.callers()[worker].ask(&Order::Release)?;
        }
        Ok(fleet)
    }

    /// Starts the site at a place, or starts it again.
    pub(super) fn start_site(&self, site: usize) -> Result<Worker, Failure> {
        let owner = format!("site-{}", site + 1);
        let mut worker = Worker::start(site, self.certs.as_deref(), &owner)?;
        worker.ask(&Order::Site(SitePlan {
            site: site + 1,
            sites: self.addresses.clone(),
            data: self.data(site),
            lease_ms: self.lease_ms,
            apart: self.via == Via::Thread,
        }))?;
        Ok(worker)
    }

    /// Starts a client of the site at a place.
    pub(super) fn start_client(&self, site: usize) -> Result<Worker, Failure> {
        let mut worker = Worker::start(site, self.certs.as_deref(), "client")?;
        worker.ask(&Order::Connect(self.addresses[site].clone()))?;
        Ok(worker)
    }

    /// The processes in which callers are, one for each site.
    pub(super) fn callers(&mut self) -> &mut [Worker] {
        if self.via == Via::Socket { &mut self.clients } else { &mut self.sites }
    }

    fn data(&self, site: usize) -> PathBuf {
        self.folder.path().join(format!("site-{}", site + 1))
    }
}

/// The processor that stands for a host. A site and its clients are on one host, and hosts take
/// turns: so the raw figures and ours are of processes that sit in the same places.
fn processor_of(host: usize) -> Option<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).ok()?;
    let free: Vec<usize> =
        (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu) == Ok(true)).collect();
    Some(*free.get(host.checked_rem(free.len())?)?)
}

/// Addresses that nobody listens at just now.
fn free_addresses(count: usize) -> io::Result<Vec<String>> {
    let listeners: io::Result<Vec<TcpListener>> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect();
    listeners?.iter().map(|listener| Ok(listener.local_addr()?.to_string())).collect()
}
