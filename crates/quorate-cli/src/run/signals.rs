//! Signals that ask us to stop.

use std::io;

use nix::sys::signal::Signal;
use tokio::signal::unix::{self, SignalKind};

/// Receives the signals that ask a process to stop.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: unix::Signal,
    terminate: unix::Signal,
    hangup: unix::Signal,
    ignores_hangup: bool,
}

impl Signals {
    /// Installs the handlers: from now on these signals do not end the process by themselves.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
            hangup: unix::signal(SignalKind::hangup())?,
            ignores_hangup: false,
        })
    }

    /// The same for a service: it goes on when its terminal is closed.
    pub(crate) fn ignoring_hangup() -> io::Result<Self> {
        Ok(Self { ignores_hangup: true, ..Self::new()? })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return Signal::SIGINT,
                _ = self.terminate.recv() => return Signal::SIGTERM,
                _ = self.hangup.recv() => if !self.ignores_hangup { return Signal::SIGHUP },
            }
        }
    }
}

/// The exit status by which a shell reports an end by `signal`.
pub(crate) fn exit_code(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}
