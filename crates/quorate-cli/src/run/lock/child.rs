//! The last step before the command: our own process, about to become it.
//!
//! A child that is to die with its parent has to say so itself, after it was started. So the
//! command is not started directly: this program is, says it, and turns into the command.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::Args;
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::getppid;

use quorate_terminal::answer::{Answer, Failure, Verdict};

/// The name it goes by on the command line; nobody else uses it.
pub(crate) const CHILD: &str = "run-under-lock";

/// Runs a command that dies with the process that holds the lock for it
#[derive(Args, Debug)]
pub(crate) struct Child {
    /// The process that holds the lock
    parent: i32,
    /// The command, and what it is given
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

impl Child {
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
        // As `env`, `nice` and `timeout` have it.
        Ok(Verdict::Exit(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 }))
    }
}
