//! What a site remembers of each caller.

use std::sync::Arc;

use quorate_protocol::{Fence, Tick};
use quorate_session::{Card, Got, Name, Want};

/// A call that is not over.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) name: Name,
    pub(super) want: Want,
    pub(super) card: Card,
    /// Since when it has waited, or has been inside.
    pub(super) since: Tick,
    pub(super) place: Place,
    /// What it has besides its fence, if it is inside.
    pub(super) got: Option<Got>,
}

/// Where a call is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// It waits, until then at the latest.
    Waiting(Option<Tick>),
    /// It is inside, with this fence.
    Inside(Fence),
    /// It is inside and must leave by then, for this reason.
    Broken(Fence, Tick, Arc<str>),
}

impl Call {
    pub(super) fn fence(&self) -> Option<Fence> {
        match self.place {
            Place::Waiting(_) => None,
            Place::Inside(fence) | Place::Broken(fence, ..) => Some(fence),
        }
    }

    /// When the site must do something about it.
    pub(super) fn due(&self) -> Option<Tick> {
        match self.place {
            Place::Waiting(deadline) => deadline,
            Place::Inside(_) => None,
            Place::Broken(_, until, _) => Some(until),
        }
    }

    pub(super) fn broken_for(&self) -> Option<Arc<str>> {
        match &self.place {
            Place::Broken(_, _, reason) => Some(Arc::clone(reason)),
            Place::Waiting(_) | Place::Inside(_) => None,
        }
    }
}
