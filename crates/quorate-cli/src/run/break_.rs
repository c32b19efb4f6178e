//! `quorate break`: revokes a grant whose holder does not release it.

use std::time::Duration;

use clap::Args;
use quorate::{Cluster, Fence, Name, ReasonText};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::lock_status::LockStatus;
use super::{Connect, block_on, view_verdict};
use quorate_terminal::answer::{Answer, Failure, Verdict, print_lines};

/// How often the sites are asked whether the grant is over.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Revoke a grant whose holder does not release it
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  quorate break deploy --fence 7 --reason 'build 12 hangs'\n\n\
    The holder is notified. The lock is free when the holder has left or its grant has expired, at \
    most a lease later.\n\n\
    Exit status: 0 if the grant is over; 1 if it is not, or if no grant has this fence; 125 if too \
    few sites answer to know, or if the cluster cannot be reached.")]
pub(crate) struct Break {
    /// The name of the lock
    name: Name,
    /// The fence of the grant, from `quorate show`; no other grant is revoked
    #[arg(long)]
    fence: u64,
    /// The reason, for the holder and the log
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

impl Break {
    /// Revokes the grant, and waits for its end.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            ReasonText::new("reason", &self.reason).map_err(Failure::of)?;
            let cluster = self.connect.cluster().await?;
            let status = LockStatus::with_fence(&cluster, &self.name, Fence(self.fence)).await;
            if !self.is_held(&status) {
                return self.refuse(&status);
            }
            cluster
                .break_grant(self.name.clone(), Fence(self.fence), &self.reason)
                .map_err(Failure::of)?;
            self.wait(&cluster).await
        })
    }

    /// No site that answers knows the grant.
    fn refuse(&self, status: &LockStatus) -> Answer {
        if !status.is_known() {
            return self.print_doubt(status);
        }
        let hidden = status.silent_line().map_or_else(String::new, |it| format!("; {it}"));
        let (name, fence) = (&self.name, self.fence);
        let why = format!("{name} has no grant with fence {fence}: {}", status.sentence());
        self.print_outcome("no such grant", &(why + &hidden))?;
        Ok(Verdict::Broken)
    }

    /// It is not known whether there is such a grant.
    fn print_doubt(&self, status: &LockStatus) -> Answer {
        self.print_outcome("not known", &status.sentence())?;
        Ok(view_verdict(false))
    }

    async fn wait(&self, cluster: &Cluster) -> Answer {
        let (name, fence) = (&self.name, self.fence);
        let end = Instant::now() + cluster.lease().mul_f64(1.5);
        loop {
            let status = LockStatus::with_fence(cluster, name, Fence(fence)).await;
            let is_known = status.is_known();
            if Instant::now() >= end && !is_known {
                return self.print_doubt(&status);
            } else if Instant::now() >= end {
                break;
            } else if is_known && !self.is_held(&status) {
                let next = status.sentence();
                self.print_outcome(
                    "over",
                    &format!("the grant of {name} with fence {fence} is over: {next}"),
                )?;
                return Ok(Verdict::Clean);
            }
            sleep(POLL_INTERVAL).await;
        }
        let time = humantime::format_duration(cluster.lease().mul_f64(1.5));
        let why = format!("{name} is still held with fence {fence} after {time}; try again");
        self.print_outcome("held", &why)?;
        Ok(Verdict::Broken)
    }

    fn is_held(&self, status: &LockStatus) -> bool {
        status.holders().any(|(_, call)| call.fence == Some(Fence(self.fence)))
    }

    fn print_outcome(&self, outcome: &str, text: &str) -> Result<(), Failure> {
        if !self.json {
            return print_lines(&[text.to_owned()]);
        }
        let name = self.name.as_str();
        let line = json!({ "name": name, "fence": self.fence, "outcome": outcome, "text": text });
        print_lines(&[line.to_string()])
    }
}
