//! One of the processes that are measured: a site with its callers, or callers of a site elsewhere.

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
use quorate_terminal::answer::{Answer, Failure, Verdict, say};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::order::{Claimed, Load, Order, Pauses, Report, Seen, SitePlan, Turn};
use super::raw;
use crate::run::block_on;

/// How the bench starts its processes.
pub(crate) const WORKER: &str = "bench-worker";

/// Does what the bench says on standard input
#[derive(Args, Clone, Debug)]
pub(crate) struct Worker {
    /// The processor it keeps to
    #[arg(long)]
    processor: Option<usize>,
    /// The folder of the certificates, if the cluster speaks TLS
    #[arg(long, requires = "owner")]
    certs: Option<PathBuf>,
    /// Whose certificate is ours
    #[arg(long)]
    owner: Option<String>,
}

/// A worker's place in the cluster.
struct Desk {
    tls: Option<TlsConfig>,
    raw_tls: Option<Tls>,
    cluster: Option<Cluster>,
    held: Option<Guard>,
}

impl Worker {
    /// Works until standard input ends.
    pub(crate) fn run(&self) -> Answer {
        if let Some(processor) = self.processor {
            keep_to(processor).map_err(Failure::service)?;
        }
        let tls = self.certificates();
        let raw_tls = tls.as_ref().map(Tls::read).transpose().map_err(Failure::service)?;
        let echo = raw::start_echo(raw_tls.clone()).map_err(Failure::service)?;
        say_report(&Report::Hello(echo))?;
        block_on(async {
            let mut desk = Desk { tls, raw_tls, cluster: None, held: None };
            let mut lines = BufReader::new(tokio::io::stdin()).lines();
            while let Some(line) = lines.next_line().await.map_err(Failure::service)? {
                let order = serde_json::from_str(&line).map_err(Failure::of)?;
                let report = desk.follow(order).await;
                let report = report.unwrap_or_else(|error| Report::Failed(error.to_string()));
                // Whoever reads it may wait for others first, and they for the site in this thread.
                let said = tokio::task::spawn_blocking(move || say_report(&report)).await;
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

/// Has this process run on one processor only.
fn keep_to(processor: usize) -> nix::Result<()> {
    let mut set = CpuSet::new();
    set.set(processor)?;
    sched_setaffinity(Pid::from_raw(0), &set)
}

fn say_report(report: &Report) -> Result<(), Failure> {
    let line = serde_json::to_string(report).expect("a report can be written");
    say(&(line + "\n"))
}

impl Desk {
    async fn follow(&mut self, order: Order) -> Result<Report, quorate::Error> {
        match order {
            Order::Site(plan) => self.cluster = Some(start(plan, self.tls.clone())?),
            Order::Connect(address) => {
                let mut options = Options::new([address]).patience(Duration::from_secs(10));
                if let Some(tls) = &self.tls {
                    options = options.tls(tls.clone());
                }
                self.cluster = Some(options.connect().await?);
            }
            Order::Raw { echoes, until } => {
                let tls = self.raw_tls.clone();
                let rounds = move || raw::rounds(&echoes, tls.as_ref(), until);
                let rounds = tokio::task::spawn_blocking(rounds);
                let rounds = rounds.await.map_err(io::Error::from).and_then(|rounds| rounds);
                let failed = |error: io::Error| Report::Failed(format!("echoes: {error}"));
                return Ok(rounds.map_or_else(failed, Report::Raw));
            }
            Order::Load(load) => return Ok(Report::Load(drive(self.cluster()?, load).await?)),
            Order::Hold(name) => {
                self.held = Some(self.cluster()?.mutex(&name)?.lock().await?);
                return Ok(Report::Held(clock::now().0));
            }
            Order::Release => self.held = None,
        }
        Ok(Report::Done)
    }

    fn cluster(&self) -> Result<&Cluster, quorate::Error> {
        let none = || quorate::Error::Stopped("the worker has no cluster".into());
        self.cluster.as_ref().ok_or_else(none)
    }
}

fn start(plan: SitePlan, tls: Option<TlsConfig>) -> Result<Cluster, quorate::Error> {
    let config = SiteConfig {
        tls,
        lease_ms: plan.lease_ms,
        ..SiteConfig::new("bench", plan.site, &plan.sites, plan.data)
    };
    if plan.apart { Cluster::embedded(&config) } else { Cluster::embedded_here(&config) }
}

/// Lets the callers run, and counts what the process takes while it is measured.
async fn drive(cluster: &Cluster, load: Load) -> Result<Seen, quorate::Error> {
    let mut callers = JoinSet::new();
    for claim in &load.claims {
        let thing = match claim {
            Claimed::Mutex(name) => Thing::Mutex(cluster.mutex(name)?),
            Claimed::Units(name, count, of) => Thing::Pool(cluster.pool(name, *of)?, *count),
            Claimed::Group(name, group) => Thing::Group(cluster.group(name)?, group.clone()),
            Claimed::Token(name, group) => {
                Thing::Group(cluster.group(name)?.via_token(), group.clone())
            }
        };
        callers.spawn(call(thing, load.keep_us, load.pauses.clone(), load.to));
    }
    sleep_until(load.from).await;
    let messages = || cluster.messages_sent().unwrap_or_default();
    let before = (cpu(), messages());
    sleep_until(load.to).await;
    let (cpu, messages) = (cpu().saturating_sub(before.0), messages() - before.1);
    let mut seen = Seen { turns: Vec::new(), cpu, messages };
    for turns in callers.join_all().await {
        seen.turns.extend(turns?.into_iter().filter(|turn| turn.asked >= load.from));
    }
    Ok(seen)
}

/// What a caller claims.
enum Thing {
    Mutex(quorate::Mutex),
    /// So many units of a pool.
    Pool(quorate::Pool, u32),
    /// Together with others of this group.
    Group(quorate::GroupLock, String),
}

impl Thing {
    async fn acquire(&self) -> Result<Guard, quorate::Error> {
        match self {
            Thing::Mutex(mutex) => mutex.lock().await,
            Thing::Pool(pool, count) => Ok(pool.acquire(*count).await?.into()),
            Thing::Group(lock, group) => Ok(lock.enter(group).await?.into()),
        }
    }
}

/// One caller: in, out, and again.
async fn call(
    thing: Thing,
    keep_us: u64,
    mut pauses: Option<Pauses>,
    to: u64,
) -> Result<Vec<Turn>, quorate::Error> {
    let mut turns = Vec::new();
    loop {
        let asked = clock::now().0;
        if asked >= to {
            return Ok(turns);
        }
        let guard = thing.acquire().await?;
        let granted = clock::now().0;
        if keep_us > 0 {
            sleep(Duration::from_micros(keep_us)).await;
        }
        let (fence, released) = (guard.fence().0, clock::now().0);
        drop(guard);
        turns.push(Turn { fence, asked, granted, released });
        if let Some(pause) = pauses.as_mut().and_then(Pauses::next) {
            sleep(pause).await;
        }
    }
}

/// In a thread of its own: a runtime that has a timer set waits in a slower way.
async fn sleep_until(when: u64) {
    let time = Duration::from_nanos(when.saturating_sub(clock::now().0));
    let slept = tokio::task::spawn_blocking(move || thread::sleep(time));
    slept.await.expect("it only sleeps");
}

/// What this process has taken of the processors, in nanoseconds.
fn cpu() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from);
    u64::try_from(time.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}
