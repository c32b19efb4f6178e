//! `quorate break`: ends a grant whose holder does not release it.

use std::time::Duration;

use clap::Args;
use quorate::{Cluster, Fence, Name};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::seen::{Seen, silent_line};
use super::{Connect, block_on};
use quorate_terminal::answer::{Answer, Failure, Verdict, say_lines};

/// How often the sites are asked what has become of it.
const PERIOD: Duration = Duration::from_millis(100);

/// Ends a grant whose holder does not release it
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate break deploy --fence 7 --reason 'build 12 hangs'\n\n\
    The holder is told, and the lock is free when it has left or its time is up: up to a lease \
    later. Exit status: 0 the grant is over, 1 it is not, or there is none with this fence.")]
pub(crate) struct Break {
    /// The lock
    name: Name,
    /// The fence of the grant, as `quorate show` tells it: no other grant is ended
    #[arg(long)]
    fence: u64,
    /// Why; the holder and the log are told
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Answers as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

impl Break {
    /// Breaks the grant, and waits for its end.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            let cluster = self.connect.cluster().await?;
            let seen = Seen::of(&cluster, &self.name).await;
            if !self.is_held(&seen) {
                let hidden =
                    silent_line(&seen.silent).map_or_else(String::new, |it| format!("; {it}"));
                let (name, fence) = (&self.name, self.fence);
                let why = format!("{name} has no grant with fence {fence}: {}", seen.sentence());
                self.say("no such grant", &(why + &hidden))?;
                return Ok(Verdict::Broken);
            }
            cluster.break_grant(self.name.clone(), Fence(self.fence), &self.reason);
            self.wait(&cluster).await
        })
    }

    async fn wait(&self, cluster: &Cluster) -> Answer {
        let (name, fence) = (&self.name, self.fence);
        let end = Instant::now() + cluster.lease().mul_f64(1.5);
        while Instant::now() < end {
            let seen = Seen::of(cluster, name).await;
            if !self.is_held(&seen) {
                let next = seen.sentence();
                self.say(
                    "over",
                    &format!("the grant of {name} with fence {fence} is over: {next}"),
                )?;
                return Ok(Verdict::Clean);
            }
            sleep(PERIOD).await;
        }
        let time = humantime::format_duration(cluster.lease().mul_f64(1.5));
        let why = format!("{name} is still held with fence {fence} after {time}; try again");
        self.say("held", &why)?;
        Ok(Verdict::Broken)
    }

    fn is_held(&self, seen: &Seen) -> bool {
        seen.holders().any(|(_, call)| call.fence == Some(Fence(self.fence)))
    }

    fn say(&self, outcome: &str, words: &str) -> Result<(), Failure> {
        if !self.json {
            return say_lines(&[words.to_owned()]);
        }
        let name = self.name.as_str();
        let line = json!({ "name": name, "fence": self.fence, "outcome": outcome, "text": words });
        say_lines(&[line.to_string()])
    }
}
