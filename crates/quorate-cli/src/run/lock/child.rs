//! `run-under-lock`: the hidden command that `quorate lock` starts, and that becomes the command.
//!
//! A process must itself ask to be killed when its parent dies. So `quorate lock` does not start
//! the command directly: it starts this program, which asks for that and then executes the command.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::Args;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::getppid;

use quorate_terminal::answer::{Answer, Failure, Verdict};

/// The name of the hidden subcommand.
pub(crate) const RUN_UNDER_LOCK: &str = "run-under-lock";

/// Run a command that is killed when the process that holds its lock dies
#[derive(Args, Debug)]
pub(crate) struct RunUnderLock {
    /// The process that holds the lock
    parent: i32,
    /// The command to run, and its arguments
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

impl RunUnderLock {
    /// Becomes the command.
    pub(crate) fn run(&self) -> Answer {
        prctl::set_pdeathsig(Signal::SIGKILL).map_err(Failure::service)?;
        if getppid().as_raw() != self.parent {
            return Err(Failure::Service("the holder of the lock is gone".into()));
        }
        let [program, arguments @ ..] = self.command.as_slice() else {
            return Err(Failure::Input("there is no command".into()));
        };
        let error = Command::new(program).args(arguments).exec();
        eprintln!("quorate: {} cannot be run: {error}", program.display());
        // The same codes as `env`, `nice` and `timeout`.
        Ok(Verdict::Exit(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }))
    }
}
