//! Ending a grant that its holder does not release.
//!
//! The wish travels through the arbiters that lent to the holder to the holder's site, which
//! stops extending the grant and gives it back when it is over: no arbiter takes a permission
//! back from somebody inside. So breaking cannot make two valid holders, and takes up to a lease.

use std::sync::Arc;

use quorate_protocol::Tick;
use quorate_quorum::SiteId;
use quorate_session::session::Half;
use quorate_session::{Break, CallId};

use super::Site;
use super::call::Place;
use super::desk::Desk;
use crate::effect::{Audit, Effect};
use crate::said::Said;

impl Desk {
    /// Passes the wish on to all sites.
    pub(super) fn ask_to_break(&mut self, wish: &Break) {
        self.out.push(Effect::Audit(Audit::Asked(wish.clone())));
        let me = self.me();
        for site in SiteId::all(self.config.quorums.n()) {
            if self.shared.session_at(site).is_some() {
                self.say(site, Half::Arbiter, Said::Break(wish.clone(), me));
            }
        }
    }

    /// Stops extending a grant: the caller must leave by then.
    pub(super) fn stop(&mut self, id: CallId, until: Tick, reason: Arc<str>) {
        let Some(Place::Inside(fence)) = self.calls.get(&id).map(|call| call.place.clone()) else {
            return; // it was told before
        };
        self.place(id, Place::Broken(fence, until, reason.clone()));
        self.waning.remove(&id);
        self.out.push(Effect::Broken(id, until, reason));
    }

    pub(super) fn hear_of_stop(&mut self, wish: Break, from: SiteId) {
        self.out.push(Effect::Audit(Audit::Heard(wish, from)));
    }
}

impl Site {
    /// Tells the sites to which our permission is lent.
    pub(super) fn on_break(&mut self, wish: &Break, origin: SiteId) {
        let Some(resource) = self.table.get(&wish.name) else { return };
        for ticket in resource.engine.part().view().lent {
            self.desk.say(ticket.site, Half::Requester, Said::Stop(wish.clone(), origin));
        }
    }

    /// Stops extending the grants that are meant, once. Those of a group session have one fence.
    pub(super) fn on_stop(&mut self, wish: &Break, origin: SiteId) {
        let Some(resource) = self.table.get(&wish.name) else { return };
        let place = |id: &CallId| &self.desk.calls[id].place;
        let meant = |id: &CallId| matches!(place(id), Place::Inside(fence) if *fence == wish.fence);
        let meant: Vec<CallId> = resource.engine.part().line().into_iter().filter(meant).collect();
        for id in meant {
            let until = self.valid_until(id).expect("who is inside is valid");
            self.desk.out.push(Effect::Audit(Audit::Ending(wish.clone(), id, until)));
            self.desk.stop(id, until, wish.reason.clone());
            self.desk.say(origin, Half::Arbiter, Said::Stopping(wish.clone()));
            let resource = self.table.get_mut(&wish.name).expect("it was looked at");
            resource.engine.part_mut().shut();
        }
    }
}
