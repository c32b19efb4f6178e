//! `quorate quorum`: quorum systems, what they are worth, and which to take.

mod check;
mod compare;
mod draw;
mod facts;
mod figures;
mod input;
mod page;
mod pool;
mod show;
mod suggest;

use clap::{Args, Subcommand};
use quorate_quorum::{ArbiterKind, Kind};
use serde_json::json;

use crate::answer::{Answer, Verdict, say, say_lines};
use crate::table::aligned;

/// Shows, compares and checks quorum systems.
#[derive(Debug, Subcommand)]
pub(crate) enum Quorum {
    List(List),
    Show(show::Show),
    Compare(compare::Compare),
    Check(check::Check),
    Suggest(suggest::Suggest),
}

/// Lists the kinds of quorum system
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate quorum list")]
pub(crate) struct List {
    /// Answers in JSON
    #[arg(long)]
    json: bool,
}

impl Quorum {
    /// Shows what was asked for.
    pub(crate) fn run(&self) -> Answer {
        match self {
            Quorum::List(list) => list.run(),
            Quorum::Show(show) => show.run(),
            Quorum::Compare(compare) => compare.run(),
            Quorum::Check(check) => check.run(),
            Quorum::Suggest(suggest) => suggest.run(),
        }
    }
}

impl List {
    fn run(&self) -> Answer {
        let kinds = Kind::all().iter().map(|kind| (kind.name(), kind.description()));
        let pools = ArbiterKind::all().iter().map(|kind| (kind.name(), kind.description()));
        if self.json {
            let entry = |(name, description)| json!({"name": name, "description": description});
            let kinds: Vec<_> = kinds.map(entry).collect();
            let pools: Vec<_> = pools.map(entry).collect();
            say(&format!("{}\n", json!({"kinds": kinds, "pools": pools})))?;
            return Ok(Verdict::Clean);
        }
        let row = |(name, description): (&str, &str)| vec![format!("  {name}"), description.into()];
        let mut lines = vec!["For a lock, `quorate quorum show KIND N`:".to_owned()];
        lines.extend(aligned(&kinds.map(row).collect::<Vec<_>>()));
        lines.extend([
            String::new(),
            "For a pool of K units, `quorate quorum show KIND N --k K`:".into(),
        ]);
        lines.extend(aligned(&pools.map(row).collect::<Vec<_>>()));
        say_lines(&lines)?;
        Ok(Verdict::Clean)
    }
}
