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
}

impl Signals {
    /// Installs the handlers: from now on these signals do not end the process by themselves.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
            hangup: unix::signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::SIGINT,
            _ = self.terminate.recv() => Signal::SIGTERM,
            _ = self.hangup.recv() => Signal::SIGHUP,
        }
    }
}

/// The exit status by which a shell reports an end by `signal`.
pub(crate) fn exit_code(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}
