//! `quorate bench`: measures the locks, and raw sockets for comparison, in one run.

mod cluster;
mod measure;
mod messages;
mod raw;
mod report;
mod row;
pub(crate) mod worker;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::{Args, ValueEnum};

use self::cluster::{BenchCluster, Via};
use self::measure::{GroupProtocol, PoolBy, Settings, Workload, measure};
use self::row::Row;
use quorate_terminal::answer::{Answer, Failure, Verdict, print, print_lines};
use quorate_terminal::paint::Paint;
use quorate_terminal::progress::{Goal, with_progress};

/// Measure the locks against raw sockets, with each site in its own process
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Bench {
    /// The number of sites; a comma-separated list runs everything once for each number
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "3,5",
        value_parser = clap::value_parser!(u16).range(2..=31))]
    sites: Vec<u16>,
    /// Run only workloads whose name contains this text, and the raw ones
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Measure only callers at this place
    #[arg(long, value_name = "WHERE")]
    via: Option<Via>,
    /// Use TLS everywhere, for the raw figures too
    #[arg(long)]
    tls: bool,
    /// Run for a shorter time, with rougher figures
    #[arg(long)]
    quick: bool,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
All processes run on this machine and communicate over loopback. Each site and its clients are
pinned to one processor, which stands for a host; if there are fewer processors than sites, sites
share them. Leases last 1 s. The column VIA shows where callers are, as --via names it.

P50 and P99 are the times from claim to grant; for hand-overs, from release to next grant. A pair is
an acquire and a release. CPU is that of all processes together. MSGS are the messages of the lock's
protocol between sites, without lease renewals. Jain's index compares the sites; 1 is fair. `x RAW`
is P50 divided by that of raw sockets, measured just before and just after: for hand-overs a round
trip, otherwise a round trip to as many other sites as a quorum has.

Under light and heavy load one caller at each site claims a group lock; the sites alternate between
two groups. Under light load callers pause between claims, for 20 ms on average.

Example:
  quorate bench --quick --sites 3";

impl Bench {
    /// Runs the workloads, and prints the figures.
    pub(crate) fn run(&self) -> Answer {
        let plans = self.plans();
        let total = plans.iter().map(|plan| plan.workloads.len()).sum::<usize>();
        let (done, goal) = (AtomicU64::new(0), Goal::Of(total.try_into().unwrap_or(u64::MAX)));
        let rows = with_progress(
            goal,
            "workloads",
            || done.load(Ordering::Relaxed),
            || {
                let mut rows = Vec::new();
                for plan in &plans {
                    rows.extend(plan.run(self.settings(), &done)?);
                }
                Ok::<_, Failure>(rows)
            },
        )?;
        if self.json {
            print(&format!("{:#}\n", report::json(&rows)))?;
        } else {
            print_lines(&report::lines(&rows, Paint::for_stdout()))?;
        }
        Ok(Verdict::Clean)
    }

    fn settings(&self) -> Settings {
        let (window, raw, kills) = if self.quick { (500, 50, 2) } else { (3000, 200, 5) };
        Settings {
            window: Duration::from_millis(window),
            raw: Duration::from_millis(raw),
            kills,
            lease: Duration::from_secs(1),
        }
    }

    fn plans(&self) -> Vec<Plan> {
        let mut plans = Vec::new();
        for &sites in &self.sites {
            for &via in Via::value_variants() {
                if self.via.is_none_or(|wanted| wanted == via) {
                    let (sites, tls) = (usize::from(sites), self.tls);
                    let workloads = self.workloads(via);
                    plans.push(Plan { sites, via, tls, pool: PoolBy::Ledger, workloads });
                    let workloads = self.workloads_by_arbiters(via);
                    plans.push(Plan { sites, via, tls, pool: PoolBy::Arbiters, workloads });
                }
            }
        }
        plans.retain(|plan| !plan.workloads.is_empty());
        plans
    }

    fn workloads(&self, via: Via) -> Vec<Workload> {
        let raw = [Workload::RoundTrip, Workload::FanOut];
        let all = [
            Workload::Uncontended,
            Workload::HandOver(2),
            Workload::HandOver(8),
            Workload::HandOver(32),
            Workload::SlowHandOver(8),
            Workload::Names(16),
            Workload::Names(64),
            Workload::Pool(PoolBy::Ledger, 1),
            Workload::Pool(PoolBy::Ledger, 16),
            Workload::Group(GroupProtocol::Quorums, 1, 1),
            Workload::Group(GroupProtocol::Quorums, 16, 1),
            Workload::Group(GroupProtocol::Quorums, 16, 2),
            Workload::Light(GroupProtocol::Quorums),
            Workload::Heavy(GroupProtocol::Quorums),
            Workload::Group(GroupProtocol::Token, 1, 1),
            Workload::Group(GroupProtocol::Token, 16, 1),
            Workload::Group(GroupProtocol::Token, 16, 2),
            Workload::Light(GroupProtocol::Token),
            Workload::Heavy(GroupProtocol::Token),
            Workload::Idle,
            Workload::Kill,
        ];
        let own = if via == Via::Thread { &all[..1] } else { &all[..] };
        let raw = raw.iter().filter(|_| via == Via::Embedded);
        raw.chain(own.iter().filter(|workload| self.is_wanted(**workload))).copied().collect()
    }

    /// Those of a cluster whose pools are pools by arbiters.
    fn workloads_by_arbiters(&self, via: Via) -> Vec<Workload> {
        let all = [1, 16].map(|callers| Workload::Pool(PoolBy::Arbiters, callers));
        all.into_iter().filter(|all| via != Via::Thread && self.is_wanted(*all)).collect()
    }

    fn is_wanted(&self, workload: Workload) -> bool {
        self.only.as_deref().is_none_or(|only| workload.name().contains(only))
    }
}

/// The workloads to measure on one cluster, and the protocol of its pools.
struct Plan {
    sites: usize,
    via: Via,
    tls: bool,
    pool: PoolBy,
    workloads: Vec<Workload>,
}

impl Plan {
    fn run(&self, settings: Settings, done: &AtomicU64) -> Result<Vec<Row>, Failure> {
        let lease_ms = u64::try_from(settings.lease.as_millis()).unwrap_or(u64::MAX);
        let mut cluster = BenchCluster::start(self.sites, self.via, self.tls, lease_ms, self.pool)?;
        let mut rows = Vec::new();
        for &workload in &self.workloads {
            rows.push(measure(&mut cluster, self.via, workload, settings)?);
            done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(rows)
    }
}
