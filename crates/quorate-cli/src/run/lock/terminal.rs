//! Gives the terminal to the command.
//!
//! Only the foreground process group may read from a terminal. The command has its own group, so
//! that group is made the foreground one, as a shell does, and ours again at the end.

use std::io::{self, IsTerminal};

use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

/// The command's process group is in the foreground; ours is again when this is dropped.
#[derive(Debug)]
pub(crate) struct Foreground {
    group: Pid,
}

impl Foreground {
    /// Brings `group` to the foreground, if standard input is a terminal and we are there now.
    pub(crate) fn give_to(group: Pid) -> Option<Self> {
        let input = io::stdin();
        if !input.is_terminal() || tcgetpgrp(&input) != Ok(getpgrp()) {
            return None;
        }
        tcsetpgrp(&input, group).ok()?;
        // It may have tried to read before, and was stopped for that.
        killpg(group, Signal::SIGCONT).ok();
        Some(Self { group })
    }

    /// Continues the command if Ctrl-Z has stopped it. Neither we nor our shell would notice, so
    /// nobody could continue it; and a stopped command would keep the lock.
    pub(crate) fn resume_if_stopped(&self) {
        let stopped = WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG;
        if let Ok(WaitStatus::Stopped(..)) = waitid(Id::Pid(self.group), stopped) {
            eprintln!("quorate: a command that holds a lock is not stopped by Ctrl-Z");
            killpg(self.group, Signal::SIGCONT).ok();
        }
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        // A background process that calls `tcsetpgrp` is stopped unless it blocks SIGTTOU.
        let mut set = SigSet::empty();
        set.add(Signal::SIGTTOU);
        if let Ok(before) = set.thread_swap_mask(SigmaskHow::SIG_BLOCK) {
            tcsetpgrp(io::stdin(), getpgrp()).ok();
            before.thread_set_mask().ok();
        }
    }
}
