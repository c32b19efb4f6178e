//! `quorate lock`: holds a lock while a command runs.

mod child;
mod claim;
mod supervisor;
mod terminal;

use std::cell::RefCell;
use std::convert::Infallible;
use std::ffi::OsString;
use std::future::pending;
use std::io::{self, IsTerminal};
use std::time::Duration;

use clap::Args;
use quorate::{Cluster, Denial, Error, Name};
use tokio::time::{Instant, sleep, sleep_until};

pub(crate) use child::{RUN_UNDER_LOCK, RunUnderLock};
use claim::{ClaimArgs, Granted, Wait};
use supervisor::Supervisor;

use super::lock_status::LockStatus;
use super::signals::{self, Signals};
use super::{ANSWER_TIMEOUT, Connect, block_on, own_claimant};
use quorate_terminal::answer::{Answer, Failure, Verdict};

/// How long to try the first connection if the claim may wait.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The same with `--no-wait`.
const NO_WAIT_CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// How long to wait before telling a person at a terminal who holds the lock.
const NOTICE_AFTER: Duration = Duration::from_secs(1);

const HELP: &str = "\
Examples:
  quorate lock deploy -- ./deploy.sh --all
  quorate lock deploy --wait 30s --purpose 'release 1.4' -- ./deploy.sh
  quorate lock nightly --no-wait -E 0 -- ./backup     skip it if another host is doing it
  quorate lock gpu --units 3 --of 8 --numbered -- sh -c './train --gpus $QUORATE_UNITS'
  quorate lock warehouse --group v2 --group v3 -- sh -c './serve $QUORATE_GROUP'
  quorate lock index --read -- ./search               many readers at a time, while nobody writes
  quorate lock table --group v1 --role exclusive --for 10m -- ./compact

The command runs without a shell, in its own process group. SIGINT, SIGTERM and SIGHUP are passed on
to it. If the lock is lost, the command gets SIGTERM, and then SIGKILL before anybody else can hold
the lock. Without a command, the lock is held until standard input ends or a signal arrives.

Environment of the command:
  QUORATE_NAME         the name of the lock
  QUORATE_FENCE        the fence of the grant
  QUORATE_VALID_UNTIL  when the grant expires unless it is renewed, as of the command's start, in
                       milliseconds of Unix time
  QUORATE_UNITS        how many units of a pool it holds, or with --numbered which ones (0,4,5)
  QUORATE_GROUP        the group it was admitted with
  QUORATE_ROLE         the role it was admitted with
The last three are empty if they do not apply.

Exit status: that of the command, 128 + N if signal N ended it; 1 if the lock was not granted in
time (-E), 2 if the name is in use as another kind of lock, 121 if it was lost (--lost-exit-code),
125 if the cluster cannot be reached or has no quorum, 126 if the command cannot be run, 127 if it
is not found.";

/// Hold a lock while a command runs
#[derive(Args, Debug)]
#[command(after_help = HELP, override_usage = "quorate lock [OPTIONS] NAME [-- CMD ARGS...]")]
pub(crate) struct Lock {
    /// The name of the lock: 1 to 256 bytes without control characters
    name: Name,
    /// Wait at most this long, such as 30s, 500ms or 10m, even if no site answers; by default, wait
    /// forever
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    wait: Option<Duration>,
    /// Fail at once if the lock is not free, and after a lease if no site answers
    #[arg(long, conflicts_with = "wait")]
    no_wait: bool,
    /// The exit status if the lock was not granted in time
    #[arg(short = 'E', long, value_name = "N", default_value_t = 1)]
    conflict_exit_code: u8,
    /// The exit status if the lock was lost
    #[arg(long, value_name = "N", default_value_t = 121)]
    lost_exit_code: u8,
    /// The owner shown to people who wait; $USER by default
    #[arg(long)]
    owner: Option<String>,
    /// The purpose shown to people who wait
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    purpose: String,
    /// The command to run, and its arguments
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
    #[command(flatten)]
    claim: ClaimArgs,
    #[command(flatten)]
    connect: Connect,
}

/// How a claim ended.
enum ClaimOutcome {
    Granted(Box<Granted>),
    /// And what was known of the lock just before, if any site said something.
    Refused(Option<Box<LockStatus>>),
    Interrupted(nix::sys::signal::Signal),
}

impl Lock {
    /// An election: a mutex whose purpose is the leader's value.
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

    /// Acquires the lock, runs the command, and releases the lock.
    pub(crate) fn run(&self) -> Answer {
        block_on(async {
            let started = Instant::now();
            let mut signals = Signals::new().map_err(Failure::service)?;
            let claimant =
                own_claimant(self.owner.as_deref(), &self.purpose).map_err(Failure::of)?;
            let timeout = match self.wait {
                _ if self.no_wait => NO_WAIT_CONNECT_TIMEOUT,
                wait => wait.unwrap_or(CONNECT_TIMEOUT).min(CONNECT_TIMEOUT),
            };
            let cluster = tokio::select! {
                cluster = self.connect.cluster_as(claimant, timeout) => cluster?,
                signal = signals.next() => return Ok(interrupted(signal)),
            };
            match self.claim(&cluster, started, &mut signals).await? {
                ClaimOutcome::Granted(granted) => {
                    let Granted { guard, share } = *granted;
                    let supervisor = Supervisor {
                        cluster: &cluster,
                        name: &self.name,
                        guard,
                        share,
                        lost_exit_code: self.lost_exit_code,
                        signals,
                    };
                    supervisor.run(&self.command).await
                }
                ClaimOutcome::Refused(status) => {
                    self.print_refusal(status.as_deref());
                    Ok(Verdict::Exit(self.conflict_exit_code))
                }
                ClaimOutcome::Interrupted(signal) => Ok(interrupted(signal)),
            }
        })
    }

    async fn claim(
        &self,
        cluster: &Cluster,
        started: Instant,
        signals: &mut Signals,
    ) -> Result<ClaimOutcome, Failure> {
        let no_wait = self.no_wait || self.wait == Some(Duration::ZERO);
        let wait = match self.wait {
            _ if no_wait => Wait::No,
            // Connecting used up part of the time.
            Some(wait) => Wait::Within(wait.saturating_sub(started.elapsed())),
            None => Wait::ForEver,
        };
        let end = match wait {
            Wait::No => Some(Instant::now() + cluster.lease()),
            Wait::Within(timeout) => Some(Instant::now() + timeout),
            Wait::ForEver => None,
        };
        let known = RefCell::new(None);
        let granted = tokio::select! {
            granted = self.claim.acquire(cluster, &self.name, wait) => granted,
            signal = signals.next() => return Ok(ClaimOutcome::Interrupted(signal)),
            never = self.print_notice(cluster) => match never {},
            never = self.look_before(end.filter(|_| !no_wait), cluster, &known) => match never {},
        };
        match granted {
            Ok(granted) => Ok(ClaimOutcome::Granted(Box::new(granted))),
            Err(Error::Busy(_) | Error::Denied(Denial::Busy)) => {
                let left = end.map_or(ANSWER_TIMEOUT, |end| end - Instant::now());
                let status = LockStatus::within(cluster, &self.name, left.min(ANSWER_TIMEOUT));
                Ok(ClaimOutcome::Refused(Some(Box::new(status.await))))
            }
            Err(Error::Denied(Denial::TimedOut)) => Ok(ClaimOutcome::Refused(known.take())),
            Err(error @ Error::Denied(Denial::Units(_) | Denial::Groups(_) | Denial::Time(_))) => {
                Err(Failure::of(error))
            }
            Err(Error::Denied(Denial::OtherKind { kind, by, owner })) => {
                let used = owner.map_or_else(String::new, |owner| format!(", used by {owner}"));
                let (name, asked) = (&self.name, self.claim.kind());
                Err(Failure::Input(format!(
                    "{name} is a {kind}, not a {asked}{used}, says site {by}"
                )))
            }
            Err(error) => Err(Failure::Service(format!("{}: {error}", self.name))),
        }
    }

    /// Tells a person at a terminal who holds the lock. Never returns.
    async fn print_notice(&self, cluster: &Cluster) -> Infallible {
        if io::stderr().is_terminal() {
            sleep(NOTICE_AFTER).await;
            let status = LockStatus::of(cluster, &self.name).await;
            eprintln!("quorate: waiting: {}", status.sentence());
        }
        pending().await
    }

    /// Asks who holds the lock shortly before the wait ends: then there is no time for that. Never
    /// returns.
    async fn look_before(
        &self,
        end: Option<Instant>,
        cluster: &Cluster,
        known: &RefCell<Option<Box<LockStatus>>>,
    ) -> Infallible {
        if let Some(end) = end {
            let left = end - Instant::now();
            sleep_until(end - ANSWER_TIMEOUT.min(left / 2)).await;
            let time = (end - Instant::now()).mul_f64(0.9);
            let status = LockStatus::within(cluster, &self.name, time).await;
            known.replace(Some(Box::new(status)));
        }
        pending().await
    }

    /// Prints who holds the lock instead.
    fn print_refusal(&self, status: Option<&LockStatus>) {
        let name = &self.name;
        let Some(status) = status else {
            return eprintln!("quorate: not granted: {name} was not free in time");
        };
        if status.is_used() || !status.is_known() {
            eprintln!("quorate: not granted: {}", status.sentence());
        } else {
            eprintln!("quorate: not granted: {name} was held, and has been released since");
        }
        if let Some(line) = status.silent_line() {
            eprintln!("quorate: {line}");
        }
    }
}

fn interrupted(signal: nix::sys::signal::Signal) -> Verdict {
    Verdict::Exit(signals::exit_code(signal as i32))
}
