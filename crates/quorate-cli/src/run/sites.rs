//! `quorate sites`: the health of each site.

use std::collections::BTreeMap;

use clap::Args;
use quorate::{Answer as SiteAnswer, Cluster, Question, SiteId, SiteReport};
use serde_json::{Value, json};

use super::lock_status::{millis, site_numbers};
use super::{ANSWER_TIMEOUT, Connect, block_on};
use quorate_terminal::answer::{Answer, Verdict, print_lines};
use quorate_terminal::figures::short_duration;
use quorate_terminal::paint::Paint;
use quorate_terminal::table::{aligned, row};

/// Show the health of each site, and which sites are connected
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate sites --connect 10.0.0.1:7420")]
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
            let reports = reports(&cluster).await;
            if self.json {
                let sites: Vec<Value> =
                    cluster.sites().map(|site| as_json(site, reports.get(&site))).collect();
                let lease = millis(cluster.lease());
                print_lines(&[json!({ "lease_ms": lease, "sites": sites }).to_string()])?;
            } else {
                print_lines(&lines(&cluster, &reports))?;
            }
            Ok(Verdict::Clean)
        })
    }
}

async fn reports(cluster: &Cluster) -> BTreeMap<SiteId, SiteReport> {
    let gathered = cluster.ask(Question::Sites, ANSWER_TIMEOUT).await;
    let reports = gathered.answers.into_iter().filter_map(|(site, answer)| match answer {
        SiteAnswer::Site(report) => Some((site, *report)),
        _ => None,
    });
    reports.collect()
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

fn lines(cluster: &Cluster, reports: &BTreeMap<SiteId, SiteReport>) -> Vec<String> {
    let paint = Paint::for_stdout();
    let mut rows = vec![row(["SITE", "STATE", "INCARNATION", "LOCKS", "CALLERS", "REACHES"])];
    rows.extend(cluster.sites().map(|site| site_row(site, reports.get(&site))));
    let table = aligned(&rows);
    let painted = table.iter().zip(0..).map(|(line, place): (_, usize)| match place {
        0 => paint.faint(line),
        _ if line.contains("does not answer") => paint.bad(line),
        _ => line.clone(),
    });
    painted.collect()
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
