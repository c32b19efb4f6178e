//! `quorate sites`: the health of each site.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::Args;
use quorate::{Answer as SiteAnswer, Answering, Cluster, Question, SiteId, SiteReport};
use serde_json::{Value, json};

use super::lock_status::{millis, site_numbers};
use super::{Connect, ask, block_on, view_verdict};
use quorate_terminal::answer::{Answer, print_lines};
use quorate_terminal::figures::short_duration;
use quorate_terminal::paint::Paint;
use quorate_terminal::table::{aligned, row};

/// Show the health of each site, and which sites are connected
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate sites --connect 10.0.0.1:7420\n\n\
    Exit status: 0 if the sites that answer contain a quorum of every lock, without those that \
    have just restarted; 125 if they do not, or if the cluster cannot be reached.")]
pub(crate) struct Sites {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

impl Sites {
    /// Asks the sites, and prints their answers.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            let cluster = self.connect.cluster().await?;
            let health = Health::of(&cluster).await;
            let lines = if self.json { vec![health.json()] } else { health.lines() };
            print_lines(&lines)?;
            Ok(view_verdict(health.answering.enough))
        })
    }
}

/// The state of a cluster.
struct Health {
    lease: Duration,
    reports: BTreeMap<SiteId, SiteReport>,
    /// Which sites answered, and whether they contain a quorum of every lock.
    answering: Answering,
}

impl Health {
    /// Asks all sites.
    async fn of(cluster: &Cluster) -> Self {
        let gathered = ask(cluster, Question::Sites).await;
        let reports = gathered.answers.into_iter().filter_map(|(site, answer)| match answer {
            SiteAnswer::Site(report) => Some((site, *report)),
            _ => None,
        });
        let (lease, answering) = (cluster.lease(), gathered.answering);
        Self { lease, reports: reports.collect(), answering }
    }

    /// The size of the smallest quorum, if any site answered.
    fn quorum_size(&self) -> Option<usize> {
        self.reports.values().next().map(|report| report.quorum)
    }

    fn all(&self) -> impl Iterator<Item = (SiteId, Option<&SiteReport>)> {
        SiteId::all(self.answering.sites).map(|site| (site, self.reports.get(&site)))
    }

    fn json(&self) -> String {
        let sites: Vec<Value> = self.all().map(|(site, report)| as_json(site, report)).collect();
        json!({
            "lease_ms": millis(self.lease),
            "sites": sites,
            "quorum": self.answering.enough,
            "answering": self.answering.counted.len(),
            "needed": self.quorum_size(),
        })
        .to_string()
    }

    fn lines(&self) -> Vec<String> {
        let paint = Paint::for_stdout();
        let mut rows = vec![row(["SITE", "STATE", "INCARNATION", "LOCKS", "CALLERS", "REACHES"])];
        rows.extend(self.all().map(|(site, report)| site_row(site, report)));
        let table = aligned(&rows);
        let painted = table.iter().zip(0..).map(|(line, place): (_, usize)| match place {
            0 => paint.faint(line),
            _ if line.contains("does not answer") => paint.bad(line),
            _ => line.clone(),
        });
        let mut lines: Vec<String> = painted.collect();
        if !self.answering.enough {
            let answering = self.answering.sentence(self.quorum_size().unwrap_or_default());
            lines.push(paint.bad(&format!("no quorum: {answering}")));
        }
        lines
    }
}

fn as_json(site: SiteId, report: Option<&SiteReport>) -> Value {
    let Some(report) = report else {
        return json!({ "site": site.index() + 1, "answers": false });
    };
    json!({
        "site": site.index() + 1,
        "answers": true,
        "incarnation": report.incarnation,
        "quarantine_ms": millis(report.quarantine),
        "locks": report.resources,
        "callers": report.calls,
        "joined": report.joined,
        "hears": site_numbers(&reachable_peers(report)),
    })
}

/// The sites at which this one has an open session that is not silent.
fn reachable_peers(report: &SiteReport) -> Vec<SiteId> {
    let reachable = report.peers.iter().filter(|peer| peer.open && !peer.silent);
    reachable.map(|peer| peer.site).collect()
}

fn site_row(site: SiteId, report: Option<&SiteReport>) -> Vec<String> {
    let Some(report) = report else {
        return vec![site.to_string(), "does not answer".into()];
    };
    let state = if !report.joined {
        "has not joined its cluster".to_owned()
    } else if report.quarantine.is_zero() {
        "runs".to_owned()
    } else {
        format!("restarted; in quarantine for {}", short_duration(report.quarantine))
    };
    let reachable: Vec<String> = reachable_peers(report).iter().map(ToString::to_string).collect();
    vec![
        site.to_string(),
        state,
        report.incarnation.to_string(),
        report.resources.to_string(),
        report.calls.to_string(),
        if reachable.is_empty() { "none".into() } else { reachable.join(" ") },
    ]
}
