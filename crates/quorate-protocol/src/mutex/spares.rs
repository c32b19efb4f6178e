//! Spare permissions: a request that stays inside collects the permissions of all sites it reaches,
//! while they are alive.
//!
//! A site that crashes keeps what its waiting requests have borrowed for as long as its session
//! lasts. So a holder that loses an arbiter could not replace it in time by one that has lent to
//! such a request. With spare permissions it need not: if the sites that are left contain a quorum,
//! the permissions in hand do.

use super::Mutex;
use super::request::Request;
use super::requester::{Phase, Requester};
use crate::{ClaimId, Effect, Out, Shared, StayTimer};

impl Requester {
    /// The claim has been inside for long: asks all other sites as well.
    ///
    /// **Deviation.** The paper's request asks one quorum. Scenario: `mutex/session_spares`.
    pub(super) fn on_stay(&mut self, site: &Shared, claim: ClaimId, out: &mut Out<Mutex>) {
        let Phase::Inside(request, _) = &mut self.phase else {
            unreachable!("a timer is disarmed when its claim leaves");
        };
        assert_eq!(request.ticket.claim, claim, "a timer is disarmed when its claim leaves");
        request.stays = true;
        for arbiter in site.reachable().iter() {
            if !request.permissions.contains_key(&arbiter) {
                request.ask(arbiter, true, out);
            }
        }
    }

    /// The claim has entered.
    pub(super) fn arm_stay(&self, claim: ClaimId, out: &mut Out<Mutex>) {
        if let Some(time) = self.options.spares {
            out.push(Effect::Arm(StayTimer(claim), time));
        }
    }

    /// The request is over.
    pub(super) fn disarm_stay(&self, request: &Request, out: &mut Out<Mutex>) {
        if self.options.spares.is_some() && !request.stays {
            out.push(Effect::Disarm(StayTimer(request.ticket.claim)));
        }
    }
}
