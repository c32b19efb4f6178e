//! Requests that are denied instead of queued.

/// Whether a request is denied as soon as it has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NoWait {
    /// No: it waits.
    Off,
    /// Yes, and no request is known to be ahead of it.
    On,
    /// Yes, and a request is ahead of it.
    HeldUp,
}

impl NoWait {
    pub(crate) fn new(no_wait: bool) -> Self {
        if no_wait { NoWait::On } else { NoWait::Off }
    }

    /// Whether arbiters must reply that it has to wait.
    pub(crate) fn is_on(self) -> bool {
        self != NoWait::Off
    }

    /// Records that a request is ahead of it.
    pub(crate) fn hold_up(&mut self) {
        if *self == NoWait::On {
            *self = NoWait::HeldUp;
        }
    }
}
