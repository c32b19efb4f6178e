//! What a site knows of each call.

use quorate_protocol::{Fence, Tick};
use quorate_session::client::ClientId;
use quorate_session::{Claimant, Granted, LockSpec, Name, ReasonText};

/// A call that is not over.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) name: Name,
    pub(super) spec: LockSpec,
    pub(super) claimant: Claimant,
    pub(super) client: ClientId,
    /// When it began to wait, or entered.
    pub(super) since: Tick,
    /// The Lamport time when it began to wait, here or at a site that has stopped.
    pub(super) waits_since: u64,
    /// Whether it waited at a site that has stopped.
    pub(super) moved: bool,
    pub(super) place: Place,
    /// What it was granted besides its fence, if it is inside.
    pub(super) granted: Option<Granted>,
}

/// The state of a call.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// It waits, with this deadline.
    Waiting(Option<Tick>),
    /// It is inside, with this fence.
    Inside(Fence),
    /// It is inside, was broken for this reason, and must leave by then.
    Broken(Fence, Tick, ReasonText),
}

impl Call {
    pub(super) fn fence(&self) -> Option<Fence> {
        match self.place {
            Place::Waiting(_) => None,
            Place::Inside(fence) | Place::Broken(fence, ..) => Some(fence),
        }
    }

    /// When the site must act on it.
    pub(super) fn due(&self) -> Option<Tick> {
        match self.place {
            Place::Waiting(deadline) => deadline,
            Place::Inside(_) => None,
            Place::Broken(_, until, _) => Some(until),
        }
    }

    pub(super) fn broken_for(&self) -> Option<ReasonText> {
        match &self.place {
            Place::Broken(_, _, reason) => Some(reason.clone()),
            Place::Waiting(_) | Place::Inside(_) => None,
        }
    }
}
