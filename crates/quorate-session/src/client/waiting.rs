//! The claims of a client that wait, and until when.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::Tick;
use crate::claim::ClaimRequest;
use crate::session::between;

/// The claims that wait. A caller's deadline counts by this process's clock, from its claim on.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitingClaims {
    all: BTreeMap<u64, WaitingClaim>,
    due: BTreeSet<(Tick, u64)>,
}

#[derive(Clone, Debug)]
struct WaitingClaim {
    request: ClaimRequest,
    deadline: Option<Tick>,
}

impl WaitingClaims {
    /// A caller waits from now on.
    pub(super) fn insert(&mut self, now: Tick, call: u64, request: ClaimRequest) {
        let deadline = request.timeout.map(|timeout| now + timeout);
        self.due.extend(deadline.map(|when| (when, call)));
        self.all.insert(call, WaitingClaim { request, deadline });
    }

    /// A caller does not wait any more; false if it did not.
    pub(super) fn remove(&mut self, call: u64) -> bool {
        let Some(claim) = self.all.remove(&call) else { return false };
        if let Some(when) = claim.deadline {
            self.due.remove(&(when, call));
        }
        true
    }

    /// A caller has waited since this Lamport time, at a site that is about to stop.
    pub(super) fn set_since(&mut self, call: u64, since: u64) {
        if let Some(claim) = self.all.get_mut(&call) {
            claim.request.since = Some(since);
        }
    }

    /// The claim of a caller as it is sent now; `None` if the caller does not wait any more.
    pub(super) fn request(&self, now: Tick, call: u64) -> Option<ClaimRequest> {
        let WaitingClaim { request, deadline } = self.all.get(&call)?;
        let timeout: Option<Duration> = deadline.map(|end| between(now, end));
        Some(ClaimRequest { timeout, ..request.clone() })
    }

    /// All callers that wait, the first one first.
    pub(super) fn calls(&self) -> impl DoubleEndedIterator<Item = u64> + '_ {
        self.all.keys().copied()
    }

    /// The first deadline of a caller.
    pub(super) fn deadline(&self) -> Option<Tick> {
        self.due.first().map(|(when, _)| *when)
    }

    /// A caller whose deadline has come.
    pub(super) fn next_due(&self, now: Tick) -> Option<u64> {
        self.due.first().filter(|(when, _)| *when <= now).map(|(_, call)| *call)
    }
}
