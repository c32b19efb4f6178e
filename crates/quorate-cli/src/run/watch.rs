//! `quorate watch`: a line whenever the holders of a lock or its queue change.

use std::time::Duration;

use clap::Args;
use quorate::Name;
use tokio::time::{MissedTickBehavior, interval};

use super::lock_status::LockStatus;
use super::signals::Signals;
use super::{Connect, block_on};
use quorate_terminal::answer::{Answer, Failure, Verdict, print_lines};

/// How often the sites are asked.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Print a line whenever the holder of a lock or its queue changes
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate watch deploy\n\n\
    The sites are asked once a second; stop it with Ctrl-C. While too few sites answer, a line \
    says so, and it goes on.\n\n\
    Exit status: 0 if a signal ended it, 125 if the cluster cannot be reached at first.")]
pub(crate) struct Watch {
    /// The name of the lock
    name: Name,
    /// Print each line as a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

impl Watch {
    /// Watches until a signal arrives.
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
        let mut period = interval(POLL_INTERVAL);
        period.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut last = None;
        loop {
            period.tick().await;
            let status = LockStatus::of(&cluster, &self.name).await;
            let state = Some(state(&status));
            if state != last {
                last = state;
                let line = if self.json { status.json().to_string() } else { line(&status) };
                print_lines(&[line])?;
            }
        }
    }
}

/// The part of the status whose change is printed: passing time is left out.
fn state(status: &LockStatus) -> impl PartialEq + use<> {
    let fences: Vec<_> = status.holders().map(|(_, call)| call.fence).collect();
    let waiting: Vec<_> =
        status.waiting().into_iter().map(|(site, call)| (site, call.call)).collect();
    (fences, waiting, status.more(), status.doubt(), status.answering.silent().collect::<Vec<_>>())
}

fn line(status: &LockStatus) -> String {
    let fence = status.holders().last().and_then(|(_, call)| call.fence);
    let fence = fence.map_or_else(String::new, |fence| format!("; fence {fence}"));
    let silent = status.silent_line().map_or_else(String::new, |line| format!("; {line}"));
    format!("{}{fence}{silent}", status.sentence())
}
