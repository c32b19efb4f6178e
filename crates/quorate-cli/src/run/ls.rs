//! `quorate ls`: the locks in use.

use std::collections::BTreeMap;

use clap::Args;
use quorate::{Answer as Said, Cluster, Kind, Name, Question, ResourceView, SiteId};
use serde_json::json;

use super::seen::{Seen, group_of, share, silent, silent_line, site_numbers};
use super::{ANSWERS, Connect, block_on};
use quorate_terminal::answer::{Answer, Verdict, say_lines};
use quorate_terminal::figures::{counted, span};
use quorate_terminal::paint::Paint;
use quorate_terminal::table::{aligned, row};

/// How many resources each site is asked for.
const LISTED: u32 = 1000;

/// Lists the locks that are held or waited for
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate ls deploy/")]
pub(crate) struct Ls {
    /// Only names that begin like this
    #[arg(default_value = "", hide_default_value = true)]
    prefix: String,
    /// Answers as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

/// What all sites together listed.
struct Listed {
    seen: Vec<Seen>,
    silent: Vec<SiteId>,
    /// How many callers' resources were left off, at the site that left off most.
    more: u32,
}

impl Ls {
    /// Asks, and lists them.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            let listed = self.ask(&self.connect.cluster().await?).await;
            let lines = if self.json { vec![listed.json()] } else { listed.lines(&self.prefix) };
            say_lines(&lines)?;
            Ok(Verdict::Clean)
        })
    }

    async fn ask(&self, cluster: &Cluster) -> Listed {
        let gathered = cluster.ask(Question::List(self.prefix.clone(), LISTED), ANSWERS).await;
        let silent = silent(cluster, &gathered);
        let mut names: BTreeMap<String, BTreeMap<SiteId, ResourceView>> = BTreeMap::new();
        let mut more = 0;
        for (site, answer) in gathered.answers {
            let Said::Listed(views, left_off) = answer else { continue };
            more = more.max(left_off);
            for view in views {
                names.entry(view.name.to_string()).or_default().insert(site, view);
            }
        }
        let seen = |views: BTreeMap<SiteId, ResourceView>| {
            let name: Name = views.values().next()?.name.clone();
            Some(Seen { name, views, silent: Vec::new() })
        };
        Listed { seen: names.into_values().filter_map(seen).collect(), silent, more }
    }
}

impl Listed {
    fn json(&self) -> String {
        let locks: Vec<_> = self.seen.iter().map(Seen::json).collect();
        json!({ "locks": locks, "more": self.more, "silent": site_numbers(&self.silent) })
            .to_string()
    }

    fn lines(&self, prefix: &str) -> Vec<String> {
        let paint = Paint::for_stdout();
        let mut lines = Vec::new();
        if self.seen.is_empty() {
            let which = if prefix.is_empty() { "no lock is" } else { "no such lock is" };
            lines.push(format!("{which} held or waited for"));
        } else {
            let mut rows = vec![row(["NAME", "KIND", "HOLDER", "FOR", "FENCE", "WAITING"])];
            rows.extend(self.seen.iter().map(lock_row));
            let mut table = aligned(&rows).into_iter();
            lines.extend(table.next().map(|head| paint.faint(&head)));
            lines.extend(table);
        }
        if self.more > 0 {
            lines.push(format!("and at least {}", counted(self.more.into(), "other", "others")));
        }
        lines.extend(silent_line(&self.silent).map(|line| paint.bad(&line)));
        lines
    }
}

fn lock_row(seen: &Seen) -> Vec<String> {
    let kind = seen.kind().map_or_else(String::new, ToString::to_string);
    let mut cells = vec![seen.name.to_string(), kind];
    match seen.holders().last() {
        Some((_, call)) if seen.holders().count() > 1 => {
            let mut holders = format!("{} holders", seen.holders().count());
            match (seen.kind(), group_of(call)) {
                (Some(Kind::Role), Some(group)) => holders = format!("{holders} in group {group}"),
                (Some(Kind::Pool(_)), _) => {}
                _ => holders = format!("{holders} {}", share(call)),
            }
            cells.extend([holders, "-".into(), "-".into()]);
        }
        Some((_, call)) => cells.extend([
            call.card.to_string(),
            span(call.age),
            call.fence.map_or_else(String::new, |fence| fence.to_string()),
        ]),
        None => cells.extend(row(["-", "-", "-"])),
    }
    cells.push(seen.waiting().len().to_string());
    cells
}
