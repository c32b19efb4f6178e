//! A new token for a lost one: epochs, promised by a quorum. They replace events 7 and 8.

use std::collections::BTreeMap;

use quorate_quorum::{SiteId, SiteSet};

use super::lease::Lease;
use super::state::{Attempt, Held, Vote};
use super::{Desk, Epoch, Message, Reason, State, Token, TokenLock};
use crate::group::Groups;
use crate::{Effect, Tick, Why};

/// A new token, made because the former is lost: nobody who held that one counts on it any more,
/// because each quorum meets the one that promised, and there its leases are over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Regeneration {
    /// The epoch of the new token.
    pub epoch: Epoch,
    /// The highest epoch known before; 0 if there was no token yet.
    pub before: Epoch,
    /// Who promised it.
    pub promised: SiteSet,
}

impl TokenLock {
    /// Asks all to promise an epoch of our own. It carries the request too, under a fresh number:
    /// the former may count as served where nobody could let us in (E-own-1).
    ///
    /// Only we can make this epoch, so we go on to accept what is of a lower one (E-own-6).
    pub(super) fn prepare(&mut self, desk: &mut Desk<'_>) {
        self.abandon_attempt(desk);
        self.number_request();
        let (me, n, sn) = (desk.me(), desk.site.n(), self.sn);
        let want = self.want.as_mut().expect("who prepares an epoch wants something");
        want.sn = sn;
        let groups = want.groups.clone();
        let known = self.durable.floor().max(self.seen).max(self.durable.tried);
        let epoch = known.next_of(me, n);
        (self.seen, self.durable.tried) = (epoch, epoch);
        let mut votes = BTreeMap::new();
        if !self.is_leased(desk) {
            let lease = self.vouch(desk, epoch);
            votes.insert(me, Vote { sn, groups: Some(groups.clone()), lease });
        }
        let refused = SiteSet::new();
        self.attempt = Some(Attempt { epoch, votes, refused, sent: desk.now });
        self.ask = desk.others();
        desk.send_all(&Message::Prepare { epoch, sn, groups });
        self.try_to_make(desk);
    }

    /// Asks a site that has not heard of our attempt; false if there is none, or it has answered.
    pub(super) fn prepare_at(&self, desk: &mut Desk<'_>, peer: SiteId) -> bool {
        let answered =
            |attempt: &Attempt| attempt.votes.contains_key(&peer) || attempt.refused.contains(peer);
        let attempt = self.attempt.as_ref().filter(|attempt| !answered(attempt));
        let (Some(attempt), Some(want)) = (attempt, &self.want) else { return false };
        let (epoch, sn, groups) = (attempt.epoch, want.sn, want.groups.clone());
        desk.send(peer, Message::Prepare { epoch, sn, groups });
        true
    }

    /// Gives an attempt up, and tells those who may have promised it.
    pub(super) fn abandon_attempt(&mut self, desk: &mut Desk<'_>) {
        if let Some(Attempt { epoch, .. }) = self.attempt.take() {
            self.unvouch(epoch);
            desk.send_all(&Message::Withdraw { epoch });
        }
    }

    /// Somebody believes that the token is lost. A holder knows better.
    pub(super) fn on_prepare(
        &mut self,
        desk: &mut Desk<'_>,
        from: SiteId,
        epoch: Epoch,
        (sn, groups): (u64, &Groups),
    ) {
        self.seen = self.seen.max(epoch);
        let fresh = self.hear(from, sn, groups);
        if self.held.is_some() {
            self.refuse(desk, from, epoch, Reason::Holder);
            if fresh {
                self.serve(desk, from, (sn, groups), false);
            }
            return;
        }
        self.note_rival(desk, from);
        let own = self.attempt.as_ref().map_or(Epoch::default(), |attempt| attempt.epoch);
        if epoch <= self.durable.floor().max(own) {
            self.refuse(desk, from, epoch, Reason::Higher);
        } else if self.is_leased(desk) {
            self.refuse(desk, from, epoch, Reason::Leased);
        } else {
            self.abandon_attempt(desk);
            self.durable.pending.insert(epoch);
            let lease = self.vouch(desk, epoch);
            let groups = self.want.as_ref().map(|want| want.groups.clone());
            desk.send(from, Message::Promise { epoch, sn: self.sn, groups, lease });
        }
    }

    fn refuse(&self, desk: &mut Desk<'_>, to: SiteId, epoch: Epoch, reason: Reason) {
        let seen = self.seen.max(self.durable.floor());
        desk.send(to, Message::Nack { epoch, seen, reason });
    }

    /// A voter promises.
    pub(super) fn on_promise(
        &mut self,
        desk: &mut Desk<'_>,
        from: SiteId,
        epoch: Epoch,
        vote: Vote,
    ) {
        if let Some(groups) = &vote.groups {
            self.hear(from, vote.sn, groups);
        }
        match &mut self.attempt {
            Some(attempt) if attempt.epoch == epoch => {
                attempt.votes.insert(from, vote);
                self.try_to_make(desk);
            }
            _ if self.durable.valid == epoch => desk.out.ignore("the epoch has begun"),
            _ => desk.send(from, Message::Withdraw { epoch }),
        }
    }

    /// Makes the token of our epoch once a quorum has promised it, and a lease that counts from our
    /// asking still runs (E-own-2).
    fn try_to_make(&mut self, desk: &mut Desk<'_>) {
        let Some(attempt) = &self.attempt else { return };
        let voters: SiteSet = attempt.votes.keys().copied().collect();
        if !desk.site.is_quorum(&voters) {
            return;
        }
        let until = |lease| attempt.sent + self.options.counted(lease);
        let vouchers =
            attempt.votes.iter().filter_map(|(&site, vote)| Some((site, until(vote.lease?))));
        let vouchers: BTreeMap<SiteId, Tick> = vouchers.collect();
        let lease = self.options.lease.map(|_| Lease::of_voters(vouchers, desk));
        if lease.as_ref().is_some_and(|lease| lease.until <= desk.now) {
            return self.abandon_attempt(desk);
        }
        assert!(self.state() == State::R, "who makes a token waits for one");
        assert!(self.durable.floor() <= attempt.epoch, "who promised another gave its own up");
        let Attempt { epoch, votes, .. } = self.attempt.take().expect("it is there");
        let before = self.durable.valid;
        self.durable.raise(epoch);
        desk.out.push(Effect::Regenerated(Regeneration { epoch, before, promised: voters }));
        let mut token = Token::new(epoch, 0);
        let want = self.want.as_ref().expect("who waits wants something");
        token.add(desk.me(), want.sn, &want.groups);
        for (site, Vote { sn, groups, .. }) in votes {
            match groups {
                None => token.serve(site, sn),
                Some(groups) => {
                    token.serve(site, sn - 1);
                    token.add(site, sn, &groups);
                }
            }
        }
        desk.send_all(&Message::NewEpoch { epoch });
        self.take_up(desk, Held { token, group: None, followers: BTreeMap::new(), lease });
    }

    /// A voter does not promise. With one that has the token there is no need; otherwise the
    /// attempt goes on for as long as the rest may be a quorum: of two who try at one time, one
    /// succeeds (scenario `token/own_10_two_try_at_once`). All are asked again when T1 runs out.
    pub(super) fn on_nack(
        &mut self,
        desk: &mut Desk<'_>,
        from: SiteId,
        epoch: Epoch,
        (seen, reason): (Epoch, Reason),
    ) {
        self.seen = self.seen.max(seen);
        let attempt = self.attempt.as_mut().filter(|attempt| attempt.epoch == epoch);
        let Some(attempt) = attempt else {
            return desk.out.ignore("that attempt was given up");
        };
        attempt.refused.insert(from);
        let rest = SiteId::all(desk.site.n()).filter(|&site| !attempt.refused.contains(site));
        if reason == Reason::Holder || !desk.site.is_quorum(&rest.collect()) {
            self.abandon_attempt(desk);
        }
        self.hold_up();
    }

    /// There is a token of a new epoch.
    pub(super) fn on_new_epoch(&mut self, desk: &mut Desk<'_>, from: SiteId, epoch: Epoch) {
        if epoch < self.durable.floor() {
            return desk.out.ignore("a later epoch was promised");
        }
        self.learn(desk, epoch);
        if self.held.is_none() {
            self.ask.insert(from);
            if self.state() == State::R {
                self.ask_site(desk, from);
            }
        }
    }

    /// An epoch is real: whatever is of a lower one is over.
    pub(super) fn learn(&mut self, desk: &mut Desk<'_>, epoch: Epoch) {
        self.abandon_attempt(desk);
        self.durable.raise(epoch);
        self.seen = self.seen.max(epoch);
        if self.held.as_ref().is_some_and(|held| held.token.stamp.epoch < epoch) {
            self.step_down(desk);
        }
        if self.inside.as_ref().is_some_and(|inside| inside.stamp.epoch < epoch) {
            self.revoke(desk, Why::NoWord); // E-own-3
        }
    }

    /// An epoch that we promised will never be, or its holder has let the token go; then whoever
    /// has just asked for it makes another.
    pub(super) fn on_withdraw(&mut self, desk: &mut Desk<'_>, epoch: Epoch) {
        let promised = self.durable.pending.remove(&epoch);
        if !promised && self.vouched.is_none_or(|vouched| vouched.epoch != epoch) {
            return desk.out.ignore("that epoch was not promised");
        }
        self.unvouch(epoch);
        if self.durable.valid == epoch && self.state() == State::R {
            self.ask_or_prepare(desk);
        }
    }
}
