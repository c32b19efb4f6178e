//! A worker process: a site with its callers, or callers of a site in another process.

use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::Args;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::Pid;
use quorate::{Cluster, Guard, Options, SiteConfig, TlsConfig};
use quorate_net::clock;
use quorate_net::tls::Tls;
use quorate_terminal::answer::{Answer, Failure, Verdict, print};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::messages::{
    ClaimTarget, Load, LoadResult, Pauses, Sample, SiteSettings, WorkerCommand, WorkerReport,
};
use super::raw;
use crate::run::block_on;

/// The name of the hidden subcommand that starts a worker.
pub(crate) const WORKER: &str = "bench-worker";

/// Carry out the benchmark's commands from standard input
#[derive(Args, Clone, Debug)]
pub(crate) struct Worker {
    /// The processor to run on
    #[arg(long)]
    processor: Option<usize>,
    /// The directory of the certificates, if the cluster uses TLS
    #[arg(long, requires = "owner")]
    certs: Option<PathBuf>,
    /// The owner of this process's certificate
    #[arg(long)]
    owner: Option<String>,
}

/// A worker's connection to the cluster, and the lock it holds.
struct WorkerState {
    tls: Option<TlsConfig>,
    raw_tls: Option<Tls>,
    cluster: Option<Cluster>,
    held: Option<Guard>,
}

impl Worker {
    /// Carries out commands until standard input ends.
    pub(crate) fn run(&self) -> Answer {
        if let Some(processor) = self.processor {
            pin_to(processor).map_err(Failure::service)?;
        }
        let tls = self.certificates();
        let raw_tls = tls.as_ref().map(Tls::read).transpose().map_err(Failure::service)?;
        let echo = raw::start_echo(raw_tls.clone()).map_err(Failure::service)?;
        send_report(&WorkerReport::Hello(echo))?;
        block_on(async {
            let mut state = WorkerState { tls, raw_tls, cluster: None, held: None };
            let mut lines = BufReader::new(tokio::io::stdin()).lines();
            while let Some(line) = lines.next_line().await.map_err(Failure::service)? {
                let command = serde_json::from_str(&line).map_err(Failure::of)?;
                let report = state.execute(command).await;
                let report = report.unwrap_or_else(|error| WorkerReport::Failed(error.to_string()));
                // Writing may block until other workers have reported, and those may wait for the
                // site in this thread: so it must not block this thread.
                let said = tokio::task::spawn_blocking(move || send_report(&report)).await;
                said.map_err(Failure::service)??;
            }
            Ok(Verdict::Clean)
        })
    }

    fn certificates(&self) -> Option<TlsConfig> {
        let (folder, owner) = (self.certs.as_ref()?, self.owner.as_ref()?);
        Some(TlsConfig {
            ca: folder.join("ca.pem"),
            cert: folder.join(format!("{owner}.pem")),
            key: folder.join(format!("{owner}.key")),
        })
    }
}

/// Pins this process to one processor.
fn pin_to(processor: usize) -> nix::Result<()> {
    let mut set = CpuSet::new();
    set.set(processor)?;
    sched_setaffinity(Pid::from_raw(0), &set)
}

fn send_report(report: &WorkerReport) -> Result<(), Failure> {
    let line = serde_json::to_string(report).expect("a report can be written");
    print(&(line + "\n"))
}

impl WorkerState {
    async fn execute(&mut self, command: WorkerCommand) -> Result<WorkerReport, quorate::Error> {
        match command {
            WorkerCommand::Site(settings) => {
                self.cluster = Some(start(settings, self.tls.clone())?);
            }
            WorkerCommand::Connect(address) => {
                let mut options = Options::new([address]).timeout(Duration::from_secs(10));
                if let Some(tls) = &self.tls {
                    options = options.tls(tls.clone());
                }
                self.cluster = Some(options.connect().await?);
            }
            WorkerCommand::Raw { echoes, until } => {
                let tls = self.raw_tls.clone();
                let rounds = move || raw::round_trips(&echoes, tls.as_ref(), until);
                let rounds = tokio::task::spawn_blocking(rounds);
                let rounds = rounds.await.map_err(io::Error::from).and_then(|rounds| rounds);
                let failed = |error: io::Error| WorkerReport::Failed(format!("echoes: {error}"));
                return Ok(rounds.map_or_else(failed, WorkerReport::Raw));
            }
            WorkerCommand::Load(load) => {
                return Ok(WorkerReport::Load(run_load(self.cluster()?, load).await?));
            }
            WorkerCommand::Hold(name) => {
                self.held = Some(self.cluster()?.mutex(&name)?.lock().await?);
                return Ok(WorkerReport::Held(clock::now().0));
            }
            WorkerCommand::Release => self.held = None,
        }
        Ok(WorkerReport::Done)
    }

    fn cluster(&self) -> Result<&Cluster, quorate::Error> {
        let none = || quorate::Error::Stopped("the worker has no cluster".into());
        self.cluster.as_ref().ok_or_else(none)
    }
}

fn start(settings: SiteSettings, tls: Option<TlsConfig>) -> Result<Cluster, quorate::Error> {
    let config = SiteConfig {
        tls,
        lease_ms: settings.lease_ms,
        pool: settings.pool,
        ..SiteConfig::new("bench", settings.site, &settings.sites, settings.data)
    };
    if settings.own_thread { Cluster::embedded(&config) } else { Cluster::embedded_here(&config) }
}

/// Runs the callers, and counts CPU time and messages while they are measured.
async fn run_load(cluster: &Cluster, load: Load) -> Result<LoadResult, quorate::Error> {
    let mut callers = JoinSet::new();
    for claim in &load.claims {
        let lock = match claim {
            ClaimTarget::Mutex(name) => Lock::Mutex(cluster.mutex(name)?),
            ClaimTarget::Units(name, count, of) => Lock::Pool(cluster.pool(name, *of)?, *count),
            ClaimTarget::Group(name, group) => Lock::Group(cluster.group(name)?, group.clone()),
            ClaimTarget::Token(name, group) => {
                Lock::Group(cluster.group(name)?.via_token(), group.clone())
            }
        };
        callers.spawn(run_caller(lock, load.hold_us, load.pauses.clone(), load.to));
    }
    sleep_until(load.from).await;
    let messages = || cluster.messages_sent().unwrap_or_default();
    let before = (cpu(), messages());
    sleep_until(load.to).await;
    let (cpu, messages) = (cpu().saturating_sub(before.0), messages() - before.1);
    let mut result = LoadResult { samples: Vec::new(), cpu, messages };
    for samples in callers.join_all().await {
        result.samples.extend(samples?.into_iter().filter(|sample| sample.asked >= load.from));
    }
    Ok(result)
}

/// The lock that a caller claims.
enum Lock {
    Mutex(quorate::Mutex),
    /// A number of units of a pool.
    Pool(quorate::Pool, u32),
    /// With this group.
    Group(quorate::GroupLock, String),
}

impl Lock {
    async fn acquire(&self) -> Result<Guard, quorate::Error> {
        match self {
            Lock::Mutex(mutex) => mutex.lock().await,
            Lock::Pool(pool, count) => Ok(pool.acquire(*count).await?.into()),
            Lock::Group(lock, group) => Ok(lock.enter(group).await?.into()),
        }
    }
}

/// Runs one caller, which acquires and releases the lock until `to`.
async fn run_caller(
    lock: Lock,
    hold_us: u64,
    mut pauses: Option<Pauses>,
    to: u64,
) -> Result<Vec<Sample>, quorate::Error> {
    let mut samples = Vec::new();
    loop {
        let asked = clock::now().0;
        if asked >= to {
            return Ok(samples);
        }
        let guard = lock.acquire().await?;
        let granted = clock::now().0;
        if hold_us > 0 {
            sleep(Duration::from_micros(hold_us)).await;
        }
        let (fence, released) = (guard.fence().0, clock::now().0);
        drop(guard);
        samples.push(Sample { fence, asked, granted, released });
        if let Some(pause) = pauses.as_mut().and_then(Pauses::next) {
            sleep(pause).await;
        }
    }
}

/// Sleeps in a separate thread: a runtime with a timer set waits in a slower way.
#[expect(clippy::disallowed_methods, reason = "no timer of the runtime may be set")]
async fn sleep_until(when: u64) {
    let time = Duration::from_nanos(when.saturating_sub(clock::now().0));
    let slept = tokio::task::spawn_blocking(move || thread::sleep(time));
    slept.await.expect("it only sleeps");
}

/// The CPU time of this process, in nanoseconds.
fn cpu() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from);
    u64::try_from(time.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}
