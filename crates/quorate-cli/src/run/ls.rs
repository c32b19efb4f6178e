//! `quorate ls`: the locks in use.

use std::collections::BTreeMap;

use clap::Args;
use quorate::{
    Answer as SiteAnswer, Answering, Cluster, Details, Name, Printable, Question, ResourceView,
    SiteId,
};
use serde_json::json;

use super::lock_status::{LockStatus, details, share, silent_line, silent_numbers};
use super::{Connect, VIEW_EXIT, ask, block_on, view_verdict};
use quorate_terminal::answer::{Answer, print_lines};
use quorate_terminal::figures::{counted, short_duration};
use quorate_terminal::paint::Paint;
use quorate_terminal::table::{aligned, row};

/// The most locks each site lists.
const LIST_LIMIT: u32 = 1000;

/// List the locks that are held or waited for
#[derive(Args, Debug)]
#[command(after_help = format!("Example:\n  quorate ls deploy/\n\n{VIEW_EXIT}"))]
pub(crate) struct Ls {
    /// List only names with this prefix
    #[arg(default_value = "", hide_default_value = true)]
    prefix: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

/// The locks listed by all sites together.
struct LockList {
    locks: Vec<LockStatus>,
    answering: Answering,
    /// The most locks that any one site left off its list.
    more: u32,
}

impl Ls {
    /// Asks the sites, and prints the list.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            let listed = self.ask(&self.connect.cluster().await?).await;
            let lines = if self.json { vec![listed.json()] } else { listed.lines(&self.prefix) };
            print_lines(&lines)?;
            Ok(view_verdict(listed.is_known()))
        })
    }

    async fn ask(&self, cluster: &Cluster) -> LockList {
        let gathered = ask(cluster, Question::List(self.prefix.clone(), LIST_LIMIT)).await;
        let mut names: BTreeMap<String, BTreeMap<SiteId, ResourceView>> = BTreeMap::new();
        let mut more = 0;
        for (site, answer) in gathered.answers {
            let SiteAnswer::Listed(views, left_off) = answer else { continue };
            more = more.max(left_off);
            for view in views {
                names.entry(view.name.as_str().to_owned()).or_default().insert(site, view);
            }
        }
        let answering = gathered.answering;
        let status = |views: BTreeMap<SiteId, ResourceView>| {
            let name: Name = views.values().next()?.name.clone();
            let status = LockStatus { name, views, answering: answering.clone() };
            // A site may know a lock that has just been released.
            (status.is_used() || !status.is_known()).then_some(status)
        };
        LockList { locks: names.into_values().filter_map(status).collect(), answering, more }
    }
}

impl LockList {
    /// Whether all locks in use are listed, and it is known which are held.
    fn is_known(&self) -> bool {
        self.answering.enough && self.locks.iter().all(LockStatus::is_known)
    }

    fn json(&self) -> String {
        let locks: Vec<_> = self.locks.iter().map(LockStatus::json).collect();
        json!({
            "locks": locks,
            "more": self.more,
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
            lines.push(format!("and at least {}", counted(self.more.into(), "other", "others")));
        }
        lines.extend(silent_line(&self.answering).map(|line| paint.bad(&line)));
        lines
    }
}

fn lock_row(status: &LockStatus) -> Vec<String> {
    let kind = status.kind().map_or_else(String::new, ToString::to_string);
    let mut cells = vec![status.name.to_string(), kind];
    match status.holders().last() {
        Some((_, call)) if status.holders().count() > 1 => {
            let mut holders = format!("{} holders", status.holders().count());
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
    cells.push(status.waiting().len().to_string());
    cells
}
