//! The requester half: one request at a time for all callers of the site that wait.

use std::collections::{BTreeMap, BTreeSet};

use litemap::LiteMap;
use quorate_quorum::SiteId;

use super::known::{Change, Ledger, Update};
use super::request::{Permission, Request};
use super::stay::Stay;
use super::{Claim, LedgerPool, Message, Options, Try, Units};
use crate::no_wait::NoWait;
use crate::{ClaimId, ClaimView, Fence, Fences, Out, SessionNo, Shared, Ticket, Violation};

/// The requester half of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Requester {
    pub(super) options: Options,
    /// How many units there are.
    pub(super) units: u32,
    /// The callers that wait.
    pub(super) waiting: BTreeMap<ClaimId, Caller>,
    /// Their tickets: the first is the next to enter.
    pub(super) order: BTreeSet<Ticket>,
    /// The request for the first of them at the time it was made.
    pub(super) request: Option<Request>,
    /// The callers inside.
    pub(super) stays: BTreeMap<ClaimId, Stay>,
    /// The ledgers of the arbiters whose permission is in hand (L1), and copies of long ledgers for
    /// the next time.
    pub(super) ledgers: LiteMap<SiteId, Ledger>,
}

/// A caller that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Caller {
    pub(super) ticket: Ticket,
    pub(super) units: Units,
    pub(super) numbered: bool,
    pub(super) no_wait: NoWait,
}

impl Requester {
    pub(super) fn new(units: u32, options: Options) -> Self {
        Self {
            options,
            units,
            waiting: BTreeMap::new(),
            order: BTreeSet::new(),
            request: None,
            stays: BTreeMap::new(),
            ledgers: LiteMap::new(),
        }
    }

    /// A caller asks for units. The site asks for the door, unless it does already.
    pub(super) fn acquire(
        &mut self,
        site: &mut Shared,
        id: ClaimId,
        Claim { units, numbered, no_wait }: Claim,
        out: &mut Out<LedgerPool>,
    ) -> Result<(), Violation> {
        if units.of != self.units || !units.is_valid() {
            return Err(Violation::Units(units));
        }
        if self.waiting.contains_key(&id) || self.stays.contains_key(&id) {
            return Err(Violation::Busy);
        }
        if !site.may_ask() {
            return Err(Violation::NoQuorum);
        }
        let ticket = Ticket { time: site.ticket_time(), site: site.site(), claim: id };
        let mut no_wait = NoWait::new(no_wait);
        if self.request.as_ref().is_some_and(|request| request.held_up) {
            no_wait.hold_up();
        }
        self.waiting.insert(id, Caller { ticket, units, numbered, no_wait });
        self.order.insert(ticket);
        self.ask_for_next(site, out);
        Ok(())
    }

    /// Makes a request for the first caller that waits, if there is none.
    pub(super) fn ask_for_next(&mut self, site: &Shared, out: &mut Out<LedgerPool>) {
        if self.request.is_none()
            && let Some(&ticket) = self.order.first()
        {
            self.request = Some(Request::new(Try { ticket, number: 1 }));
            self.ask_quorum(site, out);
        }
    }

    /// Asks one arbiter for its permission.
    pub(super) fn ask(&mut self, arbiter: SiteId, out: &mut Out<LedgerPool>) {
        let known = self.ledgers.get(&arbiter).map_or(0, |ledger| ledger.version);
        let request = self.request.as_mut().expect("a request asks");
        out.send(arbiter, Message::Request { of: request.of, known });
        request.permissions.insert(arbiter, Permission::default());
    }

    /// A part of a ledger; its reply follows.
    pub(super) fn on_part(&mut self, arbiter: SiteId, update: Update) {
        self.learn(arbiter, update);
    }

    /// L1: takes a permission in hand, with the arbiter's ledger.
    pub(super) fn on_reply(
        &mut self,
        site: &Shared,
        arbiter: SiteId,
        of: Try,
        (update, fences): (Update, Fences),
        out: &mut Out<LedgerPool>,
    ) -> Result<(), Violation> {
        self.check_asked(arbiter, of)?;
        self.learn(arbiter, update);
        match self.request_of(of) {
            Some(request) => request.take(arbiter, fences),
            None => {
                self.forget_short_ledger(arbiter);
                out.ignore("the request is over");
                return Ok(());
            }
        }
        self.try_to_enter(site, out);
        Ok(())
    }

    /// The request has to wait at an arbiter, so it answers all open inquires.
    pub(super) fn on_fail(
        &mut self,
        site: &Shared,
        arbiter: SiteId,
        of: Try,
        out: &mut Out<LedgerPool>,
    ) -> Result<(), Violation> {
        let Some(permission) = self.permission(arbiter, of, false, out)? else { return Ok(()) };
        permission.failed = true;
        self.yield_if_waiting(site, out);
        Ok(())
    }

    /// Yields if the request has to wait, at an arbiter or at the door (L6). Otherwise the inquire
    /// stays open.
    pub(super) fn on_inquire(
        &mut self,
        site: &Shared,
        arbiter: SiteId,
        of: Try,
        out: &mut Out<LedgerPool>,
    ) -> Result<(), Violation> {
        let Some(permission) = self.permission(arbiter, of, true, out)? else { return Ok(()) };
        permission.inquired = true;
        self.yield_if_waiting(site, out);
        Ok(())
    }

    /// Answers the open inquires, if the request has to wait.
    pub(super) fn yield_if_waiting(&mut self, site: &Shared, out: &mut Out<LedgerPool>) {
        let Some(request) = &mut self.request else { return };
        let failed = request.permissions.values().any(|permission| permission.failed);
        if !failed && !request.has_quorum(site) {
            return;
        }
        for arbiter in request.yield_inquired(out) {
            self.forget_short_ledger(arbiter);
        }
        self.hold_up();
    }

    /// L4: a caller has registered with an arbiter while its permission is lent.
    pub(super) fn on_joined(
        &mut self,
        arbiter: SiteId,
        of: Try,
        change: Change,
        (session, version): (SessionNo, u64),
        out: &mut Out<LedgerPool>,
    ) {
        let about = change.ticket();
        if let Some(ledger) = self.ledgers.get_mut(&arbiter) {
            ledger.apply(change);
            ledger.version = version;
        }
        let request = self.request_of(of);
        if request.is_some_and(|request| request.held().any(|held| held == arbiter)) {
            out.send(arbiter, Message::Ack { of, about, session });
        } else {
            self.forget_short_ledger(arbiter);
            out.ignore("the permission is not in hand");
        }
    }

    /// L1: a registration with an arbiter is over. If the caller has left, it has left everywhere.
    pub(super) fn on_gone(
        &mut self,
        site: &Shared,
        arbiter: SiteId,
        about: Ticket,
        closed: bool,
        version: u64,
        out: &mut Out<LedgerPool>,
    ) {
        for (&other, ledger) in self.ledgers.iter_mut() {
            if other == arbiter {
                ledger.version = version;
            }
            if other == arbiter || !closed {
                ledger.apply(Change::Leave(about));
            }
        }
        if !self.has_in_hand(arbiter) {
            self.forget_short_ledger(arbiter);
            return out.ignore("the permission is not in hand");
        }
        self.try_to_enter(site, out);
    }

    /// An arbiter has raised its fence ceiling.
    pub(super) fn on_raised(
        &mut self,
        site: &Shared,
        arbiter: SiteId,
        ticket: Ticket,
        ceil: Fence,
        out: &mut Out<LedgerPool>,
    ) {
        let request = self.request.as_mut().filter(|request| request.of.ticket == ticket);
        let Some(permission) = request.and_then(|r| r.permissions.get_mut(&arbiter)) else {
            return out.ignore("the request is over");
        };
        permission.fences.ceil = permission.fences.ceil.max(ceil);
        self.try_to_enter(site, out);
    }

    /// A caller inside leaves.
    pub(super) fn release(
        &mut self,
        site: &Shared,
        id: ClaimId,
        out: &mut Out<LedgerPool>,
    ) -> Result<(), Violation> {
        let stay = self.stays.remove(&id).ok_or(Violation::NotInside(id))?;
        stay.leave(site, self.options, out);
        Ok(())
    }

    /// A caller gives up waiting. If the request was made for it, the next caller asks anew.
    pub(super) fn abandon(
        &mut self,
        site: &Shared,
        id: ClaimId,
        out: &mut Out<LedgerPool>,
    ) -> Result<(), Violation> {
        let caller = self.waiting.remove(&id).ok_or(Violation::NotWaiting(id))?;
        self.order.remove(&caller.ticket);
        if let Some(mut request) = self.request.take_if(|r| r.of.ticket == caller.ticket) {
            request.cancel(site, out);
            self.forget_short_ledgers();
        }
        self.ask_for_next(site, out);
        Ok(())
    }

    /// Records that the callers with `no_wait` have others before them, or do not fit.
    pub(super) fn hold_up(&mut self) {
        for caller in self.waiting.values_mut() {
            caller.no_wait.hold_up();
        }
    }

    /// The callers for which a request was made: all that wait, if it is the present one.
    pub(super) fn on_behalf(&self, request: Ticket) -> Vec<Ticket> {
        let is_present = self.request.as_ref().is_some_and(|it| it.of.ticket == request);
        // The present one comes last: so no other is made while they leave.
        if is_present { self.order.iter().rev().copied().collect() } else { vec![request] }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.stays.is_empty()
    }

    pub(super) fn views(&self) -> Vec<ClaimView> {
        let waiting = self.waiting.values().map(|caller| self.view_of_waiting(caller));
        waiting.chain(self.stays.values().map(Stay::view)).collect()
    }

    pub(super) fn view_of(&self, id: ClaimId) -> Option<ClaimView> {
        let waiting = self.waiting.get(&id).map(|caller| self.view_of_waiting(caller));
        waiting.or_else(|| self.stays.get(&id).map(Stay::view))
    }

    fn view_of_waiting(&self, caller: &Caller) -> ClaimView {
        ClaimView {
            ticket: caller.ticket,
            inside: false,
            held_up: caller.no_wait == NoWait::HeldUp,
            missing: self.request.iter().flat_map(Request::missing).collect(),
        }
    }

    /// The present try, if that is the one a message is about.
    fn request_of(&mut self, of: Try) -> Option<&mut Request> {
        self.request.as_mut().filter(|request| request.of == of)
    }

    /// The permission that an answer is about, if it is in hand or not as the answer says.
    fn permission(
        &mut self,
        arbiter: SiteId,
        of: Try,
        held: bool,
        out: &mut Out<LedgerPool>,
    ) -> Result<Option<&mut Permission>, Violation> {
        self.check_asked(arbiter, of)?;
        let permission = self.request_of(of).and_then(|r| r.permissions.get_mut(&arbiter));
        let permission = permission.filter(|permission| permission.held == held);
        if permission.is_none() {
            out.ignore("the request is over");
        }
        Ok(permission)
    }

    /// Refuses an answer of a site that the present try did not ask.
    fn check_asked(&self, arbiter: SiteId, of: Try) -> Result<(), Violation> {
        let request = self.request.as_ref().filter(|request| request.of == of);
        let asked = request.is_none_or(|request| request.permissions.contains_key(&arbiter));
        if asked { Ok(()) } else { Err(Violation::NotAsked(arbiter)) }
    }

    fn has_in_hand(&self, arbiter: SiteId) -> bool {
        self.request.iter().flat_map(Request::held).any(|held| held == arbiter)
    }

    /// Updates the copy of an arbiter's ledger. All updates count, also those that come with a
    /// permission for a request that is over: the next one builds on them.
    fn learn(&mut self, arbiter: SiteId, update: Update) {
        match self.ledgers.get_mut(&arbiter) {
            Some(ledger) => ledger.update(update),
            None => {
                let mut ledger = Ledger::default();
                ledger.update(update);
                self.ledgers.insert(arbiter, ledger);
            }
        }
    }

    /// L1: drops the ledger of a permission that is not in hand any more. A copy of a long one is
    /// kept, but does not count.
    pub(super) fn forget_short_ledger(&mut self, arbiter: SiteId) {
        let short = self.ledgers.get(&arbiter).is_some_and(|ledger| ledger.version == 0);
        if short && !self.has_in_hand(arbiter) {
            self.ledgers.remove(&arbiter);
        }
    }

    pub(super) fn forget_short_ledgers(&mut self) {
        for arbiter in self.ledgers.keys().copied().collect::<Vec<_>>() {
            self.forget_short_ledger(arbiter);
        }
    }
}
