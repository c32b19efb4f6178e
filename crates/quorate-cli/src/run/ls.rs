//! `quorate ls`: the locks in use.

use clap::Args;
use quorate::{Answering, Cluster, Details, ListPage, Name, Prefix, Printable};
use serde_json::json;

use super::lock_status::{LockStatus, details, share, silent_line, silent_numbers};
use super::{ANSWER_TIMEOUT, Connect, VIEW_EXIT, block_on, view_verdict};
use quorate_terminal::answer::{Answer, Failure, print_lines};
use quorate_terminal::figures::{counted, short_duration};
use quorate_terminal::paint::Paint;
use quorate_terminal::table::{aligned, row};

/// List the locks that are held or waited for
#[derive(Args, Debug)]
#[command(after_help = format!("Examples:\n  quorate ls deploy/\n  \
    quorate ls --limit 100 --after deploy/web\n\n{VIEW_EXIT}"))]
pub(crate) struct Ls {
    /// List only names with this prefix
    #[arg(default_value = "", hide_default_value = true)]
    prefix: String,
    /// List only names that come after this one
    #[arg(long, value_name = "NAME")]
    after: Option<Name>,
    /// List at most so many locks
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: usize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

/// The locks listed by all sites together.
#[derive(Default)]
struct LockList {
    locks: Vec<LockStatus>,
    answering: Answering,
    /// The sites that answered for the last page.
    last: Answering,
    /// At least so many locks are not listed.
    more: u32,
    /// The name after which they follow, if there are some.
    next: Option<Name>,
}

impl Ls {
    /// Asks the sites, and prints the list.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            Prefix::new("prefix", &self.prefix).map_err(Failure::of)?;
            let listed = self.ask(&self.connect.cluster().await?).await?;
            let lines = if self.json { vec![listed.json()] } else { listed.lines(&self.prefix) };
            print_lines(&lines)?;
            Ok(view_verdict(listed.is_known()))
        })
    }

    /// Asks for one page after another, until there are enough.
    async fn ask(&self, cluster: &Cluster) -> Result<LockList, Failure> {
        let timeout = ANSWER_TIMEOUT.min(cluster.lease());
        let mut list = LockList::default();
        let mut after = self.after.clone();
        loop {
            let page = cluster.list(&self.prefix, after.clone(), timeout).await;
            let (page, answering) = page.map_err(Failure::of)?;
            list.note_answering(answering);
            let next = page.next.clone();
            list.add(page, self.limit);
            let goes_on = next.as_ref().map(Name::as_str) > after.as_ref().map(Name::as_str);
            if !goes_on || list.locks.len() >= self.limit {
                return Ok(list);
            }
            after = next;
        }
    }
}

impl LockList {
    /// Adds a page, up to a limit.
    fn add(&mut self, page: ListPage, limit: usize) {
        (self.more, self.next) = (page.more, page.next);
        let answering = self.last.clone();
        let mut locks = page.locks.into_iter();
        while self.locks.len() < limit
            && let Some((name, views)) = locks.next()
        {
            let status = LockStatus { name, views, answering: answering.clone() };
            // A site may know a lock that has just been released.
            if status.is_used() || !status.is_known() {
                self.locks.push(status);
            }
        }
        if locks.len() > 0 {
            self.more = self.more.saturating_add(u32::try_from(locks.len()).unwrap_or(u32::MAX));
            self.next = self.locks.last().map(|status| status.name.clone());
        }
    }

    /// Notes which sites answered for a page: for all pages together, those that answered least.
    fn note_answering(&mut self, answering: Answering) {
        let is_first = self.answering.sites == 0;
        let rank = |one: &Answering| (one.enough, one.counted.len());
        if is_first || rank(&answering) < rank(&self.answering) {
            self.answering = answering.clone();
        }
        self.last = answering;
    }

    /// Whether all locks in use are listed, and it is known which are held.
    fn is_known(&self) -> bool {
        self.answering.enough && self.locks.iter().all(LockStatus::is_known)
    }

    fn json(&self) -> String {
        let locks: Vec<_> = self.locks.iter().map(LockStatus::json).collect();
        json!({
            "locks": locks,
            "more": self.more,
            "next": self.next.as_ref().map(Name::as_str),
            "known": self.is_known(),
            "answering": self.answering.counted.len(),
            "needed": self.answering.needed(),
            "silent": silent_numbers(&self.answering),
        })
        .to_string()
    }

    fn lines(&self, prefix: &str) -> Vec<String> {
        let paint = Paint::for_stdout();
        let mut lines = Vec::new();
        if self.locks.is_empty() && !self.answering.enough {
            lines.push(format!("not known: {}", self.answering));
        } else if self.locks.is_empty() {
            let which = if prefix.is_empty() { "no lock is" } else { "no such lock is" };
            lines.push(format!("{which} held or waited for"));
        } else {
            let mut rows = vec![row(["NAME", "KIND", "HOLDER", "FOR", "FENCE", "WAITING"])];
            rows.extend(self.locks.iter().map(lock_row));
            let mut table = aligned(&rows).into_iter();
            lines.extend(table.next().map(|head| paint.faint(&head)));
            lines.extend(table);
        }
        if !self.answering.enough && !self.locks.is_empty() {
            lines.push(paint.bad(&format!("there may be others: {}", self.answering)));
        }
        if self.more > 0 {
            let others = counted(self.more.into(), "other", "others");
            let next = self.next.as_ref().map(|next| format!(", after {next}"));
            lines.push(format!("and at least {others}{}", next.unwrap_or_default()));
        }
        lines.extend(silent_line(&self.answering).map(|line| paint.bad(&line)));
        lines
    }
}

fn lock_row(status: &LockStatus) -> Vec<String> {
    let kind = status.kind().map_or_else(String::new, ToString::to_string);
    let mut cells = vec![status.name.to_string(), kind];
    match status.holders().last() {
        Some((_, call)) if status.holder_count() > 1 => {
            let mut holders = format!("{} holders", status.holder_count());
            match details(call) {
                Details { role: Some(_), group: Some(group), .. } => {
                    holders = format!("{holders} in group {}", Printable(group));
                }
                Details { units: Some(_), .. } => {}
                _ => holders = format!("{holders} {}", share(call)),
            }
            cells.extend([holders, "-".into(), "-".into()]);
        }
        Some((_, call)) => cells.extend([
            call.claimant.to_string(),
            short_duration(call.age),
            call.fence.map_or_else(String::new, |fence| fence.to_string()),
        ]),
        None if status.is_known() => cells.extend(row(["-", "-", "-"])),
        None => cells.extend(row(["not known", "-", "-"])),
    }
    cells.push(status.waiter_count().to_string());
    cells
}
