//! Timers of locks: some can wait until the streams to other sites have room.

use quorate_protocol::Tick;
use quorate_quorum::SiteId;
use quorate_session::Name;

use super::Site;
use super::site_core::SiteCore;
use crate::lock::LockInstance;

/// How many timers expire in one step. If more are due, the site asks to be called again at once.
const TIMERS_PER_STEP: usize = 256;

impl Site {
    /// Handles timers that have expired. Many that expire at once must not fill the streams: those
    /// that can wait do so while a stream has no room.
    pub(super) fn on_timers_due(&mut self) {
        for _ in 0..TIMERS_PER_STEP {
            let Some(name) = self.core.next_timer_due() else { return };
            self.tell_first(&name);
            let Some(kind) = self.table.get(&name).map(LockInstance::kind) else { continue };
            let later = self.core.is_congested().then(|| self.core.after_congestion());
            let mut is_put_off = false;
            self.with_lock(&name, &kind, |lock, context| {
                is_put_off = later.is_some_and(|later| lock.put_off_timers(later));
                if !is_put_off {
                    lock.on_timers(context);
                }
            });
            if is_put_off {
                self.core.put_off.insert(name);
            }
            self.settle();
        }
    }

    /// Lets timers expire that were put off, while the streams have room.
    pub(super) fn run_put_off_timers(&mut self) {
        for _ in 0..TIMERS_PER_STEP {
            if self.core.is_congested() {
                return;
            }
            let Some(name) = self.core.put_off.pop_first() else { return };
            self.tell_first(&name);
            let Some(kind) = self.table.get(&name).map(LockInstance::kind) else { continue };
            self.with_lock(&name, &kind, |lock, context| {
                if lock.put_off_timers(context.now) {
                    lock.on_timers(context);
                }
            });
        }
    }
}

impl SiteCore {
    /// When the site wants to be called for timers that were put off: now, if there is room.
    pub(super) fn runs_put_off_at(&self) -> Option<Tick> {
        (!self.put_off.is_empty() && !self.is_congested()).then_some(self.now)
    }

    /// Whether the stream to a site that answers has no room for a sender that can wait.
    pub(super) fn is_congested(&self) -> bool {
        let is_full = |peer: SiteId| {
            let answers = self.sessions.at(peer).is_some_and(|session| !session.silent);
            answers && !self.sessions.has_room(peer)
        };
        let (me, n) = (self.me(), self.config.quorums.n());
        SiteId::all(n).any(|peer| peer != me && is_full(peer))
    }

    /// When a timer that was put off expires at the latest.
    fn after_congestion(&self) -> Tick {
        self.now + self.config.terms.lease.twenty_fourth()
    }

    /// A lock with a timer that has expired.
    fn next_timer_due(&self) -> Option<Name> {
        let (when, name) = self.timers.first()?;
        (*when <= self.now).then(|| name.clone())
    }
}
