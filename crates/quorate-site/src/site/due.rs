//! What is due when: calls, timers of locks, and when the site must be woken.

use quorate_protocol::Tick;
use quorate_session::{CallId, Name};

use super::drain::Drain;
use super::site_core::SiteCore;
use crate::effect::Effect;

impl SiteCore {
    /// A call that is due.
    pub(super) fn next_call_due(&self) -> Option<CallId> {
        let (when, call) = self.due.first()?;
        (*when <= self.now).then_some(*call)
    }

    /// Replaces the time of a lock's next timer.
    pub(super) fn set_timer(&mut self, name: &Name, before: Option<Tick>, after: Option<Tick>) {
        if before != after {
            before.map(|when| self.timers.remove(&(when, name.clone())));
            self.timers.extend(after.map(|when| (when, name.clone())));
        }
    }

    pub(super) fn deadline(&self) -> Option<Tick> {
        let due = self.due.first().map(|(when, _)| *when);
        let timer = self.timers.first().map(|(when, _)| *when);
        let quarantine = self.sessions.quarantined_until();
        let waits = self.shared.quarantined && self.identity.has_begun();
        let cleared = waits.then_some(quarantine);
        let delegations = self.delegations.deadline();
        let drain = self.drain.as_ref().and_then(Drain::deadline);
        let others = [timer, cleared, delegations, drain, self.quorum.starts_until];
        let more = [self.sessions.deadline(), due, self.places_claims_at(), self.runs_put_off_at()];
        let rest = self.has_more_to_do().then_some(self.now);
        others.into_iter().chain(more).chain([self.tells_at(), rest]).flatten().min()
    }

    /// Whether a walk through grants, delegations or calls goes on in the next step.
    fn has_more_to_do(&self) -> bool {
        self.review.is_busy()
            || self.delegations.are_reviewed()
            || self.drain.as_ref().is_some_and(Drain::is_busy)
    }

    pub(super) fn schedule_wake(&mut self) {
        let deadline = self.deadline();
        if deadline != self.wake {
            self.wake = deadline;
            self.out.extend(deadline.map(Effect::Wake));
        }
    }
}
