//! `quorate explain`: why a request waits.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;
use quorate::{Kind, Name, SiteId, Standing, Ticket, explain, site_list};
use serde_json::{Value, json};

use super::lock_status::{LockStatus, call_json, millis, more_json, silent_numbers, site_numbers};
use super::{Connect, VIEW_EXIT, block_on, view_verdict};
use quorate_terminal::answer::{Answer, print_lines};
use quorate_terminal::figures::short_duration;
use quorate_terminal::paint::Paint;

/// Explain why requests wait: behind which others, and for which sites
#[derive(Args, Debug)]
#[command(after_help = format!("Example:\n  quorate explain deploy\n\n{VIEW_EXIT}"))]
pub(crate) struct Explain {
    /// The name of the lock
    name: Name,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

impl Explain {
    /// Asks the sites, and prints an explanation.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            let status = LockStatus::of(&self.connect.cluster().await?, &self.name).await;
            let lines = if self.json { vec![as_json(&status).to_string()] } else { lines(&status) };
            print_lines(&lines)?;
            Ok(view_verdict(status.is_known()))
        })
    }
}

fn as_json(status: &LockStatus) -> Value {
    let tickets = |tickets: &BTreeSet<Ticket>| -> Vec<String> {
        tickets.iter().map(ToString::to_string).collect()
    };
    let requests = explain(&status.views).into_iter().map(|standing| {
        let site = standing.request.site;
        let callers = status.made_for(standing.request);
        let callers: Vec<Value> = callers.map(|(site, call)| call_json(site, call)).collect();
        json!({
            "request": standing.request.to_string(),
            "site": site.index() + 1,
            "inside": standing.inside,
            "place": standing.place,
            "blocked_by": tickets(&standing.blocked_by),
            "eta_ms": eta(status, &standing).map(millis),
            "lacks": site_numbers(&lacks(status, &standing)),
            "unheard": site_numbers(&unheard(status, &standing)),
            "callers": callers,
        })
    });
    json!({
        "name": status.name.as_str(),
        "requests": requests.collect::<Vec<_>>(),
        "more": more_json(status.more()),
        "known": status.is_known(),
        "doubt": status.doubt().map(|doubt| doubt.to_string()),
        "answering": status.answering.counted.len(),
        "needed": status.answering.needed(),
        "silent": silent_numbers(&status.answering),
    })
}

/// The earliest time at which a request can be granted, estimated from what others declared.
fn eta(status: &LockStatus, standing: &Standing) -> Option<Duration> {
    let eta = status.eta(Some(standing.request)).filter(|eta| eta.from_now && !standing.inside);
    eta.map(|eta| eta.time)
}

fn lines(status: &LockStatus) -> Vec<String> {
    let paint = Paint::for_stdout();
    let mut lines = vec![paint.strong(&status.sentence())];
    for standing in explain(&status.views) {
        lines.push(request_line(status, &standing));
        for (_, call) in status.made_for(standing.request) {
            let does = if call.fence.is_some() { "is inside" } else { "waits" };
            lines.push(format!("    {} {does}", call.claimant));
        }
    }
    lines.extend(status.more_line());
    lines.extend(status.silent_line().map(|line| paint.bad(&line)));
    lines
}

fn request_line(status: &LockStatus, standing: &Standing) -> String {
    let Standing { request, inside, place, blocked_by, .. } = standing;
    let mut parts = vec![match place {
        _ if *inside => "inside".to_owned(),
        0 if status.answering.enough => "first in line".to_owned(),
        0 => "waits".to_owned(),
        1 => "waits behind 1 request".to_owned(),
        _ => format!("waits behind {place} requests"),
    }];
    let blockers: Vec<String> = blocked_by.iter().map(|ticket| who(status, *ticket)).collect();
    if !blockers.is_empty() {
        parts.push(format!("blocked by {}", blockers.join(", ")));
    }
    if let Some(eta) = eta(status, standing) {
        parts.push(format!("can enter in {} at the earliest", short_duration(eta)));
    }
    parts.extend(lacks_text(&lacks(status, standing), &unheard(status, standing)));
    format!("  site {}, request {request}: {}", request.site, parts.join("; "))
}

/// The sites whose permission a request lacks. If it found no quorum to ask, then it lacks those
/// that do not answer. A pool by arbiters needs more sites for few units than a view does; in a
/// ledger pool a request that lacks no permission is blocked by those inside.
fn lacks(status: &LockStatus, standing: &Standing) -> Vec<SiteId> {
    let is_pool = matches!(status.kind(), Some(Kind::Pool(_)));
    let asks_more = is_pool && standing.blocked_by.is_empty();
    match &standing.lacks {
        none if none.is_empty() && !standing.inside && (asks_more || !status.answering.enough) => {
            status.answering.silent().collect()
        }
        lacks => lacks.iter().copied().collect(),
    }
}

/// Those of them that do not answer.
fn unheard(status: &LockStatus, standing: &Standing) -> Vec<SiteId> {
    let lacks = lacks(status, standing);
    status.answering.silent().filter(|site| lacks.contains(site)).collect()
}

fn lacks_text(lacks: &[SiteId], unheard: &[SiteId]) -> Option<String> {
    let verb = if unheard.len() == 1 { "does" } else { "do" };
    let silent = match unheard.len() {
        0 if lacks.is_empty() => return None,
        0 => String::new(),
        all if all == lacks.len() => format!(", which {verb} not answer"),
        _ => format!("; {} {verb} not answer", site_list(unheard, "and")),
    };
    Some(format!("lacks the permission of {}{silent}", site_list(lacks, "and")))
}

/// A request with its caller, if that is known.
fn who(status: &LockStatus, ticket: Ticket) -> String {
    match status.made_for(ticket).next() {
        Some((_, call)) => format!("{ticket} ({})", call.claimant),
        // Callers' claims count from 1.
        None => match status.kind().and_then(Kind::joint_request).filter(|_| ticket.claim.0 == 0) {
            Some(what) => format!("{ticket} ({what} at site {})", ticket.site),
            None => ticket.to_string(),
        },
    }
}
