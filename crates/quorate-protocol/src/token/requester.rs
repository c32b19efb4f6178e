//! A site that requests: events 1, 3, 4, 7 and 10 of the paper, and giving up.

use quorate_quorum::SiteId;

use super::state::{Inside, PendingClaim, Request};
use super::{Admission, Grant, Message, Stamp, State, StepContext, Timer, TokenLock, Via};
use crate::group::{Claim, Group};
use crate::{ClaimId, Tick};

impl TokenLock {
    /// Event 1, a local request. It is legal only at a site that has no request yet (E22).
    pub(super) fn acquire(&mut self, context: &mut StepContext<'_>, id: ClaimId, claim: Claim) {
        let Claim { groups, no_wait } = claim;
        let first = groups.iter().next().cloned().expect("a claim names a group");
        let state = self.state();
        self.number_request();
        let sn = self.sn;
        let (resent, retried, held_up) = (false, false, false);
        self.pending = Some(PendingClaim { id, sn, groups, resent, retried, no_wait, held_up });
        self.t1_expiries = 0;
        match state {
            State::HI if !self.needs_renewal(context) => {
                self.start_occupancy_when_idle(context, first);
            }
            State::HI | State::HS => self.serve_own_request(context),
            _ => {
                self.arm_t1(context);
                self.request_or_prepare(context);
            }
        }
    }

    /// Sends our request to the request set, or prepares an epoch if there seems to be no token.
    /// A prepare is a request too: a holder that receives one serves it.
    pub(super) fn request_or_prepare(&mut self, context: &mut StepContext<'_>) {
        if self.needs_new_token(context) {
            self.prepare_epoch(context);
        } else {
            self.send_requests(context);
        }
    }

    /// Marks a `no_wait` request: it would have to wait.
    pub(super) fn mark_held_up(&mut self) {
        if let Some(pending) = &mut self.pending {
            pending.held_up = pending.no_wait;
        }
    }

    /// Takes a fresh number for the next request, or for the next attempt of the pending one.
    pub(super) fn number_request(&mut self) {
        self.sn += 1;
        self.durable.cover(self.sn);
    }

    /// Arms T1, longer after each expiry. In quarantine it is armed for the quarantine's end.
    pub(super) fn arm_t1(&mut self, context: &mut StepContext<'_>) {
        let timeout = self.options.timeout(context.me().index(), self.t1_expiries);
        let quarantine = self.quarantined_until.map(|until| until.since(context.now));
        context.arm(Timer::T1, quarantine.filter(|rest| !rest.is_zero()).unwrap_or(timeout));
    }

    /// Sends our request to every member of the request set.
    pub(super) fn send_requests(&self, context: &mut StepContext<'_>) {
        for to in self.request_set.iter() {
            self.send_request(context, to);
        }
    }

    /// Sends our request to one site, unless we are in quarantine (O7).
    pub(super) fn send_request(&self, context: &mut StepContext<'_>, to: SiteId) {
        if self.is_quarantined(context) {
            return;
        }
        let pending = self.pending.as_ref().expect("a request is pending");
        let (sn, groups) = (pending.sn, pending.groups.clone());
        // A `no_wait` request needs an answer.
        context.send(to, Message::Request { sn, groups, again: pending.no_wait });
    }

    /// Event 2 without the token: adds a site to the request set. In state R we also send it our
    /// request, since it may get the token before us.
    pub(super) fn add_to_request_set(&mut self, context: &mut StepContext<'_>, site: SiteId) {
        let new = self.request_set.insert(site);
        if new && self.state() == State::R {
            self.send_request(context, site);
        }
    }

    /// Records a site's request; false if a later one of that site is known.
    pub(super) fn record_request(&mut self, from: SiteId, request: &Request) -> bool {
        if self.last_requests.get(&from).is_some_and(|last| last.sn > request.sn) {
            return false;
        }
        self.last_requests.insert(from, request.clone());
        true
    }

    /// Handles a hint: the sender has the token. **Deviation**: the paper has no such message, and
    /// a site may then never learn whom to ask (E5, scenario `token/e5_hint`).
    pub(super) fn on_hint(&mut self, context: &mut StepContext<'_>, from: SiteId) {
        if self.held.is_none() {
            self.add_to_request_set(context, from);
        } else {
            context.out.ignore("the token is here");
        }
    }

    /// Event 3, start: a captain admits us, if the start names our request (E11).
    pub(super) fn on_start(
        &mut self,
        context: &mut StepContext<'_>,
        captain: SiteId,
        admission: Admission,
    ) {
        if admission.stamp.epoch < self.durable.floor() || has_passed(admission.until, context.now)
        {
            return context.out.ignore("the start is of an epoch or a lease that is over");
        }
        self.follow_or_decline(context, captain, admission);
    }

    /// Event 10, `is_complete`: a captain asks whether we are still inside.
    pub(super) fn on_is_complete(
        &mut self,
        context: &mut StepContext<'_>,
        captain: SiteId,
        admission: Admission,
    ) {
        let epoch = admission.stamp.epoch;
        let over = epoch < self.durable.floor() || has_passed(admission.until, context.now);
        if let Some(inside) = self.inside.as_mut()
            && inside.via == Via::Follower(captain)
            && (inside.sn, inside.stamp.epoch) == (admission.sn, epoch)
        {
            inside.until = inside.until.max(admission.until);
            if self.options.lease.is_some() {
                self.arm_lapse(context);
                context.send(captain, Message::Busy { sn: admission.sn, epoch });
            }
            return context.out.ignore("still inside");
        }
        if over {
            return self.decline_admission(context, captain, &admission);
        }
        self.follow_or_decline(context, captain, admission);
    }

    /// Enters as a follower if the admission is for the pending request; declines it if it is for
    /// another one.
    fn follow_or_decline(
        &mut self,
        context: &mut StepContext<'_>,
        captain: SiteId,
        admission: Admission,
    ) {
        let Admission { sn, group, stamp, until } = admission;
        let waits = |pending: &PendingClaim| pending.sn == sn && pending.groups.contains(&group);
        if self.state() == State::R && self.pending.as_ref().is_some_and(waits) {
            self.abandon_attempt(context);
            self.durable.raise(stamp.epoch);
            context.disarm(Timer::T1);
            self.enter_occupancy(context, group, stamp, Via::Follower(captain), until);
            return self.arm_lapse(context);
        }
        let inside = self.inside.as_ref().map(|inside| (inside.sn, inside.via));
        if inside == Some((sn, Via::Follower(captain))) {
            return context.out.ignore("inside already");
        }
        self.decline_admission(context, captain, &Admission { sn, group, stamp, until });
    }

    /// Answers complete to a captain that we do not follow. In quarantine we do not answer: a
    /// caller from before the restart may still follow it.
    ///
    /// If the declined request is still pending it goes on under a fresh number (O8, scenario
    /// `token/own_8_declined_and_asked_again`). The captain counts the old number as complete; an
    /// `is_complete` that it sent earlier must not let us in.
    fn decline_admission(
        &mut self,
        context: &mut StepContext<'_>,
        captain: SiteId,
        admission: &Admission,
    ) {
        if self.is_quarantined(context) {
            return context.out.ignore("callers of a former life may be inside");
        }
        context.send(captain, Message::Complete { sn: admission.sn, epoch: admission.stamp.epoch });
        if self.pending.as_ref().is_some_and(|pending| pending.sn == admission.sn) {
            self.number_request();
            let sn = self.sn;
            self.pending.iter_mut().for_each(|pending| pending.sn = sn);
            self.request_set.insert(captain);
            self.send_requests(context);
        }
    }

    /// Grants the pending request.
    pub(super) fn enter_occupancy(
        &mut self,
        context: &mut StepContext<'_>,
        group: Group,
        stamp: Stamp,
        via: Via,
        until: Option<Tick>,
    ) {
        let pending = self.pending.take().expect("an admitted request was pending");
        assert!(pending.groups.contains(&group), "a request is granted a group that it names");
        self.inside = Some(Inside { id: pending.id, sn: pending.sn, stamp, via, until });
        let leased = self.options.lease.is_some();
        context.out.grant(pending.id, Grant { group, stamp, via, leased });
    }

    /// Event 4, leaving. A follower tells its captain; a captain ends the occupancy if it is empty.
    pub(super) fn release(&mut self, context: &mut StepContext<'_>) {
        let Some(Inside { sn, stamp, via, .. }) = self.inside.take() else {
            return context.out.ignore("the grant has just lapsed");
        };
        match via {
            Via::Captain => self.end_empty_occupancy(context),
            Via::Follower(captain) => {
                context.disarm(Timer::Lapse);
                context.send(captain, Message::Complete { sn, epoch: stamp.epoch });
            }
        }
    }

    /// Drops the pending request. A start or token that arrives for it later is declined.
    pub(super) fn abandon(&mut self, context: &mut StepContext<'_>) {
        self.pending = None;
        let (me, sn) = (context.me(), self.sn);
        match &mut self.held {
            Some(held) => held.token.mark_served(me, sn),
            None => {
                context.disarm(Timer::T1);
                self.abandon_attempt(context);
            }
        }
    }

    /// Event 7, T1: the request or the token is lost, or both are slow.
    ///
    /// With `resend` the request is first sent again to all, and a holder that knows it answers.
    pub(super) fn on_t1(&mut self, context: &mut StepContext<'_>) {
        if self.state() != State::R {
            return context.out.ignore("nobody waits for the token");
        }
        if self.is_quarantined(context) {
            return self.arm_t1(context);
        }
        let pending = self.pending.as_mut().expect("a request is pending in state R");
        if self.options.resend && !pending.resent {
            pending.resent = true;
            let again =
                Message::Request { sn: pending.sn, groups: pending.groups.clone(), again: true };
            self.request_set = context.others();
            context.send_all(&again);
            return context.arm(Timer::T1, self.options.t2);
        }
        pending.resent = false;
        self.t1_expiries += 1;
        self.arm_t1(context);
        self.prepare_epoch(context);
    }

    /// Handles the holder's answer to a request that was sent again: the request is in its queue.
    pub(super) fn on_alive(&mut self, context: &mut StepContext<'_>, sn: u64) {
        let waits = self.state() == State::R;
        let Some(pending) = self.pending.as_mut().filter(|pending| waits && pending.sn == sn)
        else {
            return context.out.ignore("nobody waits for that answer any more");
        };
        pending.held_up = pending.no_wait;
        if std::mem::take(&mut pending.resent) {
            self.arm_t1(context);
        } else {
            context.out.ignore("nobody waits for that answer any more");
        }
    }
}

/// Whether a deadline has passed.
pub(super) fn has_passed(until: Option<Tick>, now: Tick) -> bool {
    until.is_some_and(|until| until <= now)
}
