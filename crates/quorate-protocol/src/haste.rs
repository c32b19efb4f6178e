//! Requests that want to know that they have to wait.

/// Whether a request wants to know that it has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Haste {
    /// It does not.
    None,
    /// It does, and nobody has said so.
    Hasty,
    /// It does, and somebody has.
    HeldUp,
}

impl Haste {
    pub(crate) fn new(hasty: bool) -> Self {
        if hasty { Haste::Hasty } else { Haste::None }
    }

    /// Whether arbiters are to say so.
    pub(crate) fn wants_to_know(self) -> bool {
        self != Haste::None
    }

    /// Somebody goes before it.
    pub(crate) fn hold_up(&mut self) {
        if *self == Haste::Hasty {
            *self = Haste::HeldUp;
        }
    }
}
