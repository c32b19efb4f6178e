//! The workloads.

use std::time::Duration;

use quorate_net::clock;
use quorate_terminal::answer::Failure;

use super::fleet::{Fleet, Via};
use super::order::{Claimed, Load, Order, Pauses, Report, Seen, Turn};
use super::row::{Row, hand_overs, jain, quantiles};

/// How long everything takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// For how long a workload is measured.
    pub(super) window: Duration,
    /// For how long the raw figure is taken, before a workload and after it.
    pub(super) raw: Duration,
    /// How often a holder is killed.
    pub(super) kills: usize,
    /// The length of a lease.
    pub(super) lease: Duration,
}

/// How long callers run before they are measured.
const WARM_UP: Duration = Duration::from_millis(100);

/// Who lets callers into a group lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Quorums,
    Token,
}

/// What is asked of the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Workload {
    /// Bytes to another process and back.
    RoundTrip,
    /// Bytes to as many others as the protocol asks, and back from all of them.
    FanOut,
    /// One caller, one lock.
    Uncontended,
    /// Many callers, one lock, nothing done inside.
    HandOver(usize),
    /// The lock is kept for 10 ms, and so many wait for it.
    Kept(usize),
    /// Many callers, each with a lock of its own.
    Names(usize),
    /// Callers that take one of eight units each, and nothing is done with it.
    Pool(usize),
    /// Callers that are of one group, or in turn of two, and do nothing inside.
    Group(By, usize, usize),
    /// One caller at each site, of two groups in turn, that pauses before it asks again.
    Light(By),
    /// The same without a pause.
    Heavy(By),
    /// A holder is killed, and another one waits.
    Kill,
    /// Nothing.
    Idle,
}

impl Workload {
    pub(super) fn name(self) -> &'static str {
        match self {
            Workload::RoundTrip => "raw round trip",
            Workload::FanOut => "raw fan-out",
            Workload::Uncontended => "uncontended",
            Workload::HandOver(_) => "hand-over",
            Workload::Kept(_) => "hand-over, kept 10 ms",
            Workload::Names(_) => "independent names",
            Workload::Pool(_) => "pool, 1 of 8 units",
            Workload::Group(By::Quorums, _, 1) => "group lock, 1 group",
            Workload::Group(By::Quorums, ..) => "group lock, 2 groups",
            Workload::Light(By::Quorums) => "group lock, light load",
            Workload::Heavy(By::Quorums) => "group lock, heavy load",
            Workload::Group(By::Token, _, 1) => "group lock by token, 1 group",
            Workload::Group(By::Token, ..) => "group lock by token, 2 groups",
            Workload::Light(By::Token) => "group lock by token, light load",
            Workload::Heavy(By::Token) => "group lock by token, heavy load",
            Workload::Kill => "kill -9 of a holder",
            Workload::Idle => "idle",
        }
    }

    fn callers(self, sites: usize) -> usize {
        match self {
            Workload::RoundTrip | Workload::FanOut | Workload::Idle => 0,
            Workload::Uncontended => 1,
            Workload::Kill => 2,
            Workload::Kept(waiting) => waiting + 1,
            Workload::HandOver(callers)
            | Workload::Names(callers)
            | Workload::Pool(callers)
            | Workload::Group(_, callers, _) => callers,
            Workload::Light(_) | Workload::Heavy(_) => sites,
        }
    }

    /// What one of the callers claims.
    fn claim(self, caller: usize, sites: usize) -> Claimed {
        match self {
            Workload::Names(_) => Claimed::Mutex(format!("name {caller}")),
            Workload::Pool(_) => Claimed::Units("pool".to_owned(), 1, 8),
            Workload::Group(by, _, groups) => by.claim(caller / sites % groups),
            Workload::Light(by) | Workload::Heavy(by) => by.claim(caller % 2),
            _ => Claimed::Mutex("bench".to_owned()),
        }
    }

    /// How the caller of a site pauses: for 20 ms in the mean, and long compared with a claim.
    fn pauses(self, site: usize) -> Option<Pauses> {
        let turn = 1000 * site as u64;
        matches!(self, Workload::Light(_)).then_some(Pauses { most_us: 40_000, turn })
    }

    /// How many others the raw figure asks that it is compared with.
    fn others(self, sites: usize) -> usize {
        match self {
            Workload::FanOut
            | Workload::Uncontended
            | Workload::Names(_)
            | Workload::Group(..)
            | Workload::Light(_)
            | Workload::Heavy(_) => sites / 2,
            // So few sites must all agree to one of eight units.
            Workload::Pool(_) => sites - 1,
            _ => 1,
        }
    }
}

impl By {
    fn claim(self, group: usize) -> Claimed {
        let group = format!("group {group}");
        match self {
            By::Quorums => Claimed::Group("groups".to_owned(), group),
            By::Token => Claimed::Token("token".to_owned(), group),
        }
    }
}

/// Runs a workload on a cluster.
pub(super) fn measure(
    fleet: &mut Fleet,
    via: Via,
    workload: Workload,
    pace: Pace,
) -> Result<Row, Failure> {
    let sites = fleet.sites.len();
    let (name, callers) = (workload.name(), workload.callers(sites));
    let mut row = Row { workload: name, sites, callers, via: via.name(), ..Row::default() };
    if workload == Workload::Kill {
        kill(fleet, via, pace, &mut row)?;
        return Ok(row);
    }
    let others = workload.others(sites);
    let mut raw = rounds(fleet, others, pace)?;
    match workload {
        Workload::RoundTrip | Workload::FanOut => {
            row.via = "raw";
            row.set_times(&raw);
            row.compare(row.p50_us);
        }
        _ => {
            let seen = run(fleet, workload, pace)?;
            raw.extend(rounds(fleet, others, pace)?);
            fill(&mut row, workload, pace, seen);
            row.compare(quantiles(&raw).map(|raw| raw.0));
        }
    }
    Ok(row)
}

/// The first site's process sends to the next ones and waits.
fn rounds(fleet: &mut Fleet, others: usize, pace: Pace) -> Result<Vec<u64>, Failure> {
    let echoes = fleet.sites[1..=others].iter().map(|worker| worker.echo().to_owned()).collect();
    let until = (clock::now() + pace.raw).0;
    match fleet.sites[0].ask(&Order::Raw { echoes, until })? {
        Report::Raw(times) => Ok(times),
        other => Err(Failure::Service(format!("a process of the bench answers {other:?}"))),
    }
}

/// Lets callers run, spread over the sites; what they saw at each.
fn run(fleet: &mut Fleet, workload: Workload, pace: Pace) -> Result<Vec<Seen>, Failure> {
    let (from, keep_us) = (clock::now() + WARM_UP, matches!(workload, Workload::Kept(_)));
    let (to, keep_us) = (from + pace.window, if keep_us { 10_000 } else { 0 });
    let sites = fleet.sites.len();
    let load = |site: usize, here: bool| {
        let mine = (site..workload.callers(sites)).step_by(sites).filter(|_| here);
        let claims = mine.map(|caller| workload.claim(caller, sites)).collect();
        let pauses = workload.pauses(site);
        Order::Load(Load { claims, keep_us, pauses, from: from.0, to: to.0 })
    };
    let apart = !fleet.clients.is_empty(); // then a site's process has no callers
    for (place, worker) in fleet.sites.iter_mut().enumerate() {
        worker.tell(&load(place, !apart))?;
    }
    for (place, worker) in fleet.clients.iter_mut().enumerate() {
        worker.tell(&load(place, true))?;
    }
    let mut all = Vec::new();
    for worker in fleet.sites.iter_mut().chain(&mut fleet.clients) {
        match worker.hear()? {
            Report::Load(seen) => all.push(seen),
            other => return Err(Failure::Service(format!("the bench hears {other:?}"))),
        }
    }
    Ok(all)
}

/// Works out what the callers saw.
fn fill(row: &mut Row, workload: Workload, pace: Pace, seen: Vec<Seen>) {
    let cpu = seen.iter().map(|seen| seen.cpu).sum::<u64>() as f64 / 1000.0;
    let messages = seen.iter().map(|seen| seen.messages).sum::<u64>() as f64;
    let window = pace.window.as_secs_f64();
    let shares: Vec<usize> =
        seen.iter().map(|seen| seen.turns.len()).filter(|&turns| turns > 0).collect();
    let turns: Vec<Turn> = seen.into_iter().flat_map(|seen| seen.turns).collect();
    if workload == Workload::Idle {
        row.cpu_percent = Some(cpu / 10_000.0 / window);
        return;
    }
    let pairs = turns.len() as f64;
    row.pairs_per_s = Some(pairs / window);
    row.cpu_us_per_pair = (pairs > 0.0).then(|| cpu / pairs);
    row.messages_per_pair = (pairs > 0.0).then(|| messages / pairs);
    row.jain = (row.callers > 1).then(|| jain(&shares)).flatten();
    row.set_times(&match workload {
        Workload::HandOver(_) | Workload::Kept(_) => hand_overs(turns),
        _ => turns.iter().map(|turn| turn.granted - turn.asked).collect(),
    });
}

/// Kills the process of a holder again and again; how long the next one had to wait.
fn kill(fleet: &mut Fleet, via: Via, pace: Pace, row: &mut Row) -> Result<(), Failure> {
    let (held, mut times) = (Order::Hold("killed".into()), Vec::new());
    for _ in 0..pace.kills {
        fleet.callers()[0].ask(&held)?;
        fleet.callers()[1].tell(&held)?;
        let start = clock::now().0;
        fleet.callers()[0].kill();
        match fleet.callers()[1].hear()? {
            Report::Held(at) => times.push(at.saturating_sub(start)),
            other => return Err(Failure::Service(format!("the bench hears {other:?}"))),
        }
        fleet.callers()[1].ask(&Order::Release)?;
        match via {
            Via::Socket => fleet.clients[0] = fleet.start_client(0)?,
            Via::Embedded | Via::Thread => fleet.sites[0] = fleet.start_site(0)?,
        }
    }
    row.set_times(&times);
    row.leases = row.p50_us.map(|p50| p50 / 1e6 / pace.lease.as_secs_f64());
    Ok(())
}
