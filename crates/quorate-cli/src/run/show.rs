//! `quorate show`: the holders of a lock and its queue.

use clap::Args;
use quorate::{CallView, Kind, Name, Printable, SiteId};

use super::lock_status::{LockStatus, part};
use super::{Connect, VIEW_EXIT, block_on, view_verdict};
use quorate_terminal::answer::{Answer, print_lines};
use quorate_terminal::figures::short_duration;
use quorate_terminal::paint::Paint;
use quorate_terminal::table::{aligned, row};

/// Show the holders of a lock and its queue
#[derive(Args, Debug)]
#[command(after_help = format!("Example:\n  quorate show deploy\n\n{VIEW_EXIT}"))]
pub(crate) struct Show {
    /// The name of the lock
    name: Name,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

impl Show {
    /// Asks the sites, and prints the status.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            let status = LockStatus::of(&self.connect.cluster().await?, &self.name).await;
            let lines = if self.json { vec![status.json().to_string()] } else { lines(&status) };
            print_lines(&lines)?;
            Ok(view_verdict(status.is_known()))
        })
    }
}

fn lines(status: &LockStatus) -> Vec<String> {
    let paint = Paint::for_stdout();
    let mut lines = vec![paint.strong(&status.sentence())];
    let (holders, waiting): (Vec<_>, _) = (status.holders().collect(), status.waiting());
    if !(holders.is_empty() && waiting.is_empty()) {
        let head = ["", "OWNER", "HOST", "PID", "PURPOSE", "SITE", "FOR", "FENCE", "VALID FOR"];
        let mut rows = vec![row(head)];
        rows[0].extend(status.kind().and_then(Kind::column).map(str::to_owned));
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
    lines.extend(status.more_line());
    lines.extend(status.token().map(|(site, stamp)| {
        format!("site {site} has the token: epoch {}, round {}", stamp.epoch, stamp.round)
    }));
    lines.extend(status.silent_line().map(|line| paint.bad(&line)));
    lines
}

fn call_row(place: &str, site: SiteId, call: &CallView) -> Vec<String> {
    let claimant = &call.claimant;
    let text = |text: &str| Printable(if text.is_empty() { "-" } else { text }).to_string();
    vec![
        place.to_owned(),
        text(&claimant.owner),
        text(&claimant.host),
        claimant.pid.to_string(),
        text(&claimant.purpose),
        site.to_string(),
        short_duration(call.age),
        call.fence.map_or_else(|| "-".into(), |fence| fence.to_string()),
        call.left.map_or_else(|| "-".into(), short_duration),
        part(call),
    ]
}
