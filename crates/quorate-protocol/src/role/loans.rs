//! A stage and the locks that arbiters lend to it.

use quorate_quorum::{SiteId, SiteSet};

use super::stage::{Stage, StageState};
use super::{Message, RoleLock};
use crate::{Fence, Fences, GrantNo, Out, Shared, Violation};

/// One arbiter's lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Loan {
    /// The number of the loan that the stage holds.
    pub(super) have: Option<GrantNo>,
    /// The number of the last loan given back.
    pub(super) yielded: GrantNo,
    /// The fences that may be used with it.
    pub(super) fences: Fences,
    /// The ceiling that the arbiter was asked for.
    pub(super) raising: Fence,
    /// Whether another stage is known to wait there.
    pub(super) contended: bool,
}

/// The fields of a Rec-Group message.
pub(super) struct RecGroup {
    pub(super) number: GrantNo,
    pub(super) fences: Fences,
    pub(super) contended: bool,
}

impl Stage {
    /// Sends Req-Group: asks one arbiter for its lock.
    pub(super) fn send_req_group(&mut self, arbiter: SiteId, out: &mut Out<RoleLock>) {
        let held = matches!(self.state, StageState::Cs(_));
        let no_wait = self.lp.0.iter().any(|request| request.no_wait);
        out.send(arbiter, Message::ReqGroup { pr: self.pr, held, no_wait });
        self.loans.insert(arbiter, Loan::default());
    }

    /// Section 5, Rec-Group: records a lock. A stage with members keeps it too: it may replace a
    /// lost one.
    ///
    /// A loan that was given back before it arrived stays given back (A8).
    /// Scenario: `role/a8_inquiry_before_its_loan`.
    pub(super) fn on_rec_group(
        &mut self,
        arbiter: SiteId,
        RecGroup { number, fences, contended }: RecGroup,
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        let loan = self.loans.get_mut(&arbiter).ok_or(Violation::NotAsked(arbiter))?;
        if number <= loan.yielded || loan.have == Some(number) {
            out.ignore("the loan is known already, or was given back");
            return Ok(());
        }
        // A ceiling only grows, so one reported during an earlier loan still applies.
        let ceil = loan.fences.ceil.max(fences.ceil);
        let fences = Fences { ceil, ..fences };
        let contended = contended || loan.contended;
        *loan = Loan { have: Some(number), fences, raising: Fence::default(), contended, ..*loan };
        Ok(())
    }

    /// Section 5, Rel-Group: gives a lock back, even one that has not arrived yet. A stage with
    /// members does not answer: its Lib-Group will (A18).
    pub(super) fn on_rel_group(
        &mut self,
        arbiter: SiteId,
        number: GrantNo,
        better: bool,
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        let loan = self.loans.get_mut(&arbiter).ok_or(Violation::NotAsked(arbiter))?;
        if number <= loan.yielded {
            out.ignore("the loan is known already, or was given back");
            return Ok(());
        }
        loan.contended = true;
        if matches!(self.state, StageState::Cs(_)) {
            out.ignore("the stage has members");
        } else if better {
            (loan.have, loan.yielded) = (None, number);
            out.send(arbiter, Message::RepRelGroup { pr: self.pr, number });
        }
        Ok(())
    }

    /// Raised: an arbiter has raised its fence ceiling.
    pub(super) fn on_raised(&mut self, arbiter: SiteId, ceil: Fence) {
        if let Some(loan) = self.loans.get_mut(&arbiter) {
            loan.fences.ceil = loan.fences.ceil.max(ceil);
        }
    }

    /// The arbiters whose lock the stage holds.
    pub(super) fn held(&self) -> SiteSet {
        let held = self.loans.iter().filter(|(_, loan)| loan.have.is_some());
        held.map(|(&arbiter, _)| arbiter).collect()
    }

    /// Whether the locks held contain a quorum. When several sessions end at once, they are
    /// reported one by one; locks lent in any ended session do not count.
    pub(super) fn is_complete(&self, site: &Shared) -> bool {
        let counts = |(&arbiter, loan): (&SiteId, &Loan)| {
            loan.have.is_some() && site.session_at(arbiter).is_some()
        };
        if !self.repaired {
            return self.loans.iter().all(counts);
        }
        let counted = self.loans.iter().filter(|&entry| counts(entry));
        site.is_quorum(&counted.map(|(&arbiter, _)| arbiter).collect())
    }

    /// Whether `fence` is below the ceiling of every lock held.
    pub(super) fn may_use(&self, fence: Fence) -> bool {
        let mut held = self.loans.values().filter(|loan| loan.have.is_some());
        held.all(|loan| fence < loan.fences.ceil)
    }

    /// Asks the arbiters with a ceiling below `ceil` to raise it, once.
    pub(super) fn send_raise(&mut self, ceil: Fence, out: &mut Out<RoleLock>) {
        for (&arbiter, loan) in self.loans.iter_mut().filter(|(_, loan)| loan.have.is_some()) {
            if loan.fences.ceil < ceil && loan.raising < ceil {
                loan.raising = ceil;
                out.send(arbiter, Message::Raise { pr: self.pr, ceil });
            }
        }
    }
}
