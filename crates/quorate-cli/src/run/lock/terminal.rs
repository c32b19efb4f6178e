//! The terminal, lent to the command.
//!
//! Only one process group may read from a terminal. The command has a group of its own, so the
//! terminal is handed to it, as a shell does, and taken back at the end.

use std::io::{self, IsTerminal};

use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

/// The terminal while the command has it; taken back when dropped.
#[derive(Debug)]
pub(crate) struct Lent;

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
        Some(Self)
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
