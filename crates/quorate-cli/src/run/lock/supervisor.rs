//! Runs a command, or waits, while a lock is held, and stops when the grant is lost.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{self, ExitStatus};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use quorate::{Cluster, Guard, Name};
use quorate_terminal::answer::{Answer, Failure, Verdict, print_lines};
use tokio::process::{Child, Command};
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::child::RUN_UNDER_LOCK;
use super::claim::Share;
use super::terminal::Foreground;
use crate::run::signals::{self, Signals};

/// How long to wait for our site to confirm the release.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);

/// A held lock, and what is needed to act when it is lost.
pub(super) struct Supervisor<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) name: &'a Name,
    pub(crate) guard: Guard,
    pub(super) share: Share,
    pub(crate) lost_exit_code: u8,
    pub(crate) signals: Signals,
}

impl Supervisor<'_> {
    /// Runs the command, or waits if there is none, and releases the lock.
    pub(crate) async fn run(mut self, command: &[OsString]) -> Answer {
        let answer = match self.wait_until_extended().await {
            Err(why) => Ok(self.print_lost(&why)),
            Ok(()) if command.is_empty() => self.wait().await,
            Ok(()) => self.supervise(command).await,
        };
        // Whether the grant was lost is reported already.
        drop(timeout(RELEASE_TIMEOUT, self.guard.release()).await);
        answer
    }

    /// The time between SIGTERM and the end of the grant.
    fn grace(&self) -> Duration {
        self.cluster.lease() / 6
    }

    /// Waits until the grant is valid for longer than the grace period: it may have arrived late.
    /// The error says why it was lost.
    async fn wait_until_extended(&self) -> Result<(), String> {
        while self.guard.valid_for() <= self.grace() {
            tokio::select! {
                why = self.guard.lost() => return Err(why.to_string()),
                () = sleep(self.cluster.lease() / 60) => {}
            }
        }
        self.guard.set_margin(self.grace());
        Ok(())
    }

    /// Holds the lock until the input ends or a signal arrives.
    async fn wait(&mut self) -> Answer {
        let (name, fence) = (self.name, self.guard.fence());
        let share = self.share.sentence();
        print_lines(&[format!("{name}{share} is held with fence {fence} until the input ends")])?;
        let (ended, input) = oneshot::channel();
        // A detached thread: the runtime's own blocking read would keep the process from exiting.
        std::thread::spawn(move || {
            io::copy(&mut io::stdin(), &mut io::sink()).ok();
            ended.send(()).ok();
        });
        tokio::select! {
            why = self.guard.lost() => Ok(self.print_lost(&why.to_string())),
            _ = input => Ok(Verdict::Clean),
            _ = self.signals.next() => Ok(Verdict::Clean),
        }
    }

    /// Runs the command until it ends, or stops it when the lock is lost.
    async fn supervise(&mut self, command: &[OsString]) -> Answer {
        let mut child = self.spawn(command)?;
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let group = Pid::from_raw(id.expect("it was just started"));
        let foreground = Foreground::give_to(group);
        let mut children = unix::signal(SignalKind::child()).map_err(Failure::service)?;
        let mut warned = false;
        loop {
            tokio::select! {
                biased;
                status = child.wait() => return Ok(verdict(status.map_err(Failure::service)?)),
                why = self.guard.lost() => {
                    let verdict = self.print_lost(&why.to_string());
                    self.stop(&mut child, group).await;
                    drop(foreground);
                    return Ok(verdict);
                }
                signal = self.signals.next() => drop(killpg(group, signal)),
                left = self.cluster.site_stops(), if !warned => {
                    warned = true;
                    self.print_stops(left);
                }
                _ = children.recv() => foreground.iter().for_each(Foreground::resume_if_stopped),
            }
        }
    }

    fn spawn(&self, command: &[OsString]) -> Result<Child, Failure> {
        let until = SystemTime::now() + self.guard.valid_for();
        let until = until.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let mut child = Command::new("/proc/self/exe");
        child.arg(RUN_UNDER_LOCK).arg(process::id().to_string()).arg("--").args(command);
        child.env("QUORATE_NAME", self.name.as_str());
        child.env("QUORATE_FENCE", self.guard.fence().to_string());
        child.env("QUORATE_VALID_UNTIL", until.to_string());
        child.env("QUORATE_UNITS", &self.share.units);
        child.env("QUORATE_GROUP", &self.share.group);
        child.env("QUORATE_ROLE", &self.share.role);
        child.process_group(0).kill_on_drop(true);
        child.spawn().map_err(|error| Failure::Service(format!("cannot start a process: {error}")))
    }

    /// Asks the command to stop, and kills it before anybody else can hold the lock.
    async fn stop(&mut self, child: &mut Child, group: Pid) {
        killpg(group, Signal::SIGTERM).ok();
        let last_moment = self.cluster.lease() / 60;
        loop {
            tokio::select! {
                biased;
                () = self.guard.nears_end(last_moment) => return self.kill(child, group).await,
                _ = child.wait() => break,
                signal = self.signals.next() => drop(killpg(group, signal)),
            }
        }
        // The command has ended; the processes it started may use the rest of the time.
        while killpg(group, None) != Err(Errno::ESRCH) {
            tokio::select! {
                () = self.guard.nears_end(last_moment) => return self.kill(child, group).await,
                () = sleep(Duration::from_millis(5)) => {}
            }
        }
    }

    async fn kill(&self, child: &mut Child, group: Pid) {
        killpg(group, Signal::SIGKILL).ok();
        child.wait().await.ok();
    }

    /// Says that the site stops, and the lock is lost then.
    fn print_stops(&self, left: Duration) {
        let (name, seconds) = (self.name, left.as_secs());
        eprintln!("quorate: {name} is lost in {seconds} s unless it is released: its site stops");
    }

    fn print_lost(&self, why: &str) -> Verdict {
        eprintln!("quorate: {} is lost: {why}", self.name);
        Verdict::Exit(self.lost_exit_code)
    }
}

/// The exit status of the command, as a shell reports it.
fn verdict(status: ExitStatus) -> Verdict {
    let code = status.code().map(|code| u8::try_from(code).unwrap_or(u8::MAX));
    let by_signal = || signals::exit_code(status.signal().unwrap_or_default());
    Verdict::Exit(code.unwrap_or_else(by_signal))
}
