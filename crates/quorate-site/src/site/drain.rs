//! Stopping without harm: waiting callers go to other sites, those inside have time to leave, and
//! other sites stop relying on this one before it is gone.

use std::ops::Bound;
use std::time::Duration;

use quorate_protocol::Tick;
use quorate_session::session::{self, Rule};
use quorate_session::{CallId, ReasonText};

use super::Site;
use super::call::Place;
use super::site_core::SiteCore;
use super::telling::Happening;
use crate::effect::Effect;

/// The progress of a site that is about to stop.
#[derive(Clone, Debug)]
pub(super) struct Drain {
    /// When the callers that are still inside are told to leave; `None` once they are.
    ends_grants_at: Option<Tick>,
    /// When the site stops at the latest; `None` once it can stop.
    stops_by: Option<Tick>,
    /// Which callers are visited now: a few in each step.
    walk: Option<Walk>,
}

/// A walk through the calls, and the call that was visited last.
#[derive(Clone, Copy, Debug)]
enum Walk {
    /// Those that wait go to other sites.
    Waiting(Option<CallId>),
    /// Those inside are told to leave.
    Inside(Option<CallId>),
}

impl Drain {
    /// When the site must act.
    pub(super) fn deadline(&self) -> Option<Tick> {
        self.ends_grants_at.or(self.stops_by)
    }

    /// Whether the callers are being visited.
    pub(super) fn is_busy(&self) -> bool {
        self.walk.is_some()
    }
}

impl SiteCore {
    pub(super) fn is_draining(&self) -> bool {
        self.drain.is_some()
    }

    /// Tells a caller to claim at another site. It keeps its place by the time since when it waits.
    pub(super) fn refer_elsewhere(&mut self, id: CallId, since: Option<u64>) {
        let since = since.unwrap_or(self.shared.clock.time() + 1);
        self.out.push(Effect::Moved(id, since));
    }
}

impl Site {
    /// The site is to stop within `time`. A lease before that, the callers that are still inside
    /// are told to leave, and no grant is extended any more. If there is less time than a lease,
    /// grants outlive the site: they end when their leases are over, as after a crash.
    pub(super) fn drain(&mut self, time: Duration) {
        if self.core.is_draining() {
            return;
        }
        let (now, lease) = (self.core.now, self.core.config.terms.lease.length());
        let end = now + time;
        let ends_grants_at = Some(now + time.saturating_sub(lease));
        let walk = Some(Walk::Waiting(None));
        self.core.drain = Some(Drain { ends_grants_at, stops_by: Some(end), walk });
        self.core.out.push(Effect::Draining(end));
        self.core.drive_sessions(session::Input::Drain);
        self.tell_all(Happening::Stopping);
    }

    /// Begins to tell the callers inside to leave, when it is time, and the others have gone.
    pub(super) fn on_drain_due(&mut self) {
        let now = self.core.now;
        let Some(drain) = &mut self.core.drain else { return };
        if drain.walk.is_none() && drain.ends_grants_at.take_if(|when| *when <= now).is_some() {
            drain.walk = Some(Walk::Inside(None));
            self.go_on_draining();
        }
    }

    /// Visits callers, as many as a step may: those that wait go to other sites, and then, when it
    /// is time, those inside are told to leave.
    pub(super) fn go_on_draining(&mut self) {
        let Some(Drain { walk: Some(walk), .. }) = self.core.drain else { return };
        let after = match walk {
            Walk::Waiting(after) | Walk::Inside(after) => after,
        };
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let most = self.core.locks_in_step;
        let calls = self.core.calls.range((from, Bound::Unbounded)).take(most);
        let calls: Vec<CallId> = calls.map(|(id, _)| *id).collect();
        for id in &calls {
            if self.tell_first_of(*id) {
                match walk {
                    Walk::Waiting(_) => self.move_call(*id),
                    Walk::Inside(_) => self.end_grant(*id),
                }
            }
        }
        let last = calls.last().copied().filter(|_| calls.len() == most);
        let next = last.map(|last| match walk {
            Walk::Waiting(_) => Walk::Waiting(Some(last)),
            Walk::Inside(_) => Walk::Inside(Some(last)),
        });
        if let Some(drain) = &mut self.core.drain {
            drain.walk = next;
        }
        self.on_drain_due(); // it may be time for the callers inside
    }

    /// A caller that waits goes to another site.
    fn move_call(&mut self, id: CallId) {
        let call = &self.core.calls[&id];
        if matches!(call.place, Place::Waiting(_)) {
            self.core.refer_elsewhere(id, Some(call.waits_since));
            self.leave(id);
            self.settle();
        }
    }

    /// A caller that is inside is told to leave.
    fn end_grant(&mut self, id: CallId) {
        if !matches!(self.core.calls[&id].place, Place::Inside(_)) {
            return;
        }
        let now = self.core.now;
        let stops_by = self.core.drain.as_ref().and_then(|drain| drain.stops_by).unwrap_or(now);
        let is_kept = self.core.config.terms.keep(Rule::DrainKeepsDeadlines);
        let until = self.valid_until(id).unwrap_or(now); // it may be over, and not be told yet
        let until = if is_kept { until } else { until.min(stops_by) };
        let reason = ReasonText::fitted(&format!("site {} is about to stop", self.core.me()));
        self.core.stop(id, until, reason);
    }

    /// Says once that the site can stop: no caller is left, and nobody relies on a delegation of
    /// this site, or the time is over.
    pub(super) fn note_drained(&mut self) {
        let Some(drain) = &mut self.core.drain else { return };
        let is_over = drain.stops_by.is_some_and(|when| when <= self.core.now);
        let is_idle = self.core.calls.is_empty() && !self.core.delegations.are_given();
        if is_over || is_idle && drain.stops_by.is_some() {
            (drain.ends_grants_at, drain.stops_by, drain.walk) = (None, None, None);
            self.core.out.push(Effect::Drained);
        }
    }
}
