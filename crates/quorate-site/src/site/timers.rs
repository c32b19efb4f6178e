//! Timers of locks: some can wait until the streams to other sites have room.

use quorate_protocol::Tick;
use quorate_quorum::SiteId;
use quorate_session::Name;

use super::Site;
use super::site_core::SiteCore;
use crate::lock::LockInstance;

impl Site {
    /// Handles timers that have expired. Many that expire at once must not fill the streams: those
    /// that can wait do so while a stream has no room.
    pub(super) fn on_timers_due(&mut self) {
        for _ in 0..self.core.locks_in_step {
            let Some(name) = self.core.next_timer_due() else { return };
            self.tell_first(&name);
            let Some(lock) = self.table.get(&name) else { continue };
            let Some(due) = lock.next_timer().filter(|when| *when <= self.core.now) else {
                continue;
            };
            if lock.timers_can_wait() && self.core.is_congested() {
                self.core.put_off(name, due);
            } else {
                self.run_timers(&name);
            }
        }
    }

    /// Handles the expired timers of locks that were put off, while the streams have room.
    pub(super) fn run_put_off_timers(&mut self) {
        for _ in 0..self.core.locks_in_step {
            if self.core.is_congested() {
                return;
            }
            let Some(name) = self.core.put_off.pop_first() else { return };
            self.tell_first(&name);
            self.run_timers(&name);
        }
    }

    /// Handles the expired timers of a lock, if it still exists.
    fn run_timers(&mut self, name: &Name) {
        let Some(kind) = self.table.get(name).map(LockInstance::kind) else { return };
        self.with_lock(name, &kind, |lock, context| lock.on_timers(context));
        self.settle();
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

    /// A lock whose timer has expired waits for room. It is not looked at again before that: a
    /// hundred thousand such locks would keep the site busy with nothing else.
    fn put_off(&mut self, name: Name, due: Tick) {
        self.set_timer(&name, Some(due), None);
        self.put_off.insert(name);
    }

    /// A lock with a timer that has expired.
    fn next_timer_due(&self) -> Option<Name> {
        let (when, name) = self.timers.first()?;
        (*when <= self.now).then(|| name.clone())
    }
}
