//! A new token in place of a lost one: epochs, each promised by a quorum. They replace event 8 of
//! the paper, and what event 7 sends.

use std::collections::BTreeMap;

use quorate_quorum::{SiteId, SiteSet};

use super::check::EPOCH_MAX;
use super::lease::TokenLease;
use super::state::{Attempt, Deferred, HeldToken, Request, Vote};
use super::{Epoch, Message, Reason, State, StepContext, Token, TokenLock};
use crate::{Effect, Tick, Why};

/// A new token, made because the previous one is lost. No holder of the previous one is valid any
/// more: every quorum intersects the one that promised, and there its leases are over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Regeneration {
    /// The epoch of the new token.
    pub epoch: Epoch,
    /// The highest epoch known before; 0 if there was no token yet.
    pub before: Epoch,
    /// The sites that promised it.
    pub promised: SiteSet,
}

impl TokenLock {
    /// Event 7, the message to all: asks every site to promise an epoch of our own.
    ///
    /// A prepare carries our request under a fresh number (O1). It does not raise our own floor:
    /// only we can make this epoch, so we still accept a token or start of a lower one (O6).
    pub(super) fn prepare_epoch(&mut self, context: &mut StepContext<'_>) {
        self.abandon_attempt(context);
        let known = self.highest_epoch();
        if known.0 >= EPOCH_MAX {
            return context.out.ignore("the epochs of this lock are used up");
        }
        self.number_request();
        let (me, n, sn) = (context.me(), context.site.n(), self.sn);
        let pending = self.pending.as_mut().expect("a request is pending");
        pending.sn = sn;
        let groups = pending.groups.clone();
        let epoch = known.next_of(me, n);
        (self.seen_epoch, self.durable.tried) = (epoch, epoch);
        let (votes, refused) = (BTreeMap::new(), SiteSet::new());
        let attempt = Attempt { epoch, votes, refused, sent: context.now };
        self.request_set = context.others();
        context.send_all(&Message::Prepare { epoch, sn, groups });
        self.vote_for(context, attempt);
    }

    /// Runs our own attempt, with our vote unless a lease or the quarantine forbids it.
    fn vote_for(&mut self, context: &mut StepContext<'_>, mut attempt: Attempt) {
        if !self.is_bound_by_lease(context) {
            let pending = self.pending.as_ref().expect("an attempt is made for a request");
            let (sn, groups) = (pending.sn, Some(pending.groups.clone()));
            let lease = self.grant_voter_lease(context, attempt.epoch);
            attempt.votes.insert(context.me(), Vote { sn, groups, lease });
        }
        self.attempt = Some(attempt);
        self.make_token_if_promised(context);
    }

    /// Sends the prepare of a running attempt again; false if there is none, or `peer` has
    /// answered it.
    pub(super) fn repeat_prepare(&self, context: &mut StepContext<'_>, peer: SiteId) -> bool {
        let answered =
            |attempt: &Attempt| attempt.votes.contains_key(&peer) || attempt.refused.contains(peer);
        let attempt = self.attempt.as_ref().filter(|attempt| !answered(attempt));
        let (Some(attempt), Some(pending)) = (attempt, &self.pending) else { return false };
        let (epoch, sn, groups) = (attempt.epoch, pending.sn, pending.groups.clone());
        context.send(peer, Message::Prepare { epoch, sn, groups });
        true
    }

    /// Abandons a running attempt, and withdraws its epoch at all sites.
    pub(super) fn abandon_attempt(&mut self, context: &mut StepContext<'_>) {
        if let Some(Attempt { epoch, .. }) = self.attempt.take() {
            self.end_voter_lease(epoch);
            context.send_all(&Message::Withdraw { epoch });
        }
    }

    /// Event 8, `gen_token`, of which prepare takes the place: promises the epoch or refuses it. A
    /// holder refuses, and serves the request.
    pub(super) fn on_prepare(
        &mut self,
        context: &mut StepContext<'_>,
        from: SiteId,
        epoch: Epoch,
        request: &Request,
    ) {
        self.seen_epoch = self.seen_epoch.max(epoch);
        let is_new = self.record_request(from, request);
        if self.held.is_some() {
            self.send_nack(context, from, epoch, Reason::Holder);
            if is_new {
                self.serve_request(context, from, request, false);
            }
            return;
        }
        self.add_to_request_set(context, from);
        self.answer_prepare(context, from, epoch);
    }

    /// Promises an epoch, refuses it, or defers the answer: while a promise of ours is open, its
    /// epoch may still be withdrawn (O19, scenario `token/own_19_all_votes_are_needed`).
    fn answer_prepare(&mut self, context: &mut StepContext<'_>, from: SiteId, epoch: Epoch) {
        let own = self.attempt.as_ref().map_or(Epoch::default(), |attempt| attempt.epoch);
        if epoch <= self.durable.floor().max(own) {
            self.send_nack(context, from, epoch, Reason::Higher);
        } else if self.has_open_promise(context) {
            self.defer_prepare(context, from, epoch);
        } else if self.is_bound_by_lease(context) {
            self.send_nack(context, from, epoch, Reason::Leased);
        } else {
            self.abandon_attempt(context);
            self.durable.pending.insert(epoch);
            let lease = self.grant_voter_lease(context, epoch);
            let groups = self.pending.as_ref().map(|pending| pending.groups.clone());
            context.send(from, Message::Promise { epoch, sn: self.sn, groups, lease });
        }
    }

    /// Keeps the highest prepare until our promise is no longer open, and refuses the other.
    fn defer_prepare(&mut self, context: &mut StepContext<'_>, from: SiteId, epoch: Epoch) {
        let this = Deferred { from, epoch };
        let (kept, refused) = match self.deferred {
            Some(other) if other.epoch > epoch => (other, Some(this)),
            other => (this, other),
        };
        self.deferred = Some(kept);
        if let Some(Deferred { from, epoch }) = refused.filter(|other| other.from != kept.from) {
            self.send_nack(context, from, epoch, Reason::Higher);
        }
    }

    /// Our voter lease has ended early: answers the deferred prepare, and votes for our own
    /// attempt if it has no vote of ours yet (O19).
    fn use_freed_vote(&mut self, context: &mut StepContext<'_>) {
        if let Some(Deferred { from, epoch }) = self.deferred.take() {
            self.answer_prepare(context, from, epoch);
        }
        let me = context.me();
        if let Some(attempt) = self.attempt.take_if(|attempt| !attempt.votes.contains_key(&me)) {
            self.vote_for(context, attempt);
        }
    }

    fn send_nack(&self, context: &mut StepContext<'_>, to: SiteId, epoch: Epoch, reason: Reason) {
        let seen = self.seen_epoch.max(self.durable.floor());
        context.send(to, Message::Nack { epoch, seen, reason });
    }

    /// Counts a promise. One for an attempt that was abandoned is answered by withdraw.
    pub(super) fn on_promise(
        &mut self,
        context: &mut StepContext<'_>,
        from: SiteId,
        epoch: Epoch,
        vote: Vote,
    ) {
        if let Some(groups) = vote.groups.clone() {
            self.record_request(from, &Request { sn: vote.sn, groups });
        }
        match &mut self.attempt {
            Some(attempt) if attempt.epoch == epoch => {
                attempt.votes.insert(from, vote);
                self.make_token_if_promised(context);
            }
            _ if self.durable.valid == epoch => context.out.ignore("the epoch has begun"),
            _ => context.send(from, Message::Withdraw { epoch }),
        }
    }

    /// Makes the token of our epoch once a quorum has promised it. Its lease runs from when prepare
    /// was sent; if it is over already the attempt is abandoned (O2).
    fn make_token_if_promised(&mut self, context: &mut StepContext<'_>) {
        let Some(attempt) = &self.attempt else { return };
        let promised: SiteSet = attempt.votes.keys().copied().collect();
        if !context.site.is_quorum(&promised) {
            return;
        }
        let until = |lease| attempt.sent + self.options.counted(lease);
        let voters =
            attempt.votes.iter().filter_map(|(&site, vote)| Some((site, until(vote.lease?))));
        let voters: BTreeMap<SiteId, Tick> = voters.collect();
        let lease = self.options.lease.map(|_| TokenLease::from_promises(voters, context));
        if lease.as_ref().is_some_and(|lease| lease.until <= context.now) {
            return self.abandon_attempt(context);
        }
        assert!(self.state() == State::R, "a site that makes a token has a pending request");
        assert!(self.durable.floor() <= attempt.epoch, "a promise ends the voter's own attempt");
        let Attempt { epoch, votes, .. } = self.attempt.take().expect("an attempt is running");
        self.deferred = None; // its site learns of the new epoch
        let before = self.durable.valid;
        self.durable.raise(epoch);
        context.out.push(Effect::Regenerated(Regeneration { epoch, before, promised }));
        let token = self.new_token(context.me(), epoch, votes);
        context.send_all(&Message::NewEpoch { epoch });
        self.accept_token(context, HeldToken::new(token, lease));
    }

    /// A token of `epoch` that queues our own request, then those of the voters.
    fn new_token(&self, me: SiteId, epoch: Epoch, votes: BTreeMap<SiteId, Vote>) -> Token {
        let mut token = Token::new(epoch, 0);
        let pending = self.pending.as_ref().expect("a request is pending");
        token.enqueue(me, pending.sn, &pending.groups);
        for (site, Vote { sn, groups, .. }) in votes {
            match groups {
                None => token.mark_served(site, sn),
                Some(groups) => {
                    token.mark_served(site, sn.saturating_sub(1));
                    token.enqueue(site, sn, &groups);
                }
            }
        }
        token
    }

    /// Counts a refusal. The attempt ends if the voter holds the token, or if the sites that have
    /// promised, and those that are reached and have not refused, are no quorum (O10, O20, scenario
    /// `token/own_10_two_try_at_once`). T1 then starts the next attempt.
    pub(super) fn on_nack(
        &mut self,
        context: &mut StepContext<'_>,
        from: SiteId,
        epoch: Epoch,
        seen: Epoch,
        reason: Reason,
    ) {
        self.seen_epoch = self.seen_epoch.max(seen);
        let attempt = self.attempt.as_mut().filter(|attempt| attempt.epoch == epoch);
        let Some(attempt) = attempt else {
            return context.out.ignore("that attempt was given up");
        };
        attempt.refused.insert(from);
        let may_promise = |site: &SiteId| {
            let promised = attempt.votes.contains_key(site);
            promised || context.reaches(*site) && !attempt.refused.contains(*site)
        };
        let rest = SiteId::all(context.site.n()).filter(may_promise);
        if reason == Reason::Holder || !context.site.is_quorum(&rest.collect()) {
            self.abandon_attempt(context);
            if reason == Reason::Higher && self.retry_attempt(context) {
                return;
            }
        }
        self.mark_held_up();
    }

    /// Tries once more, with a higher epoch, if there is no token: the floors of names that nobody
    /// used differ between sites (O22). False if it was tried already.
    fn retry_attempt(&mut self, context: &mut StepContext<'_>) -> bool {
        let again = self.needs_new_token(context);
        let pending = self.pending.as_mut().filter(|pending| again && !pending.retried);
        let Some(pending) = pending else { return false };
        pending.retried = true;
        self.prepare_epoch(context);
        true
    }

    /// Handles the announcement of a new token. A site with a pending request sends it to the
    /// maker.
    pub(super) fn on_new_epoch(
        &mut self,
        context: &mut StepContext<'_>,
        from: SiteId,
        epoch: Epoch,
    ) {
        if epoch < self.durable.floor() {
            return context.out.ignore("a later epoch was promised");
        }
        self.adopt_epoch(context, epoch);
        if self.held.is_none() {
            self.request_set.insert(from);
            if self.state() == State::R {
                self.send_request(context, from);
            }
        }
    }

    /// Records that an epoch is real, and ends everything of a lower one. A grant of a lower epoch
    /// is revoked before a token of this one is accepted (O3).
    pub(super) fn adopt_epoch(&mut self, context: &mut StepContext<'_>, epoch: Epoch) {
        self.abandon_attempt(context);
        if let Some(Deferred { from, epoch }) = self.deferred.take() {
            self.send_nack(context, from, epoch, Reason::Leased);
        }
        self.durable.raise(epoch);
        self.seen_epoch = self.seen_epoch.max(epoch);
        if self.held.as_ref().is_some_and(|held| held.token.stamp.epoch < epoch) {
            self.abandon_token(context);
        }
        if self.inside.as_ref().is_some_and(|inside| inside.stamp.epoch < epoch) {
            self.revoke_grant(context, Why::DelegationExpired);
        }
    }

    /// Takes back a promise: its epoch will never be made, or its idle token was dropped. In the
    /// second case a site with a pending request makes another token at once.
    pub(super) fn on_withdraw(&mut self, context: &mut StepContext<'_>, epoch: Epoch) {
        if self.deferred.take_if(|deferred| deferred.epoch == epoch).is_some() {
            return;
        }
        let promised = self.durable.pending.remove(&epoch);
        if !promised && self.voter_lease.is_none_or(|lease| lease.epoch != epoch) {
            return context.out.ignore("that epoch was not promised");
        }
        self.end_voter_lease(epoch);
        if self.durable.valid == epoch && self.state() == State::R {
            self.request_or_prepare(context);
        } else {
            self.use_freed_vote(context);
        }
    }
}
