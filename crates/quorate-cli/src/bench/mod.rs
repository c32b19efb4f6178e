//! `quorate bench`: what the machine allows and what the locks take of it, in one run.

mod fleet;
mod measure;
mod order;
mod raw;
mod report;
mod row;
pub(crate) mod worker;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::Args;

use self::fleet::{Fleet, Via};
use self::measure::{By, Pace, Workload, measure};
use self::row::Row;
use quorate_terminal::answer::{Answer, Failure, Verdict, say, say_lines};
use quorate_terminal::paint::Paint;
use quorate_terminal::progress::{Goal, shown};

/// Measures the locks against raw sockets, with every site a process of its own
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct Bench {
    /// How many sites; more than one number runs all of it for each
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "3,5",
        value_parser = clap::value_parser!(u16).range(2..=31))]
    sites: Vec<u16>,
    /// Only workloads with this in their name, and the raw ones
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Only callers there: embedded, thread or socket
    #[arg(long, value_name = "WHERE", value_parser = ["embedded", "thread", "socket"])]
    via: Option<String>,
    /// TLS everywhere, in the raw figures too
    #[arg(long)]
    tls: bool,
    /// A shorter run, with rougher figures
    #[arg(long)]
    quick: bool,
    /// The figures as JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
All processes run on this machine and talk over loopback. Each site has a processor that stands for
its host, in turn if there are too few, and its clients share it. Leases last 1 s. Callers are
  embedded  tasks of the runtime in which their site runs
  thread    in the process of a site that has a thread of its own
  socket    in a process of their own, one for each site

P50 and P99 are times from asking to the grant; of a hand-over, from the release to the next grant.
A pair is an acquire and a release; CPU is that of all processes together; MSGS are what the
protocol of the lock has sites send each other, renewals of leases left out; Jain's index is over
sites, 1 is fair. `x RAW` compares P50 with raw sockets, measured just before and just after:
hand-overs with a round trip, the rest with a round trip to as many others as a quorum has.

Under light and heavy load one caller at each site claims a group lock, of two groups in turn: after
a pause of 20 ms in the mean, or at once.

Example:
  quorate bench --quick --sites 3";

impl Bench {
    /// Measures, and shows what was seen.
    pub(crate) fn run(&self) -> Answer {
        let plans = self.plans();
        let total = plans.iter().map(|plan| plan.workloads.len()).sum::<usize>();
        let (done, goal) = (AtomicU64::new(0), Goal::Of(total.try_into().unwrap_or(u64::MAX)));
        let rows = shown(
            goal,
            "workloads",
            || done.load(Ordering::Relaxed),
            || {
                let mut rows = Vec::new();
                for plan in &plans {
                    rows.extend(plan.run(self.pace(), &done)?);
                }
                Ok::<_, Failure>(rows)
            },
        )?;
        if self.json {
            say(&format!("{:#}\n", report::json(&rows)))?;
        } else {
            say_lines(&report::lines(&rows, Paint::for_stdout()))?;
        }
        Ok(Verdict::Clean)
    }

    fn pace(&self) -> Pace {
        let (window, raw, kills) = if self.quick { (500, 50, 2) } else { (3000, 200, 5) };
        Pace {
            window: Duration::from_millis(window),
            raw: Duration::from_millis(raw),
            kills,
            lease: Duration::from_secs(1),
        }
    }

    fn plans(&self) -> Vec<Plan> {
        let mut plans = Vec::new();
        for &sites in &self.sites {
            for via in [Via::Embedded, Via::Thread, Via::Socket] {
                if self.via.as_deref().is_none_or(|wanted| wanted == via.name()) {
                    let workloads = self.workloads(via);
                    let (sites, tls) = (usize::from(sites), self.tls);
                    plans.push(Plan { sites, via, tls, workloads });
                }
            }
        }
        plans
    }

    fn workloads(&self, via: Via) -> Vec<Workload> {
        let raw = [Workload::RoundTrip, Workload::FanOut];
        let all = [
            Workload::Uncontended,
            Workload::HandOver(2),
            Workload::HandOver(8),
            Workload::HandOver(32),
            Workload::Kept(8),
            Workload::Names(16),
            Workload::Names(64),
            Workload::Pool(1),
            Workload::Pool(16),
            Workload::Group(By::Quorums, 1, 1),
            Workload::Group(By::Quorums, 16, 1),
            Workload::Group(By::Quorums, 16, 2),
            Workload::Light(By::Quorums),
            Workload::Heavy(By::Quorums),
            Workload::Group(By::Token, 1, 1),
            Workload::Group(By::Token, 16, 1),
            Workload::Group(By::Token, 16, 2),
            Workload::Light(By::Token),
            Workload::Heavy(By::Token),
            Workload::Idle,
            Workload::Kill,
        ];
        let own = if via == Via::Thread { &all[..1] } else { &all[..] };
        let is_wanted = |workload: &&Workload| {
            let only = self.only.as_deref();
            only.is_none_or(|only| workload.name().contains(only))
        };
        let raw = raw.iter().filter(|_| via == Via::Embedded);
        raw.chain(own.iter().filter(is_wanted)).copied().collect()
    }
}

/// What is measured on one cluster.
struct Plan {
    sites: usize,
    via: Via,
    tls: bool,
    workloads: Vec<Workload>,
}

impl Plan {
    fn run(&self, pace: Pace, done: &AtomicU64) -> Result<Vec<Row>, Failure> {
        let lease_ms = u64::try_from(pace.lease.as_millis()).unwrap_or(u64::MAX);
        let mut fleet = Fleet::start(self.sites, self.via, self.tls, lease_ms)?;
        let mut rows = Vec::new();
        for &workload in &self.workloads {
            rows.push(measure(&mut fleet, self.via, workload, pace)?);
            done.fetch_add(1, Ordering::Relaxed);
        }
        Ok(rows)
    }
}
