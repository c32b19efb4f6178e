//! Stopping without harm: waiting callers go to other sites, those inside have time to leave, and
//! other sites stop relying on this one before it is gone.

use std::time::Duration;

use quorate_protocol::Tick;
use quorate_session::session::{self, Rule};
use quorate_session::{CallId, ReasonText};

use super::Site;
use super::call::Place;
use super::site_core::SiteCore;
use crate::effect::Effect;

/// The progress of a site that is about to stop.
#[derive(Clone, Debug)]
pub(super) struct Drain {
    /// When the callers that are still inside are told to leave; `None` once they are.
    ends_grants_at: Option<Tick>,
    /// When the site stops at the latest; `None` once it can stop.
    stops_by: Option<Tick>,
}

impl Drain {
    /// When the site must act.
    pub(super) fn deadline(&self) -> Option<Tick> {
        self.ends_grants_at.or(self.stops_by)
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
        self.core.drain = Some(Drain { ends_grants_at, stops_by: Some(end) });
        self.core.out.push(Effect::Draining(end));
        self.core.drive_sessions(session::Input::Drain);
        self.with_every_lock(|lock, _| lock.stop_joining());
        let calls = self.core.calls.iter();
        let waiting = calls.filter(|(_, call)| matches!(call.place, Place::Waiting(_)));
        let waiting: Vec<(CallId, u64)> =
            waiting.map(|(id, call)| (*id, call.waits_since)).collect();
        for (id, since) in waiting {
            self.core.refer_elsewhere(id, Some(since));
            self.leave(id);
            self.settle();
        }
        self.on_drain_due();
    }

    /// Tells the callers inside to leave, when it is time.
    pub(super) fn on_drain_due(&mut self) {
        let (now, me) = (self.core.now, self.core.me());
        let Some(drain) = &mut self.core.drain else { return };
        if drain.ends_grants_at.take_if(|when| *when <= now).is_none() {
            return;
        }
        let stops_by = drain.stops_by.unwrap_or(now);
        let is_kept = self.core.config.terms.keep(Rule::DrainKeepsDeadlines);
        let reason = ReasonText::fitted(&format!("site {me} is about to stop"));
        let calls = self.core.calls.iter();
        let inside = calls.filter(|(_, call)| matches!(call.place, Place::Inside(_)));
        let inside: Vec<CallId> = inside.map(|(id, _)| *id).collect();
        for id in inside {
            let until = self.valid_until(id).expect("a caller inside is valid");
            let until = if is_kept { until } else { until.min(stops_by) };
            self.core.stop(id, until, reason.clone());
        }
    }

    /// Says once that the site can stop: no caller is left, and nobody relies on a delegation of
    /// this site, or the time is over.
    pub(super) fn note_drained(&mut self) {
        let Some(drain) = &mut self.core.drain else { return };
        let is_over = drain.stops_by.is_some_and(|when| when <= self.core.now);
        let is_idle = self.core.calls.is_empty() && !self.core.delegations.are_given();
        if is_over || is_idle && drain.stops_by.is_some() {
            (drain.ends_grants_at, drain.stops_by) = (None, None);
            self.core.out.push(Effect::Drained);
        }
    }
}
