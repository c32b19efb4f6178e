//! Holding a lock: the command runs, or we wait, and the grant is watched.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{self, ExitStatus};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use quorate::{Cluster, Guard, Name};
use quorate_terminal::answer::{Answer, Failure, Verdict, say_lines};
use tokio::process::{Child, Command};
use tokio::signal::unix::{self, SignalKind};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use super::child::CHILD;
use super::claim::Share;
use super::terminal::Lent;
use crate::run::signals::{self, Signals};

/// For how long our site may take to hear that we have left.
const FAREWELL: Duration = Duration::from_secs(2);

/// A lock that is held, and what it takes to act on its end.
pub(super) struct Hold<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) name: &'a Name,
    pub(crate) guard: Guard,
    pub(super) share: Share,
    /// The exit status if it is lost.
    pub(crate) lost: u8,
    pub(crate) signals: Signals,
}

impl Hold<'_> {
    /// Runs the command, or waits if there is none, and gives the lock back.
    pub(crate) async fn run(mut self, command: &[OsString]) -> Answer {
        let answer = match self.settle().await {
            Err(why) => Ok(self.say_lost(&why)),
            Ok(()) if command.is_empty() => self.wait().await,
            Ok(()) => self.supervise(command).await,
        };
        // What became of the grant was said before.
        drop(timeout(FAREWELL, self.guard.release()).await);
        answer
    }

    /// The time in which whoever is inside is asked to stop.
    fn grace(&self) -> Duration {
        self.cluster.lease() / 6
    }

    /// A grant that was long under way is first extended; why it was not.
    async fn settle(&self) -> Result<(), String> {
        while self.guard.valid_for() <= self.grace() {
            tokio::select! {
                why = self.guard.lost() => return Err(why.to_string()),
                () = sleep(self.cluster.lease() / 60) => {}
            }
        }
        self.guard.set_margin(self.grace());
        Ok(())
    }

    /// Holds the lock until the input ends, or a signal comes.
    async fn wait(&mut self) -> Answer {
        let (name, fence) = (self.name, self.guard.fence());
        let share = self.share.sentence();
        say_lines(&[format!("{name}{share} is held with fence {fence} until the input ends")])?;
        let (ended, input) = oneshot::channel();
        // A thread of its own: nothing else can wait for the input without keeping us from ending.
        std::thread::spawn(move || {
            io::copy(&mut io::stdin(), &mut io::sink()).ok();
            ended.send(()).ok();
        });
        tokio::select! {
            why = self.guard.lost() => Ok(self.say_lost(&why.to_string())),
            _ = input => Ok(Verdict::Clean),
            _ = self.signals.next() => Ok(Verdict::Clean),
        }
    }

    /// Runs the command until it ends or has to.
    async fn supervise(&mut self, command: &[OsString]) -> Answer {
        let mut child = self.spawn(command)?;
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let group = Pid::from_raw(id.expect("it was just started"));
        let lent = Lent::to(group);
        let mut children = unix::signal(SignalKind::child()).map_err(Failure::service)?;
        loop {
            tokio::select! {
                biased;
                status = child.wait() => return Ok(verdict(status.map_err(Failure::service)?)),
                why = self.guard.lost() => {
                    let verdict = self.say_lost(&why.to_string());
                    self.stop(&mut child, group).await;
                    drop(lent);
                    return Ok(verdict);
                }
                signal = self.signals.next() => drop(killpg(group, signal)),
                _ = children.recv() => lent.iter().for_each(Lent::go_on),
            }
        }
    }

    fn spawn(&self, command: &[OsString]) -> Result<Child, Failure> {
        let until = SystemTime::now() + self.guard.valid_for();
        let until = until.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let mut child = Command::new("/proc/self/exe");
        child.arg(CHILD).arg(process::id().to_string()).arg("--").args(command);
        child.env("QUORATE_NAME", self.name.as_str());
        child.env("QUORATE_FENCE", self.guard.fence().to_string());
        child.env("QUORATE_VALID_UNTIL", until.to_string());
        child.env("QUORATE_UNITS", &self.share.units);
        child.env("QUORATE_GROUP", &self.share.group);
        child.env("QUORATE_ROLE", &self.share.role);
        child.process_group(0).kill_on_drop(true);
        child.spawn().map_err(|error| Failure::Service(format!("cannot start a process: {error}")))
    }

    /// Asks the command to stop, and stops it before the lock can be another's.
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
        // It has ended; those it has started have until then too.
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

    fn say_lost(&self, why: &str) -> Verdict {
        eprintln!("quorate: {} is lost: {why}", self.name);
        Verdict::Exit(self.lost)
    }
}

/// As a shell has it.
fn verdict(status: ExitStatus) -> Verdict {
    let code = status.code().map(|code| u8::try_from(code).unwrap_or(u8::MAX));
    let by_signal = || signals::exit_code(status.signal().unwrap_or_default());
    Verdict::Exit(code.unwrap_or_else(by_signal))
}
