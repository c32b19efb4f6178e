//! The workloads, and how each is measured.

use std::time::Duration;

use quorate_net::clock;
use quorate_terminal::answer::Failure;

use super::cluster::{BenchCluster, Via};
use super::messages::{ClaimTarget, Load, LoadResult, Pauses, Sample, WorkerCommand, WorkerReport};
use super::row::{Row, hand_overs, jain, quantiles};

/// The lengths of the measurements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// How long a workload is measured.
    pub(super) window: Duration,
    /// How long raw sockets are measured, before a workload and after it.
    pub(super) raw: Duration,
    /// How often a holder is killed.
    pub(super) kills: usize,
    /// The length of a lease.
    pub(super) lease: Duration,
}

/// How long callers run before they are measured.
const WARM_UP: Duration = Duration::from_millis(100);

/// The protocol of a group lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupProtocol {
    Quorums,
    Token,
}

/// The protocol of the pools of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PoolBy {
    Ledger,
    Arbiters,
}

impl PoolBy {
    /// Its name in the configuration of sites.
    pub(super) fn setting(self) -> &'static str {
        match self {
            PoolBy::Ledger => "ledger",
            PoolBy::Arbiters => "arbiters",
        }
    }
}

/// One workload; most carry their number of callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Workload {
    /// Bytes to another process and back.
    RoundTrip,
    /// Bytes to the other members of a quorum, and back from all of them.
    FanOut,
    /// One caller, one lock.
    Uncontended,
    /// Many callers, one lock, released at once.
    HandOver(usize),
    /// A lock that is held for 10 ms, and this many waiters.
    SlowHandOver(usize),
    /// Many callers, each with its own lock.
    Names(usize),
    /// Callers that claim one of eight units each, and release it at once.
    Pool(PoolBy, usize),
    /// Callers of a group lock that release it at once, and how many groups they spread over.
    Group(GroupProtocol, usize, usize),
    /// One caller at each site, alternating between two groups, with pauses between claims.
    Light(GroupProtocol),
    /// The same without pauses.
    Heavy(GroupProtocol),
    /// A holder is killed while another caller waits.
    Kill,
    /// No callers.
    Idle,
}

impl Workload {
    pub(super) fn name(self) -> &'static str {
        match self {
            Workload::RoundTrip => "raw round trip",
            Workload::FanOut => "raw fan-out",
            Workload::Uncontended => "uncontended",
            Workload::HandOver(_) => "hand-over",
            Workload::SlowHandOver(_) => "hand-over, kept 10 ms",
            Workload::Names(_) => "independent names",
            Workload::Pool(PoolBy::Ledger, _) => "pool, 1 of 8 units",
            Workload::Pool(PoolBy::Arbiters, _) => "pool by arbiters, 1 of 8 units",
            Workload::Group(GroupProtocol::Quorums, _, 1) => "group lock, 1 group",
            Workload::Group(GroupProtocol::Quorums, ..) => "group lock, 2 groups",
            Workload::Light(GroupProtocol::Quorums) => "group lock, light load",
            Workload::Heavy(GroupProtocol::Quorums) => "group lock, heavy load",
            Workload::Group(GroupProtocol::Token, _, 1) => "group lock by token, 1 group",
            Workload::Group(GroupProtocol::Token, ..) => "group lock by token, 2 groups",
            Workload::Light(GroupProtocol::Token) => "group lock by token, light load",
            Workload::Heavy(GroupProtocol::Token) => "group lock by token, heavy load",
            Workload::Kill => "kill -9 of a holder",
            Workload::Idle => "idle",
        }
    }

    fn callers(self, sites: usize) -> usize {
        match self {
            Workload::RoundTrip | Workload::FanOut | Workload::Idle => 0,
            Workload::Uncontended => 1,
            Workload::Kill => 2,
            Workload::SlowHandOver(waiting) => waiting + 1,
            Workload::HandOver(callers)
            | Workload::Names(callers)
            | Workload::Pool(_, callers)
            | Workload::Group(_, callers, _) => callers,
            Workload::Light(_) | Workload::Heavy(_) => sites,
        }
    }

    /// The claim of one caller.
    fn claim(self, caller: usize, sites: usize) -> ClaimTarget {
        match self {
            Workload::Names(_) => ClaimTarget::Mutex(format!("name {caller}")),
            Workload::Pool(..) => ClaimTarget::Units("pool".to_owned(), 1, 8),
            Workload::Group(by, _, groups) => by.claim(caller / sites % groups),
            Workload::Light(by) | Workload::Heavy(by) => by.claim(caller % 2),
            _ => ClaimTarget::Mutex("bench".to_owned()),
        }
    }

    /// The pauses of a site's caller: 20 ms on average, which is long compared with a claim.
    fn pauses(self, site: usize) -> Option<Pauses> {
        let step = 1000 * site as u64;
        matches!(self, Workload::Light(_)).then_some(Pauses { max_us: 40_000, step })
    }

    /// How many other sites take part in the raw measurement it is compared with.
    fn others(self, sites: usize) -> usize {
        match self {
            Workload::FanOut
            | Workload::Uncontended
            | Workload::Names(_)
            | Workload::Pool(PoolBy::Ledger, _)
            | Workload::Group(..)
            | Workload::Light(_)
            | Workload::Heavy(_) => sites / 2,
            // With so few sites, all must agree to one of eight units.
            Workload::Pool(PoolBy::Arbiters, _) => sites - 1,
            _ => 1,
        }
    }
}

impl GroupProtocol {
    fn claim(self, group: usize) -> ClaimTarget {
        let group = format!("group {group}");
        match self {
            GroupProtocol::Quorums => ClaimTarget::Group("groups".to_owned(), group),
            GroupProtocol::Token => ClaimTarget::Token("token".to_owned(), group),
        }
    }
}

/// Measures a workload on a cluster.
pub(super) fn measure(
    cluster: &mut BenchCluster,
    via: Via,
    workload: Workload,
    settings: Settings,
) -> Result<Row, Failure> {
    let sites = cluster.sites.len();
    let (name, callers) = (workload.name(), workload.callers(sites));
    let mut row = Row { workload: name, sites, callers, via: via.name(), ..Row::default() };
    if workload == Workload::Kill {
        measure_kills(cluster, via, settings, &mut row)?;
        return Ok(row);
    }
    let others = workload.others(sites);
    let mut raw = raw_round_trips(cluster, others, settings)?;
    match workload {
        Workload::RoundTrip | Workload::FanOut => {
            row.via = "raw";
            row.set_times(&raw);
            row.compare(row.p50_us);
        }
        _ => {
            let results = run_load(cluster, workload, settings)?;
            raw.extend(raw_round_trips(cluster, others, settings)?);
            fill_row(&mut row, workload, settings, results);
            row.compare(quantiles(&raw).map(|raw| raw.0));
        }
    }
    Ok(row)
}

/// Measures raw round trips from the first site's process to the next ones.
fn raw_round_trips(
    cluster: &mut BenchCluster,
    others: usize,
    settings: Settings,
) -> Result<Vec<u64>, Failure> {
    let echoes = cluster.sites[1..=others].iter().map(|worker| worker.echo().to_owned()).collect();
    let until = (clock::now() + settings.raw).0;
    match cluster.sites[0].ask(&WorkerCommand::Raw { echoes, until })? {
        WorkerReport::Raw(times) => Ok(times),
        other => Err(unexpected(&other)),
    }
}

/// Runs the callers, spread over the sites. Returns the measurements of each process.
fn run_load(
    cluster: &mut BenchCluster,
    workload: Workload,
    settings: Settings,
) -> Result<Vec<LoadResult>, Failure> {
    let from = clock::now() + WARM_UP;
    let to = from + settings.window;
    let hold_us = if matches!(workload, Workload::SlowHandOver(_)) { 10_000 } else { 0 };
    let sites = cluster.sites.len();
    let load = |site: usize, here: bool| {
        let mine = (site..workload.callers(sites)).step_by(sites).filter(|_| here);
        let claims = mine.map(|caller| workload.claim(caller, sites)).collect();
        let pauses = workload.pauses(site);
        WorkerCommand::Load(Load { claims, hold_us, pauses, from: from.0, to: to.0 })
    };
    let separate = !cluster.clients.is_empty(); // then the sites' processes have no callers
    for (place, worker) in cluster.sites.iter_mut().enumerate() {
        worker.send(&load(place, !separate))?;
    }
    for (place, worker) in cluster.clients.iter_mut().enumerate() {
        worker.send(&load(place, true))?;
    }
    let mut all = Vec::new();
    for worker in cluster.sites.iter_mut().chain(&mut cluster.clients) {
        match worker.receive()? {
            WorkerReport::Load(result) => all.push(result),
            other => return Err(unexpected(&other)),
        }
    }
    Ok(all)
}

fn unexpected(report: &WorkerReport) -> Failure {
    Failure::Service(format!("a worker process of the benchmark sent an unexpected {report:?}"))
}

/// Computes the figures of a row from the callers' measurements.
fn fill_row(row: &mut Row, workload: Workload, settings: Settings, results: Vec<LoadResult>) {
    let cpu = results.iter().map(|result| result.cpu).sum::<u64>() as f64 / 1000.0;
    let messages = results.iter().map(|result| result.messages).sum::<u64>() as f64;
    let window = settings.window.as_secs_f64();
    let shares: Vec<usize> =
        results.iter().map(|result| result.samples.len()).filter(|&samples| samples > 0).collect();
    let samples: Vec<Sample> = results.into_iter().flat_map(|result| result.samples).collect();
    if workload == Workload::Idle {
        row.cpu_percent = Some(cpu / 10_000.0 / window);
        return;
    }
    let pairs = samples.len() as f64;
    row.pairs_per_s = Some(pairs / window);
    row.cpu_us_per_pair = (pairs > 0.0).then(|| cpu / pairs);
    row.messages_per_pair = (pairs > 0.0).then(|| messages / pairs);
    row.jain = (row.callers > 1).then(|| jain(&shares)).flatten();
    row.set_times(&match workload {
        Workload::HandOver(_) | Workload::SlowHandOver(_) => hand_overs(samples),
        _ => samples.iter().map(|sample| sample.granted - sample.asked).collect(),
    });
}

/// Repeatedly kills the process of a holder, and measures how long the waiter still waits.
fn measure_kills(
    cluster: &mut BenchCluster,
    via: Via,
    settings: Settings,
    row: &mut Row,
) -> Result<(), Failure> {
    let (held, mut times) = (WorkerCommand::Hold("killed".into()), Vec::new());
    for _ in 0..settings.kills {
        cluster.callers()[0].ask(&held)?;
        cluster.callers()[1].send(&held)?;
        let start = clock::now().0;
        cluster.callers()[0].kill();
        match cluster.callers()[1].receive()? {
            WorkerReport::Held(at) => times.push(at.saturating_sub(start)),
            other => return Err(unexpected(&other)),
        }
        cluster.callers()[1].ask(&WorkerCommand::Release)?;
        match via {
            Via::Socket => cluster.clients[0] = cluster.start_client(0)?,
            Via::Embedded | Via::Thread => cluster.sites[0] = cluster.start_site(0)?,
        }
    }
    row.set_times(&times);
    row.leases = row.p50_us.map(|p50| p50 / 1e6 / settings.lease.as_secs_f64());
    Ok(())
}
