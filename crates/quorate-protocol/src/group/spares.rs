//! Spare votes: a pivot that stays inside collects the votes of all sites it reaches, while they
//! are alive. The reasons are those of the mutex (`mutex/spares.rs`).

use quorate_quorum::SiteId;

use super::GroupLock;
use super::request::{Phase, Request};
use super::requester::Requester;
use crate::{ClaimId, Effect, Out, Shared, StayTimer};

impl Requester {
    /// The pivot has been inside for long: asks all other sites as well.
    ///
    /// **Deviation.** The paper's request asks one quorum. Scenario: `group/session_spares`.
    pub(super) fn on_stay(&mut self, site: &Shared, id: ClaimId, out: &mut Out<GroupLock>) {
        let request = self.requests.get_mut(&id);
        let request = request.expect("a timer is disarmed when its claim leaves");
        assert!(matches!(request.phase, Phase::Pivot(_)), "only pivots have a timer");
        request.stays = true;
        let reachable: Vec<SiteId> = site.reachable().iter().collect();
        for manager in reachable {
            request.ask_replacement(manager, out);
        }
    }

    /// The claim has entered as a pivot.
    pub(super) fn arm_stay(&self, id: ClaimId, out: &mut Out<GroupLock>) {
        if let Some(time) = self.options.spares {
            out.push(Effect::Arm(StayTimer(id), time));
        }
    }

    /// The pivot is not inside any more.
    pub(super) fn disarm_stay(&self, request: &Request, out: &mut Out<GroupLock>) {
        if self.options.spares.is_some() && !request.stays {
            out.push(Effect::Disarm(StayTimer(request.ticket.claim)));
        }
    }
}
