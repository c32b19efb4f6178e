//! A site that holds the token: events 2, 5, 6 and 9 of the paper, and the captain's side of 1
//! and 4.

use std::collections::BTreeMap;

use quorate_quorum::{SiteId, SiteSet};

use super::lease::TokenLease;
use super::requester::has_passed;
use super::state::{Follower, HeldToken, Request};
use super::{Admission, Epoch, Message, Stamp, StepContext, Timer, Token, TokenLock, Via, Waiter};
use crate::Tick;
use crate::group::Group;

impl TokenLock {
    fn held_mut(&mut self) -> &mut HeldToken {
        self.held.as_mut().expect("only a holder does this")
    }

    /// Event 2, request. A holder serves it; any other site adds the sender to its request set.
    pub(super) fn on_request(
        &mut self,
        context: &mut StepContext<'_>,
        from: SiteId,
        request: &Request,
        again: bool,
    ) {
        if !self.record_request(from, request) {
            return context.out.ignore("a later request of that site was heard");
        }
        if self.held.is_some() {
            self.serve_request(context, from, request, again);
        } else {
            self.add_to_request_set(context, from);
        }
    }

    /// Event 2 at a holder: admits a request, queues it, or passes the token on.
    ///
    /// A request for the occupancy's group joins it while the captain is inside, whatever is in the
    /// queue. After the captain has left it joins only if the queue is empty.
    pub(super) fn serve_request(
        &mut self,
        context: &mut StepContext<'_>,
        from: SiteId,
        request: &Request,
        again: bool,
    ) {
        let captain_inside = self.inside.is_some();
        let Request { sn, groups } = request;
        let (sn, reached) = (*sn, context.reaches(from));
        let held = self.held_mut();
        if held.token.is_served(from, sn) {
            return self.answer_served_request(context, from, sn, again);
        }
        let fits = held.group.as_ref().is_some_and(|group| groups.contains(group));
        if fits && reached && (captain_inside || held.token.queue.is_empty()) {
            return self.admit_follower(context, from, sn);
        }
        held.token.enqueue(from, sn, groups);
        if !captain_inside && held.followers.is_empty() {
            self.pass_token(context);
        }
        if again && self.held.is_some() {
            context.send(from, Message::Alive { sn });
        }
    }

    /// Answers a request that was served already. If its site does not follow us it gets a hint
    /// (E5). A start is repeated only if the request was sent again (O5).
    fn answer_served_request(
        &mut self,
        context: &mut StepContext<'_>,
        from: SiteId,
        sn: u64,
        again: bool,
    ) {
        let held = self.held_mut();
        let follows = held.followers.get(&from).is_some_and(|follower| follower.sn == sn);
        match (follows, again) {
            (false, _) => context.send(from, Message::Hint),
            (true, true) => self.admit_follower(context, from, sn),
            (true, false) => context.out.ignore("let in already"),
        }
    }

    /// Admits a request to the occupancy, and starts T2 for the first follower only (O12).
    ///
    /// A new follower counts as having answered: a captain that just received the token has a short
    /// lease, and can extend the follower's deadline soon.
    fn admit_follower(&mut self, context: &mut StepContext<'_>, site: SiteId, sn: u64) {
        let until = self.valid_until();
        let held = self.held_mut();
        let first = held.followers.is_empty();
        held.followers.insert(site, Follower { sn, until, has_answered: until.is_some() });
        held.token.mark_served(site, sn);
        let (group, stamp) = (held.occupancy_group(), held.token.stamp);
        if first {
            context.arm(Timer::T2, self.options.t2);
        }
        context.send(site, Message::Start(Admission { sn, group, stamp, until }));
    }

    /// Starts an occupancy for our own request, which is next in the queue, and admits the others
    /// of its entry that are reached.
    fn start_occupancy_from_queue(&mut self, context: &mut StepContext<'_>) {
        let (me, sn) = (context.me(), self.sn);
        let held = self.held_mut();
        let entry = held.token.queue.take_next(|site| context.reaches(site));
        let stamp = held.start_round(entry.group.clone());
        held.token.mark_served(me, sn);
        context.disarm(Timer::T1);
        self.request_set = SiteSet::new();
        self.t1_expiries = 0;
        for Waiter { site, sn } in entry.waiting {
            if site != me && !self.held_mut().token.is_served(site, sn) {
                self.admit_follower(context, site, sn);
            }
        }
        self.enter_occupancy(context, entry.group, stamp, Via::Captain, None);
    }

    /// Event 1, state HI: an idle holder starts an occupancy for its own request, without messages.
    pub(super) fn start_occupancy_when_idle(
        &mut self,
        context: &mut StepContext<'_>,
        group: Group,
    ) {
        let (me, sn) = (context.me(), self.sn);
        let held = self.held_mut();
        let stamp = held.start_round(group.clone());
        held.token.mark_served(me, sn);
        self.resume_renewal(context);
        self.enter_occupancy(context, group, stamp, Via::Captain, None);
    }

    /// Event 1, state HS: a captain that has left requests again while followers are inside. It
    /// joins its own occupancy if the queue is empty, else it queues.
    ///
    /// It needs no T1, because its own request cannot get lost (E21). The same holds for an idle
    /// holder that waits until its lease is renewed.
    pub(super) fn serve_own_request(&mut self, context: &mut StepContext<'_>) {
        let (me, sn) = (context.me(), self.sn);
        let groups = self.pending.as_ref().expect("a request is pending").groups.clone();
        let held = self.held_mut();
        let free = held.token.queue.is_empty();
        match held.group.clone().filter(|group| free && groups.contains(group)) {
            Some(group) => {
                held.token.mark_served(me, sn);
                let stamp = held.token.stamp;
                self.enter_occupancy(context, group, stamp, Via::Captain, None);
            }
            None => {
                held.token.enqueue(me, sn, &groups);
                if held.followers.is_empty() && !self.needs_renewal(context) {
                    return self.pass_token(context); // all others that wait are out of reach
                }
                self.resume_renewal(context);
            }
        }
    }

    /// Events 4 and 5: ends the occupancy if nobody is inside any more, and passes the token on if
    /// somebody waits.
    pub(super) fn end_empty_occupancy(&mut self, context: &mut StepContext<'_>) {
        let captain_inside = self.inside.is_some();
        let held = self.held_mut();
        if !held.followers.is_empty() {
            return;
        }
        context.disarm(Timer::T2);
        if captain_inside {
            return;
        }
        held.group = None;
        if held.has_used_up_rounds() {
            self.abandon_token(context);
        } else {
            self.pass_token(context);
        }
    }

    /// The next captain's request, of a site that is reached. A token for another site would be
    /// lost, and everybody would wait for a new one (O20, scenario `token/own_20_out_of_reach`).
    fn next_waiter(&self, context: &StepContext<'_>) -> Option<Waiter> {
        self.held.as_ref()?.token.queue.next(|site| context.reaches(site))
    }

    /// Whether an idle holder has waiters, and reaches none of them.
    pub(super) fn reaches_no_waiter(&self, context: &StepContext<'_>) -> bool {
        let waits = |held: &HeldToken| held.followers.is_empty() && !held.token.queue.is_empty();
        self.inside.is_none()
            && self.held.as_ref().is_some_and(waits)
            && self.next_waiter(context).is_none()
    }

    /// Passes the token to the next waiter, or starts the next occupancy if that is our own
    /// request: a token is never sent to its own site (E7). It stays here while no waiter is
    /// reached, and makes way for another one if a voter refuses it (O21).
    ///
    /// If a third of the lease is over it is renewed first (O9, scenario
    /// `token/own_9_renewed_before_it_is_handed_on`).
    pub(super) fn pass_token(&mut self, context: &mut StepContext<'_>) {
        if self.held_mut().is_refused {
            return self.drop_token(context);
        }
        let Some(next) = self.next_waiter(context) else { return };
        if next.site == context.me() {
            return self.start_occupancy_from_queue(context);
        }
        if self.needs_renewal(context) {
            return self.resume_renewal(context); // `pass_idle_token` continues
        }
        let until = self.valid_until();
        let token = self.forget_token(context);
        self.request_set = token.queue.captains().iter().chain(self.request_set.iter()).collect();
        self.request_set.insert(next.site);
        self.request_set.remove(context.me());
        context.send(next.site, Message::Token { token, until });
        if self.pending.is_some() {
            self.arm_t1(context);
        }
    }

    /// Removes the token from this site, and records its stamp as the last one held.
    pub(super) fn forget_token(&mut self, context: &mut StepContext<'_>) -> Token {
        let held = self.held.take().expect("only a holder does this");
        self.last_held = self.last_held.max(held.token.stamp);
        context.disarm(Timer::T2);
        if held.lease.is_some() {
            context.disarm(Timer::Renew);
            context.disarm(Timer::Lapse);
        }
        held.token
    }

    /// Event 6, token: accepts a token unless it is out of date or one is here already (E14).
    pub(super) fn on_token(
        &mut self,
        context: &mut StepContext<'_>,
        from: SiteId,
        token: Token,
        until: Option<Tick>,
    ) {
        let epoch = token.stamp.epoch;
        if epoch < self.durable.floor() || has_passed(until, context.now) {
            return context.out.ignore("the token is of an epoch or a lease that is over");
        }
        if token.stamp <= self.last_held {
            return context.out.ignore("the token has been here already");
        }
        if self.held.as_ref().is_some_and(|held| held.token.stamp.epoch >= epoch) {
            return context.out.ignore("a token is here"); // E14
        }
        self.adopt_epoch(context, epoch);
        assert!(self.inside.is_none(), "nobody is inside in a round before the token's");
        let lease = until.map(|until| TokenLease::delegated(from, until));
        self.accept_token(context, HeldToken::new(token, lease));
    }

    /// Accepts a token, received or made, and decides who is next.
    ///
    /// Requests that arrived without the token are queued, if their sites are reached (E4). If no
    /// request of ours is pending, all our numbers are marked as served: otherwise the token would
    /// return for ever (O4).
    pub(super) fn accept_token(&mut self, context: &mut StepContext<'_>, held: HeldToken) {
        let (me, token) = (context.me(), &mut self.held.insert(held).token);
        let known = self.last_requests.iter().filter(|(site, _)| context.reaches(**site));
        for (&site, request) in known {
            token.enqueue(site, request.sn, &request.groups);
        }
        match &self.pending {
            None => token.mark_served(me, self.sn),
            Some(pending) => {
                token.mark_served(me, pending.sn - 1);
                token.enqueue(me, pending.sn, &pending.groups);
            }
        }
        self.arm_lapse(context);
        self.arm_renewal(context);
        match self.next_waiter(context) {
            Some(next) if next.site == me => self.start_occupancy_from_queue(context),
            next => {
                let held = self.held_mut();
                held.token.stamp = held.token.stamp.next();
                let used_up = held.has_used_up_rounds();
                if next.is_some() && !used_up {
                    return self.pass_token(context);
                }
                self.request_set = SiteSet::new();
                if used_up {
                    self.abandon_token(context);
                }
            }
        }
    }

    /// Event 5, complete: a follower has left.
    pub(super) fn on_complete(
        &mut self,
        context: &mut StepContext<'_>,
        from: SiteId,
        sn: u64,
        epoch: Epoch,
    ) {
        if self.follower_mut(from, sn, epoch).is_none() {
            return context.out.ignore("nobody follows with that request");
        }
        self.held_mut().followers.remove(&from);
        self.end_empty_occupancy(context);
    }

    /// Handles a follower's answer to `is_complete`: it is still inside.
    pub(super) fn on_busy(
        &mut self,
        context: &mut StepContext<'_>,
        from: SiteId,
        sn: u64,
        epoch: Epoch,
    ) {
        match self.follower_mut(from, sn, epoch) {
            Some(follower) => follower.has_answered = true,
            None => context.out.ignore("nobody follows with that request"),
        }
    }

    fn follower_mut(&mut self, site: SiteId, sn: u64, epoch: Epoch) -> Option<&mut Follower> {
        let held = self.held.as_mut().filter(|held| held.token.stamp.epoch == epoch)?;
        held.followers.get_mut(&site).filter(|follower| follower.sn == sn)
    }

    /// Event 9, T2: asks all followers whether they are still inside, and arms T2 again (E13).
    ///
    /// With leases, the deadline of a follower is extended only if it has answered since the last
    /// extension. A follower whose deadline has passed has stopped, and is removed.
    pub(super) fn on_t2(&mut self, context: &mut StepContext<'_>) {
        let until = self.valid_until();
        let Some(held) = self.held.as_mut().filter(|held| !held.followers.is_empty()) else {
            return context.out.ignore("nobody follows");
        };
        held.followers.retain(|_, follower| !has_passed(follower.until, context.now));
        let (group, stamp) = (held.occupancy_group(), held.token.stamp);
        for (&site, follower) in &mut held.followers {
            if std::mem::take(&mut follower.has_answered) {
                follower.until = until;
            }
            let Follower { sn, until, .. } = *follower;
            let admission = Admission { sn, group: group.clone(), stamp, until };
            context.send(site, Message::IsComplete(admission));
        }
        context.arm(Timer::T2, self.options.t2);
        self.end_empty_occupancy(context);
    }
}

impl HeldToken {
    /// A token that was just received or made: nobody is inside.
    pub(super) fn new(token: Token, lease: Option<TokenLease>) -> Self {
        Self { token, group: None, followers: BTreeMap::new(), lease, is_refused: false }
    }

    fn occupancy_group(&self) -> Group {
        self.group.clone().expect("an occupancy is running")
    }

    /// Starts the round of an occupancy. The round grows each time, not only at an idle holder
    /// (E1).
    fn start_round(&mut self, group: Group) -> Stamp {
        assert!(self.followers.is_empty(), "no follower of the previous occupancy is left");
        self.token.stamp = self.token.stamp.next();
        self.group = Some(group);
        self.token.stamp
    }

    fn has_used_up_rounds(&self) -> bool {
        self.token.stamp.is_near_last()
    }
}
