//! `quorate elect`: one leader at a time, with a value that others can read.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, Subcommand};
use quorate::{Cluster, Election, Leader, Name};
use serde_json::{Value, json};

use super::lock::Lock;
use super::signals::Signals;
use super::{Connect, block_on};
use quorate_terminal::answer::{Answer, Failure, Verdict, say_lines};

const CAMPAIGN: &str = "\
Examples:
  quorate elect campaign scheduler 10.0.0.7:9000 -- ./scheduler
  quorate elect campaign scheduler \"$(hostname)\" --wait 30s -- ./scheduler

The command runs while we lead, as with `quorate lock`: it gets SIGTERM if the lead is lost, and
SIGKILL before another can lead; QUORATE_FENCE grows with every leader. Without a command we lead
until standard input ends or a signal comes. Whoever ends, resigns.

Exit status: as that of `quorate lock`.";

/// Elect a leader, or show who leads
#[derive(Debug, Subcommand)]
pub(crate) enum Elect {
    Campaign(Campaign),
    /// Show who leads
    Leader(Ask),
    /// Show who leads, and go on with a line whenever that changes
    Observe(Ask),
}

/// Run a command while we lead
#[derive(Args, Debug)]
#[command(after_help = CAMPAIGN)]
#[command(override_usage = "quorate elect campaign [OPTIONS] NAME VALUE [-- CMD ARGS...]")]
pub(crate) struct Campaign {
    /// The election: 1 to 256 bytes without control characters
    name: Name,
    /// What others can read of the leader, such as its address: 1024 bytes at most
    #[arg(value_parser = parse_value)]
    value: String,
    /// Wait so long at most, as in 30s, 500ms, 10m; without it, for ever
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    wait: Option<Duration>,
    /// The command, and what it is given
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
    #[command(flatten)]
    connect: Connect,
}

/// Which election is asked about.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  quorate elect leader scheduler\n  \
    quorate elect observe scheduler\n\n\
    Exit status: 1 if nobody leads, 125 if too few sites answer to tell.")]
pub(crate) struct Ask {
    /// The election
    name: Name,
    /// Write each answer as a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connect: Connect,
}

impl Elect {
    pub(crate) fn run(self) -> Answer {
        match self {
            Elect::Campaign(campaign) => campaign.run(),
            Elect::Leader(ask) => ask.show(),
            Elect::Observe(ask) => ask.observe(),
        }
    }
}

impl Campaign {
    fn run(self) -> Answer {
        let Self { name, value, wait, command, connect } = self;
        Lock::campaign(name, value, wait, command, connect).run()
    }
}

impl Ask {
    fn election(&self, cluster: &Cluster) -> Result<Election, Failure> {
        cluster.election(self.name.as_str()).map_err(Failure::of)
    }

    fn show(&self) -> Answer {
        block_on(async {
            let cluster = self.connect.cluster().await?;
            let leader = self.election(&cluster)?.leader().await;
            let leader = leader.map_err(|error| Failure::Service(error.to_string()))?;
            say_lines(&[self.line(leader.as_ref())])?;
            Ok(if leader.is_some() { Verdict::Clean } else { Verdict::Exit(1) })
        })
    }

    fn observe(&self) -> Answer {
        block_on(async {
            let mut signals = Signals::new().map_err(Failure::service)?;
            let cluster = self.connect.cluster().await?;
            let mut observer = self.election(&cluster)?.observe();
            loop {
                tokio::select! {
                    _ = signals.next() => return Ok(Verdict::Clean),
                    leader = observer.next() => say_lines(&[self.line(leader.as_ref())])?,
                }
            }
        })
    }

    fn line(&self, leader: Option<&Leader>) -> String {
        match leader {
            _ if self.json => in_json(leader).to_string(),
            None => format!("nobody leads {}", self.name),
            Some(leader) => format!(
                "{} leads {}: {} on {}, pid {}, fence {}",
                leader.value(),
                self.name,
                leader.card.owner,
                leader.card.host,
                leader.card.pid,
                leader.fence
            ),
        }
    }
}

fn in_json(leader: Option<&Leader>) -> Value {
    let Some(leader) = leader else { return json!({ "leader": null }) };
    let (card, fence) = (&leader.card, leader.fence.0);
    json!({
        "leader": {
            "value": leader.value(),
            "fence": fence,
            "owner": &*card.owner,
            "host": &*card.host,
            "pid": card.pid,
            "site": leader.site.index() + 1,
        }
    })
}

fn parse_value(text: &str) -> Result<String, String> {
    match text.len() {
        0..=Election::VALUE_MAX => Ok(text.to_owned()),
        bytes => Err(format!("{bytes} bytes are too long; take {} at most", Election::VALUE_MAX)),
    }
}
