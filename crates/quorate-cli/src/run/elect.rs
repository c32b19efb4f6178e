//! `quorate elect`: one leader at a time, with a value that others can read.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, Subcommand};
use quorate::{Cluster, Doubt, Election, Error, Leader, Name, Printable, PurposeText};
use serde_json::{Value, json};

use super::lock::Lock;
use super::signals::Signals;
use super::{Connect, block_on, view_verdict};
use quorate_terminal::answer::{Answer, Failure, Verdict, print_lines};

const CAMPAIGN_HELP: &str = "\
Examples:
  quorate elect campaign scheduler 10.0.0.7:9000 -- ./scheduler
  quorate elect campaign scheduler \"$(hostname)\" --wait 30s -- ./scheduler

The command runs while this process leads, as with `quorate lock`: it gets SIGTERM if leadership is
lost, and SIGKILL before another can lead. QUORATE_FENCE grows with every leader. Without a command,
this process leads until standard input ends or a signal arrives. When it ends, it resigns.

Exit status: the same as for `quorate lock`.";

/// Elect a leader, or show the current one
#[derive(Debug, Subcommand)]
pub(crate) enum Elect {
    Campaign(Campaign),
    /// Show the current leader
    Leader(ElectionQuery),
    /// Show the current leader, then print a line on every change
    Observe(ElectionQuery),
}

/// Run a command while this process leads
#[derive(Args, Debug)]
#[command(after_help = CAMPAIGN_HELP)]
#[command(override_usage = "quorate elect campaign [OPTIONS] NAME VALUE [-- CMD ARGS...]")]
pub(crate) struct Campaign {
    /// The name of the election: 1 to 256 bytes without control characters
    name: Name,
    /// The leader's value that others can read, such as its address: at most 1024 bytes
    value: String,
    /// Wait at most this long, such as 30s, 500ms or 10m; by default, wait forever
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    wait: Option<Duration>,
    /// The command to run, and its arguments
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
    #[command(flatten)]
    connect: Connect,
}

/// A question about an election.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  quorate elect leader scheduler\n  \
    quorate elect observe scheduler\n\n\
    Exit status: 0 if somebody leads, 1 if nobody does, 125 if too few sites answer to know.")]
pub(crate) struct ElectionQuery {
    /// The name of the election
    name: Name,
    /// Print each answer as a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

impl Elect {
    pub(crate) fn run(self) -> Answer {
        match self {
            Elect::Campaign(campaign) => campaign.run(),
            Elect::Leader(query) => query.show(),
            Elect::Observe(query) => query.observe(),
        }
    }
}

impl Campaign {
    fn run(self) -> Answer {
        let Self { name, value, wait, command, connect } = self;
        PurposeText::new("value", &value).map_err(Failure::of)?;
        Lock::campaign(name, value, wait, command, connect).run()
    }
}

impl ElectionQuery {
    fn election(&self, cluster: &Cluster) -> Result<Election, Failure> {
        cluster.election(self.name.as_str()).map_err(Failure::of)
    }

    fn show(&self) -> Answer {
        block_on(async {
            let cluster = self.connect.cluster().await?;
            let leader = match self.election(&cluster)?.leader().await {
                Ok(leader) => leader,
                Err(Error::NotKnown(doubt)) => return self.print_doubt(&doubt),
                Err(error) => return Err(Failure::service(error)),
            };
            print_lines(&[self.line(leader.as_ref())])?;
            Ok(if leader.is_some() { Verdict::Clean } else { Verdict::Exit(1) })
        })
    }

    /// It is not known whether anybody leads.
    fn print_doubt(&self, doubt: &Doubt) -> Answer {
        let line = if self.json {
            json!({ "leader": null, "known": false, "doubt": doubt.to_string() }).to_string()
        } else {
            format!("{}: not known: {doubt}", self.name)
        };
        print_lines(&[line])?;
        Ok(view_verdict(false))
    }

    fn observe(&self) -> Answer {
        block_on(async {
            let mut signals = Signals::new().map_err(Failure::service)?;
            let cluster = self.connect.cluster().await?;
            let mut observer = self.election(&cluster)?.observe();
            loop {
                tokio::select! {
                    _ = signals.next() => return Ok(Verdict::Clean),
                    leader = observer.next() => print_lines(&[self.line(leader.as_ref())])?,
                }
            }
        })
    }

    fn line(&self, leader: Option<&Leader>) -> String {
        match leader {
            _ if self.json => leader_json(leader).to_string(),
            None => format!("nobody leads {}", self.name),
            Some(leader) => format!(
                "{} leads {}: {} on {}, pid {}, fence {}",
                Printable(leader.value()),
                self.name,
                Printable(&leader.claimant.owner),
                Printable(&leader.claimant.host),
                leader.claimant.pid,
                leader.fence
            ),
        }
    }
}

fn leader_json(leader: Option<&Leader>) -> Value {
    let Some(leader) = leader else { return json!({ "leader": null, "known": true }) };
    let (claimant, fence) = (&leader.claimant, leader.fence.0);
    json!({
        "leader": {
            "value": leader.value(),
            "fence": fence,
            "owner": &*claimant.owner,
            "host": &*claimant.host,
            "pid": claimant.pid,
            "site": leader.site.index() + 1,
        },
        "known": true,
    })
}
