//! `quorate explain`: why somebody waits.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;
use quorate::{Kind, Name, SiteId, Standing, Ticket, explain};
use serde_json::{Value, json};

use super::seen::{Seen, call_json, millis, silent_line, site_numbers};
use super::{Connect, block_on};
use quorate_terminal::answer::{Answer, Verdict, say_lines};
use quorate_terminal::figures::span;
use quorate_terminal::paint::Paint;

/// Explains who waits for whom, and for which sites
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate explain deploy")]
pub(crate) struct Explain {
    /// The lock
    name: Name,
    /// Answers as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

impl Explain {
    /// Asks, and explains it.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            let seen = Seen::of(&self.connect.cluster().await?, &self.name).await;
            let lines = if self.json { vec![as_json(&seen).to_string()] } else { lines(&seen) };
            say_lines(&lines)?;
            Ok(Verdict::Clean)
        })
    }
}

fn as_json(seen: &Seen) -> Value {
    let tickets = |tickets: &BTreeSet<Ticket>| -> Vec<String> {
        tickets.iter().map(ToString::to_string).collect()
    };
    let requests = explain(&seen.views).into_iter().map(|standing| {
        let site = standing.request.site;
        let callers = seen.made_for(standing.request);
        let callers: Vec<Value> = callers.map(|(site, call)| call_json(site, call)).collect();
        json!({
            "request": standing.request.to_string(),
            "site": site.index() + 1,
            "inside": standing.inside,
            "place": standing.place,
            "blocked_by": tickets(&standing.blocked_by),
            "eta_ms": eta(seen, &standing).map(millis),
            "unheard": site_numbers(&standing.unheard.iter().copied().collect::<Vec<_>>()),
            "callers": callers,
        })
    });
    json!({
        "name": seen.name.as_str(),
        "requests": requests.collect::<Vec<_>>(),
        "silent": site_numbers(&seen.silent),
    })
}

/// When a request gets in at the earliest, if what others declared tells it.
fn eta(seen: &Seen, standing: &Standing) -> Option<Duration> {
    let eta = seen.eta(Some(standing.request)).filter(|eta| eta.from_now && !standing.inside);
    eta.map(|eta| eta.time)
}

fn lines(seen: &Seen) -> Vec<String> {
    let paint = Paint::for_stdout();
    let mut lines = vec![paint.strong(&seen.sentence())];
    for standing in explain(&seen.views) {
        lines.push(request_line(seen, &standing));
        for (_, call) in seen.made_for(standing.request) {
            let does = if call.fence.is_some() { "is inside" } else { "waits" };
            lines.push(format!("    {} {does}", call.card));
        }
    }
    lines.extend(silent_line(&seen.silent).map(|line| paint.bad(&line)));
    lines
}

fn request_line(seen: &Seen, standing: &Standing) -> String {
    let Standing { request, inside, place, blocked_by, unheard } = standing;
    let mut parts = vec![match place {
        _ if *inside => "inside".to_owned(),
        0 => "first in line".to_owned(),
        1 => "waits behind 1 request".to_owned(),
        _ => format!("waits behind {place} requests"),
    }];
    let blockers: Vec<String> = blocked_by.iter().map(|ticket| who(seen, *ticket)).collect();
    if !blockers.is_empty() {
        parts.push(format!("blocked by {}", blockers.join(", ")));
    }
    if let Some(eta) = eta(seen, standing) {
        parts.push(format!("can get in in {} at the earliest", span(eta)));
    }
    let unheard: Vec<String> = unheard.iter().map(SiteId::to_string).collect();
    if !unheard.is_empty() {
        parts.push(format!("waits for a word of site {}", unheard.join(", ")));
    }
    format!("  site {}, request {request}: {}", request.site, parts.join("; "))
}

/// Whom a request is made for, as far as that can be seen.
fn who(seen: &Seen, ticket: Ticket) -> String {
    match seen.made_for(ticket).next() {
        Some((_, call)) => format!("{ticket} ({})", call.card),
        // Callers' claims count from 1; a stage of a role lock asks for all its members.
        None if ticket.claim.0 == 0 && seen.kind() == Some(&Kind::Role) => {
            format!("{ticket} (a stage at site {})", ticket.site)
        }
        None => ticket.to_string(),
    }
}
