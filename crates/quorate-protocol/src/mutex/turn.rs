//! The local hand-over: callers of one site enter one after another under one claim.
//!
//! Each caller takes its own fence, one above the last, while a quorum of the lenders has a ceiling
//! above it (`docs/site.md`, "The whole site").

use quorate_quorum::SiteSet;

use super::request::Request;
use super::requester::{Phase, Requester};
use super::{Grant, Mutex};
use crate::{ClaimId, Fence, Out, Shared, Violation};

impl Requester {
    /// The caller inside has left, and the next caller of this site follows.
    pub(super) fn turn(
        &mut self,
        site: &Shared,
        claim: ClaimId,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        match &mut self.phase {
            Phase::Inside(request, _) if request.ticket.claim == claim => request.turning = true,
            _ => return Err(Violation::NotInside(claim)),
        }
        self.try_to_turn(site, out);
        Ok(())
    }

    /// Grants the next caller of this site, if there is a fence for it.
    pub(super) fn try_to_turn(&mut self, site: &Shared, out: &mut Out<Mutex>) {
        let Phase::Inside(request, fence) = &mut self.phase else { return };
        if !request.turning {
            return;
        }
        let next = fence.next();
        if !site.is_quorum(&request.allowing(site, next)) {
            return request.raise(next.plus(site.fence_block()), out);
        }
        request.turning = false;
        *fence = next;
        let ticket = request.ticket;
        out.grant(ticket.claim, Grant { ticket, fence: next });
    }

    /// Whether another site is known to wait for a permission we hold.
    pub(super) fn is_wanted(&self) -> bool {
        let request = self.phase.request();
        request.is_some_and(|request| request.permissions.values().any(|p| p.next.is_some()))
    }
}

impl Request {
    /// The arbiters whose permission is in hand with a ceiling above `fence`.
    fn allowing(&self, site: &Shared, fence: Fence) -> SiteSet {
        let good = self.permissions.iter().filter(|(_, p)| p.held && fence < p.fences.ceil);
        let good = good.map(|(&arbiter, _)| arbiter);
        good.filter(|&arbiter| site.session_at(arbiter).is_some()).collect()
    }
}
