//! Ending a grant that its holder does not release.
//!
//! The request goes to the arbiters that lent to the holder, and from them to the holder's site.
//! That site stops extending the grant, and releases the lock when the grant is over. No arbiter
//! takes a permission back from a holder. So breaking never makes two valid holders, and takes up
//! to a lease.

use quorate_protocol::Tick;
use quorate_quorum::SiteId;
use quorate_session::session::Half;
use quorate_session::{BreakRequest, CallId, ReasonText};

use super::Site;
use super::call::Place;
use super::site_core::SiteCore;
use crate::effect::{Audit, Effect};
use crate::site_message::SiteMessage;

impl SiteCore {
    /// Sends the request to all sites.
    pub(super) fn ask_to_break(&mut self, order: &BreakRequest) {
        self.out.push(Effect::Audit(Audit::Asked(order.clone())));
        let me = self.me();
        for site in SiteId::all(self.config.quorums.n()) {
            if self.shared.session_at(site).is_some() {
                self.send(site, Half::Arbiter, SiteMessage::Break(order.clone(), me));
            }
        }
    }

    /// Stops extending a grant: the caller must leave by `until`.
    pub(super) fn stop(&mut self, id: CallId, until: Tick, reason: ReasonText) {
        let Some(Place::Inside(fence)) = self.calls.get(&id).map(|call| call.place.clone()) else {
            return; // it has been told before
        };
        self.set_place(id, Place::Broken(fence, until, reason.clone()));
        self.degraded.remove(&id);
        self.out.push(Effect::Broken(id, until, reason));
    }

    pub(super) fn on_stopping(&mut self, order: BreakRequest, from: SiteId) {
        self.out.push(Effect::Audit(Audit::Acknowledged(order, from)));
    }
}

impl Site {
    /// Passes the request on to the sites to which our permission is lent.
    pub(super) fn on_break(&mut self, order: &BreakRequest, origin: SiteId) {
        let Some(lock) = self.table.get(&order.name) else { return };
        for ticket in lock.lent() {
            self.core.send(ticket.site, Half::Requester, SiteMessage::Stop(order.clone(), origin));
        }
    }

    /// Stops extending the grants with this fence, once. All grants of an occupancy have one.
    pub(super) fn on_stop(&mut self, order: &BreakRequest, origin: SiteId) {
        let Some(lock) = self.table.get(&order.name) else { return };
        let place = |id: &CallId| &self.core.calls[id].place;
        let meant =
            |id: &CallId| matches!(place(id), Place::Inside(fence) if *fence == order.fence);
        let meant: Vec<CallId> = lock.callers().into_iter().filter(meant).collect();
        for id in meant {
            let until = self.valid_until(id).unwrap_or(self.core.now);
            self.core.out.push(Effect::Audit(Audit::Ending(order.clone(), id, until)));
            self.core.stop(id, until, order.reason.clone());
            self.core.send(origin, Half::Arbiter, SiteMessage::Stopping(order.clone()));
            let entry = self.table.entry_mut(&order.name).expect("it was found above");
            entry.lock.stop_joining();
        }
    }
}
