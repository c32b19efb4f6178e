//! Spare permissions: a request that stays inside collects the permissions of all sites it reaches,
//! while they are alive. The reasons are those of the mutex (`mutex/spares.rs`).
//!
//! All requests inside fit together at every arbiter, so each of them gets all permissions once
//! those that wait have given theirs back.

use quorate_quorum::SiteId;

use super::Pool;
use super::request::Request;
use super::requester::Requester;
use crate::{ClaimId, Effect, Out, Shared, StayTimer};

impl Requester {
    /// The claim has been inside for long: asks all other sites as well.
    ///
    /// **Deviation.** The paper's request asks one quorum. Scenario: `pool/session_spares`.
    pub(super) fn on_stay(&mut self, site: &Shared, id: ClaimId, out: &mut Out<Pool>) {
        let request = self.requests.get_mut(&id);
        let request = request.expect("a timer is disarmed when its claim leaves");
        assert!(request.inside.is_some(), "only requests inside have a timer");
        request.stays = true;
        let reachable: Vec<SiteId> = site.reachable().iter().collect();
        for arbiter in reachable {
            request.ask_another(arbiter, out);
        }
    }

    /// The claim has entered.
    pub(super) fn arm_stay(&self, id: ClaimId, out: &mut Out<Pool>) {
        if let Some(time) = self.spares {
            out.push(Effect::Arm(StayTimer(id), time));
        }
    }

    /// The request is over.
    pub(super) fn disarm_stay(&self, request: &Request, out: &mut Out<Pool>) {
        if self.spares.is_some() && request.inside.is_some() && !request.stays {
            out.push(Effect::Disarm(StayTimer(request.ticket.claim)));
        }
    }
}
