//! `quorate show`: who holds a lock, and who waits.

use clap::Args;
use quorate::{CallView, Name, SiteId};

use super::seen::{Seen, part, part_head, silent_line};
use super::{Connect, block_on};
use quorate_terminal::answer::{Answer, Verdict, say_lines};
use quorate_terminal::figures::span;
use quorate_terminal::paint::Paint;
use quorate_terminal::table::{aligned, row};

/// Shows who holds a lock, and who waits for it
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate show deploy")]
pub(crate) struct Show {
    /// The lock
    name: Name,
    /// Answers as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

impl Show {
    /// Asks, and shows it.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            let seen = Seen::of(&self.connect.cluster().await?, &self.name).await;
            let lines = if self.json { vec![seen.json().to_string()] } else { lines(&seen) };
            say_lines(&lines)?;
            Ok(Verdict::Clean)
        })
    }
}

fn lines(seen: &Seen) -> Vec<String> {
    let paint = Paint::for_stdout();
    let mut lines = vec![paint.strong(&seen.sentence())];
    let (holders, waiting): (Vec<_>, _) = (seen.holders().collect(), seen.waiting());
    if !(holders.is_empty() && waiting.is_empty()) {
        let head = ["", "OWNER", "HOST", "PID", "PURPOSE", "SITE", "FOR", "FENCE", "VALID FOR"];
        let mut rows = vec![row(head)];
        rows[0].extend(seen.kind().and_then(part_head).map(str::to_owned));
        rows.extend(holders.iter().map(|&(site, call)| call_row("inside", site, call)));
        let numbered = waiting.iter().zip(1..);
        rows.extend(
            numbered
                .map(|(&(site, call), place): (_, usize)| call_row(&place.to_string(), site, call)),
        );
        let mut table = aligned(&rows).into_iter();
        lines.extend(table.next().map(|head| paint.faint(&head)));
        lines.extend(table);
    }
    lines.extend(seen.token().map(|(site, stamp)| {
        format!("site {site} has the token: epoch {}, session {}", stamp.epoch, stamp.session)
    }));
    lines.extend(silent_line(&seen.silent).map(|line| paint.bad(&line)));
    lines
}

fn call_row(place: &str, site: SiteId, call: &CallView) -> Vec<String> {
    let card = &call.card;
    let text = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    vec![
        place.to_owned(),
        text(&card.owner),
        text(&card.host),
        card.pid.to_string(),
        text(&card.purpose),
        site.to_string(),
        span(call.age),
        call.fence.map_or_else(|| "-".into(), |fence| fence.to_string()),
        call.left.map_or_else(|| "-".into(), span),
        part(call),
    ]
}
