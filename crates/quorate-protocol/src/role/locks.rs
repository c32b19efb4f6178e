//! A stage and its arbiters: asking, taking, giving back.

use quorate_quorum::{SiteId, SiteSet};

use super::stage::{Loan, Stage, State};
use super::{Message, RoleLock};
use crate::{Fence, Fences, GrantNo, Out, Shared, Violation};

impl Stage {
    /// Asks one more arbiter for its lock.
    pub(super) fn ask(&mut self, arbiter: SiteId, out: &mut Out<RoleLock>) {
        let held = matches!(self.state, State::Cs(_));
        let hasty = self.lp.0.iter().any(|request| request.hasty);
        out.send(arbiter, Message::ReqGroup { pr: self.pr, held, hasty });
        self.loans.insert(arbiter, Loan::default());
    }

    /// Rec-Group: takes a lock in hand. One that comes while there are members is kept: it may
    /// replace one that is lost.
    ///
    /// What was given back before it came stays given back (A8).
    /// Scenario: `role/a8_inquiry_before_its_loan`.
    pub(super) fn on_rec_group(
        &mut self,
        arbiter: SiteId,
        number: GrantNo,
        (fences, contended): (Fences, bool),
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        let loan = self.loans.get_mut(&arbiter).ok_or(Violation::NotAsked(arbiter))?;
        if number <= loan.yielded || loan.have == Some(number) {
            out.ignore("the loan is known already, or was given back");
            return Ok(());
        }
        // A ceiling only grows, so what we were told of it during a former loan is still true.
        let ceil = loan.fences.ceil.max(fences.ceil);
        let fences = Fences { ceil, ..fences };
        let contended = contended || loan.contended;
        *loan = Loan { have: Some(number), fences, raising: Fence::default(), contended, ..*loan };
        Ok(())
    }

    /// Rel-Group: gives a lock back, even one that has not come yet. A stage with members ends some
    /// day, and that is its answer (A18).
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
        if matches!(self.state, State::Cs(_)) {
            out.ignore("the stage has members");
        } else if better {
            (loan.have, loan.yielded) = (None, number);
            out.send(arbiter, Message::RepRelGroup { pr: self.pr, number });
        }
        Ok(())
    }

    /// An arbiter lets us use more fences.
    pub(super) fn on_raised(&mut self, arbiter: SiteId, ceil: Fence) {
        if let Some(loan) = self.loans.get_mut(&arbiter) {
            loan.fences.ceil = loan.fences.ceil.max(ceil);
        }
    }

    /// Whether the locks in hand contain a quorum. Several sessions may be over at once, and we are
    /// told of one after the other: what was lent in them does not count.
    pub(super) fn is_complete(&self, site: &Shared) -> bool {
        let counts = |(arbiter, loan): (&SiteId, &Loan)| loan.have.is_some() && at(site, *arbiter);
        if !self.repaired {
            return self.loans.iter().all(counts);
        }
        let counted = self.loans.iter().filter(|&entry| counts(entry));
        site.is_quorum(&counted.map(|(&arbiter, _)| arbiter).collect())
    }

    /// Whether every arbiter lets us use `fence`.
    pub(super) fn may_use(&self, fence: Fence) -> bool {
        let mut held = self.loans.values().filter(|loan| loan.have.is_some());
        held.all(|loan| fence < loan.fences.ceil)
    }

    /// Asks the arbiters whose ceiling is too low to raise it, once.
    pub(super) fn raise(&mut self, ceil: Fence, out: &mut Out<RoleLock>) {
        for (&arbiter, loan) in self.loans.iter_mut().filter(|(_, loan)| loan.have.is_some()) {
            if loan.fences.ceil < ceil && loan.raising < ceil {
                loan.raising = ceil;
                out.send(arbiter, Message::Raise { pr: self.pr, ceil });
            }
        }
    }

    /// Asks until a quorum is asked in sessions that are neither lost nor silent, if that can be.
    pub(super) fn ask_a_quorum(&mut self, site: &Shared, out: &mut Out<RoleLock>) {
        if self.has_asked_enough(site) {
            return;
        }
        let prefer: Vec<SiteId> = self.asked(site).iter().collect();
        let quorum = site.replacement(&prefer);
        for arbiter in quorum.iter().flat_map(SiteSet::iter) {
            self.ask_another(arbiter, out);
        }
    }

    pub(super) fn ask_another(&mut self, arbiter: SiteId, out: &mut Out<RoleLock>) {
        if !self.loans.contains_key(&arbiter) {
            self.ask(arbiter, out);
            self.repaired = true;
        }
    }

    pub(super) fn has_asked_enough(&self, site: &Shared) -> bool {
        site.is_quorum(&self.asked(site))
    }

    /// The arbiters that were asked, in sessions that are not silent.
    fn asked(&self, site: &Shared) -> SiteSet {
        self.loans.keys().copied().filter(|&asked| !site.is_silent(asked)).collect()
    }
}

fn at(site: &Shared, arbiter: SiteId) -> bool {
    site.session_at(arbiter).is_some()
}
