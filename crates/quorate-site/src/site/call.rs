//! The calls of a site: what it knows of each, and when their deadlines come.

use quorate_protocol::{Fence, Tick};
use quorate_session::client::ClientId;
use quorate_session::{CallId, ClaimRequest, Claimant, Granted, LockSpec, Name, ReasonText};

use super::site_core::SiteCore;

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

impl SiteCore {
    /// Adds a call of a client, which waits to be placed.
    pub(super) fn add_call(&mut self, id: CallId, client: ClientId, request: ClaimRequest) {
        let ClaimRequest { name, spec, claimant, timeout, no_wait, since } = request;
        let deadline = timeout.map(|timeout| self.now + timeout);
        self.admission.insert(id, client, name.clone(), no_wait);
        let place = Place::Waiting(deadline);
        let waits_since = since.unwrap_or(self.shared.clock.time() + 1);
        let call = Call {
            name,
            spec,
            claimant,
            client,
            since: self.now,
            waits_since,
            moved: since.is_some(),
            place,
            granted: None,
        };
        self.due.extend(call.due().map(|when| (when, id)));
        self.calls.insert(id, Box::new(call));
    }

    pub(super) fn set_place(&mut self, id: CallId, place: Place) {
        let call = self.calls.get_mut(&id).expect("a call that is not over");
        if let Some(when) = call.due() {
            self.due.remove(&(when, id));
        }
        call.place = place;
        self.no_wait.remove(&(call.name.clone(), id));
        self.due.extend(call.due().map(|when| (when, id)));
    }

    /// Removes a call; `None` if it is over already.
    pub(super) fn remove_call(&mut self, id: CallId) -> Option<Call> {
        let call = self.calls.remove(&id)?;
        if let Some(when) = call.due() {
            self.due.remove(&(when, id));
        }
        self.degraded.remove(&id);
        self.no_wait.remove(&(call.name.clone(), id));
        self.admission.remove(id, &call.name);
        Some(*call)
    }

    /// Whether a call is placed and denied instead of queued.
    pub(super) fn is_no_wait(&self, name: &Name, id: CallId) -> bool {
        self.no_wait.contains(&(name.clone(), id))
    }
}
