//! `quorate watch`: a line whenever a lock changes hands.

use std::time::Duration;

use clap::Args;
use quorate::Name;
use tokio::time::{MissedTickBehavior, interval};

use super::seen::{Seen, silent_line};
use super::signals::Signals;
use super::{Connect, block_on};
use quorate_terminal::answer::{Answer, Failure, Verdict, say_lines};

/// How often the sites are asked.
const PERIOD: Duration = Duration::from_secs(1);

/// Prints a line whenever the holder of a lock, or its queue, has changed
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate watch deploy\n\n\
    The sites are asked once a second; Ctrl-C ends it.")]
pub(crate) struct Watch {
    /// The lock
    name: Name,
    /// Writes each line as a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

impl Watch {
    /// Watches until a signal comes.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            let mut signals = Signals::new().map_err(Failure::service)?;
            tokio::select! {
                _ = signals.next() => Ok(Verdict::Clean),
                ended = self.watch() => ended,
            }
        })
    }

    async fn watch(&self) -> Answer {
        let cluster = self.connect.cluster().await?;
        let mut period = interval(PERIOD);
        period.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last = None;
        loop {
            period.tick().await;
            let seen = Seen::of(&cluster, &self.name).await;
            let state = Some(state(&seen));
            if state != last {
                last = state;
                let line = if self.json { seen.json().to_string() } else { line(&seen) };
                say_lines(&[line])?;
            }
        }
    }
}

/// What counts as a change: not that time goes on.
fn state(seen: &Seen) -> impl PartialEq + use<> {
    let fences: Vec<_> = seen.holders().map(|(_, call)| call.fence).collect();
    let waiting: Vec<_> =
        seen.waiting().into_iter().map(|(site, call)| (site, call.call)).collect();
    (fences, waiting, seen.silent.clone())
}

fn line(seen: &Seen) -> String {
    let fence = seen.holders().last().and_then(|(_, call)| call.fence);
    let fence = fence.map_or_else(String::new, |fence| format!("; fence {fence}"));
    let silent = silent_line(&seen.silent).map_or_else(String::new, |line| format!("; {line}"));
    format!("{}{fence}{silent}", seen.sentence())
}
