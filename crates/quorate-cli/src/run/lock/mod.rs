//! `quorate lock`: holds a lock while a command runs.

mod child;
mod claim;
mod hold;
mod terminal;

use std::convert::Infallible;
use std::ffi::OsString;
use std::future::pending;
use std::io::{self, IsTerminal};
use std::time::Duration;

use clap::Args;
use quorate::{Cluster, Denial, Error, Name};
use tokio::time::{Instant, sleep};

pub(crate) use child::{CHILD, Child};
use claim::{ClaimArgs, Granted, Wait};
use hold::Hold;

use super::seen::{Seen, silent_line};
use super::signals::{self, Signals};
use super::{Connect, block_on, own_card};
use quorate_terminal::answer::{Answer, Failure, Verdict};

/// For how long the first connection is tried, if we may wait.
const PATIENCE: Duration = Duration::from_secs(5);

/// For how long somebody waits before being told for whom.
const NOTICE: Duration = Duration::from_secs(1);

const HELP: &str = "\
Examples:
  quorate lock deploy -- ./deploy.sh --all
  quorate lock deploy --wait 30s --purpose 'release 1.4' -- ./deploy.sh
  quorate lock nightly --no-wait -E 0 -- ./backup     skip it if another host does it
  quorate lock gpu --units 3 --of 8 --numbered -- sh -c './train --gpus $QUORATE_UNITS'
  quorate lock warehouse --group v2 --group v3 -- sh -c './serve $QUORATE_GROUP'
  quorate lock index --read -- ./search               many at a time, while nobody writes
  quorate lock table --group v1 --role exclusive --for 10m -- ./compact

The command runs without a shell, in a process group of its own. SIGINT, SIGTERM and SIGHUP are
passed on to it. If the lock is lost the command gets SIGTERM, and SIGKILL before anybody else can
have the lock. It sees QUORATE_NAME, QUORATE_FENCE and QUORATE_VALID_UNTIL (milliseconds of Unix
time, as of its start); QUORATE_UNITS is how many units of a pool it has, or with --numbered which,
as in 0,4,5, and empty otherwise; QUORATE_GROUP and QUORATE_ROLE are the group and the role it got,
if it asked for any. Without a command the lock is held until standard input ends or a signal
comes.

Exit status: that of the command, 128 + N if signal N ended it; 1 if the lock was not granted in
time (-E), 121 if it was lost (--lost-exit-code), 125 if the cluster cannot be reached or has no
quorum, 126 if the command cannot be run, 127 if there is none.";

/// Holds a lock while a command runs
#[derive(Args, Debug)]
#[command(after_help = HELP, override_usage = "quorate lock [OPTIONS] NAME [-- CMD ARGS...]")]
pub(crate) struct Lock {
    /// The lock: 1 to 256 bytes without control characters
    name: Name,
    #[command(flatten)]
    claim: ClaimArgs,
    /// Waits so long at most, as in 30s, 500ms, 10m; without it, for ever
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    wait: Option<Duration>,
    /// Does not wait for anybody
    #[arg(long, conflicts_with = "wait")]
    no_wait: bool,
    /// The exit status if the lock was not granted in time
    #[arg(short = 'E', long, value_name = "N", default_value_t = 1)]
    conflict_exit_code: u8,
    /// The exit status if the lock was lost
    #[arg(long, value_name = "N", default_value_t = 121)]
    lost_exit_code: u8,
    /// On whose behalf, for people who wait; $USER if nothing is said
    #[arg(long)]
    owner: Option<String>,
    /// What for, for people who wait
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    purpose: String,
    /// The command, and what it is given
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
    #[command(flatten)]
    connect: Connect,
}

/// How a claim ended.
enum Claimed {
    Granted(Box<Granted>),
    Refused,
    Interrupted(nix::sys::signal::Signal),
}

impl Lock {
    /// Leads an election: a mutex whose purpose is the leader's value.
    pub(crate) fn campaign(
        name: Name,
        value: String,
        wait: Option<Duration>,
        command: Vec<OsString>,
        connect: Connect,
    ) -> Self {
        Self {
            name,
            claim: ClaimArgs::default(),
            wait,
            no_wait: false,
            conflict_exit_code: 1,
            lost_exit_code: 121,
            owner: None,
            purpose: value,
            command,
            connect,
        }
    }

    /// Takes the lock, runs the command, gives the lock back.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            let started = Instant::now();
            let mut signals = Signals::new().map_err(Failure::service)?;
            let card = own_card(self.owner.as_deref(), &self.purpose);
            let patience = match self.wait {
                _ if self.no_wait => NOTICE,
                wait => wait.unwrap_or(PATIENCE).min(PATIENCE),
            };
            let cluster = tokio::select! {
                cluster = self.connect.cluster_as(card, patience) => cluster?,
                signal = signals.next() => return Ok(interrupted(signal)),
            };
            match self.claim(&cluster, started, &mut signals).await? {
                Claimed::Granted(granted) => {
                    let Granted { guard, share } = *granted;
                    let (name, lost) = (&self.name, self.lost_exit_code);
                    let hold = Hold { cluster: &cluster, name, guard, share, lost, signals };
                    hold.run(&self.command).await
                }
                Claimed::Refused => {
                    self.say_why(&cluster).await;
                    Ok(Verdict::Exit(self.conflict_exit_code))
                }
                Claimed::Interrupted(signal) => Ok(interrupted(signal)),
            }
        })
    }

    async fn claim(
        &self,
        cluster: &Cluster,
        started: Instant,
        signals: &mut Signals,
    ) -> Result<Claimed, Failure> {
        // The time it took to connect counts too.
        let wait = match self.wait.map(|wait| wait.saturating_sub(started.elapsed())) {
            _ if self.no_wait => Wait::No,
            Some(Duration::ZERO) => Wait::No,
            Some(patience) => Wait::Within(patience),
            None => Wait::ForEver,
        };
        let granted = tokio::select! {
            granted = self.claim.acquire(cluster, &self.name, wait) => granted,
            signal = signals.next() => return Ok(Claimed::Interrupted(signal)),
            never = self.notice(cluster) => match never {},
        };
        match granted {
            Ok(granted) => Ok(Claimed::Granted(Box::new(granted))),
            Err(Error::Busy(_) | Error::Denied(Denial::Busy | Denial::TimedOut)) => {
                Ok(Claimed::Refused)
            }
            Err(error @ Error::Denied(Denial::Units(_) | Denial::Groups(_) | Denial::Time(_))) => {
                Err(Failure::of(error))
            }
            Err(error) => Err(Failure::Service(format!("{}: {error}", self.name))),
        }
    }

    /// Tells somebody at a terminal for whom we wait, and never ends.
    async fn notice(&self, cluster: &Cluster) -> Infallible {
        if io::stderr().is_terminal() {
            sleep(NOTICE).await;
            let seen = Seen::of(cluster, &self.name).await;
            eprintln!("quorate: waiting: {}", seen.sentence());
        }
        pending().await
    }

    /// Says who has the lock instead.
    async fn say_why(&self, cluster: &Cluster) {
        let seen = Seen::of(cluster, &self.name).await;
        let name = &self.name;
        if seen.holders().next().is_some() || !seen.waiting().is_empty() {
            eprintln!("quorate: not granted: {}", seen.sentence());
        } else {
            eprintln!("quorate: not granted: {name} was held by somebody who has left since");
        }
        if let Some(line) = silent_line(&seen.silent) {
            eprintln!("quorate: {line}");
        }
    }
}

fn interrupted(signal: nix::sys::signal::Signal) -> Verdict {
    Verdict::Exit(signals::exit_code(signal as i32))
}
