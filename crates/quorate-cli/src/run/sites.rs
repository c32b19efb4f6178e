//! `quorate sites`: how the sites are.

use std::collections::BTreeMap;

use clap::Args;
use quorate::{Answer as Said, Cluster, Question, SiteId, SiteReport};
use serde_json::{Value, json};

use super::seen::{millis, site_numbers};
use super::{ANSWERS, Connect, block_on};
use quorate_terminal::answer::{Answer, Verdict, say_lines};
use quorate_terminal::figures::span;
use quorate_terminal::paint::Paint;
use quorate_terminal::table::{aligned, row};

/// Shows how the sites are, and who hears whom
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate sites --connect 10.0.0.1:7420")]
pub(crate) struct Sites {
    /// Answers as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

impl Sites {
    /// Asks, and shows it.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            let cluster = self.connect.cluster().await?;
            let reports = reports(&cluster).await;
            if self.json {
                let sites: Vec<Value> =
                    cluster.sites().map(|site| as_json(site, reports.get(&site))).collect();
                let lease = millis(cluster.lease());
                say_lines(&[json!({ "lease_ms": lease, "sites": sites }).to_string()])?;
            } else {
                say_lines(&lines(&cluster, &reports))?;
            }
            Ok(Verdict::Clean)
        })
    }
}

async fn reports(cluster: &Cluster) -> BTreeMap<SiteId, SiteReport> {
    let gathered = cluster.ask(Question::Sites, ANSWERS).await;
    let reports = gathered.answers.into_iter().filter_map(|(site, answer)| match answer {
        Said::Site(report) => Some((site, *report)),
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
        "hears": site_numbers(&hears(report)),
    })
}

/// The sites this one has a session at, and has heard of lately.
fn hears(report: &SiteReport) -> Vec<SiteId> {
    let heard = report.peers.iter().filter(|peer| peer.open && !peer.silent);
    heard.map(|peer| peer.site).collect()
}

fn lines(cluster: &Cluster, reports: &BTreeMap<SiteId, SiteReport>) -> Vec<String> {
    let paint = Paint::for_stdout();
    let mut rows = vec![row(["SITE", "STATE", "LIFE", "LOCKS", "CALLERS", "HEARS"])];
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
    let state = if report.quarantine.is_zero() {
        "runs".to_owned()
    } else {
        format!("restarted; lends in {}", span(report.quarantine))
    };
    let heard: Vec<String> = hears(report).iter().map(ToString::to_string).collect();
    vec![
        site.to_string(),
        state,
        report.incarnation.to_string(),
        report.resources.to_string(),
        report.calls.to_string(),
        if heard.is_empty() { "nobody".into() } else { heard.join(" ") },
    ]
}
