//! The terminal, lent to the command.
//!
//! Only one process group may read from a terminal. The command has a group of its own, so the
//! terminal is handed to it, as a shell does, and taken back at the end.

use std::io::{self, IsTerminal};

use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

/// The terminal while the command has it; taken back when dropped.
#[derive(Debug)]
pub(crate) struct Lent {
    group: Pid,
}

impl Lent {
    /// Lends it to `group`, if our standard input is a terminal that is ours to read.
    pub(crate) fn to(group: Pid) -> Option<Self> {
        let input = io::stdin();
        if !input.is_terminal() || tcgetpgrp(&input) != Ok(getpgrp()) {
            return None;
        }
        tcsetpgrp(&input, group).ok()?;
        // It may have tried to read already, and was stopped for it.
        killpg(group, Signal::SIGCONT).ok();
        Some(Self { group })
    }

    /// Lets the command go on if Ctrl-Z has stopped it. We and our shell would not notice, and
    /// nobody could reach it any more; and a lock that is held is no place to fall asleep.
    pub(crate) fn go_on(&self) {
        let stopped = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG;
        if let Ok(WaitStatus::Stopped(..)) = waitid(Id::Pid(self.group), stopped) {
            eprintln!("quorate: a command that holds a lock is not stopped by Ctrl-Z");
            killpg(self.group, Signal::SIGCONT).ok();
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Whoever takes the terminal from the background is stopped, unless it blocks this.
        let mut set = SigSet::empty();
        set.add(Signal::SIGTTOU);
        if let Ok(before) = set.thread_swap_mask(SigmaskHow::SIG_BLOCK) {
            tcsetpgrp(io::stdin(), getpgrp()).ok();
            before.thread_set_mask().ok();
        }
    }
}
