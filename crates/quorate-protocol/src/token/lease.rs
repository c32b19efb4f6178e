//! Leases: which voters have registered for a token, and until when.
//!
//! Epochs alone allow an old holder and a new one inside at the same time, and only fences tell
//! them apart. With leases, a voter that has registered for a token promises no other epoch until
//! its lease ends. The holder's lease runs from when it *asked*, the voter's from when it
//! *answered*, so the holder stops first. A follower stops no later than its captain.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_quorum::{SiteId, SiteSet};

use super::state::{HeldToken, Inside};
use super::{Epoch, Message, Options, State, StepContext, Timer, TokenLock, Via};
use crate::{Tick, Ticket, ValidityBasis, Why};

/// The lease of a voter: it promises no other epoch before this one ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct VoterLease {
    pub(super) epoch: Epoch,
    pub(super) until: Tick,
}

/// The lease of a token, at its holder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TokenLease {
    pub(super) until: Tick,
    /// The ordinal of this holder's last renewal, and when it was sent.
    renewal: u32,
    sent: Tick,
    /// The voters that have registered with this holder, and until when it counts on each.
    voters: BTreeMap<SiteId, Tick>,
    /// The previous holder, while the lease is delegated by it and not yet by a quorum of voters.
    delegator: Option<SiteId>,
    /// Whether a quorum has registered with this holder.
    pub(super) is_renewed: bool,
    /// How many renewals were sent since anybody was inside.
    idle: u32,
}

impl TokenLease {
    /// A lease delegated by the previous holder.
    pub(super) fn delegated(delegator: SiteId, until: Tick) -> Self {
        let (renewal, sent, voters) = (0, Tick::ZERO, BTreeMap::new());
        Self {
            until,
            renewal,
            sent,
            voters,
            delegator: Some(delegator),
            is_renewed: false,
            idle: 0,
        }
    }

    /// The lease of a new token, from those who promised its epoch, each until its deadline.
    pub(super) fn from_promises(voters: BTreeMap<SiteId, Tick>, context: &StepContext<'_>) -> Self {
        let (until, renewal, sent) = (Tick::ZERO, 0, Tick::ZERO);
        let lease =
            Self { until, renewal, sent, voters, delegator: None, is_renewed: true, idle: 0 };
        let until = lease.quorum_until(context).expect("a quorum has promised");
        Self { until, ..lease }
    }

    /// The latest time until which a quorum is registered; `None` if there is no quorum.
    fn quorum_until(&self, context: &StepContext<'_>) -> Option<Tick> {
        let mut by_time: Vec<(Tick, SiteId)> = self.voters.iter().map(|(&s, &t)| (t, s)).collect();
        by_time.sort_unstable_by(|one, other| other.cmp(one));
        let mut sites = SiteSet::new();
        by_time.into_iter().find_map(|(until, site)| {
            sites.insert(site);
            context.site.is_quorum(&sites).then_some(until)
        })
    }
}

impl TokenLock {
    /// Until when the token here, or else the grant of a follower, is valid; `None` if no lease
    /// limits it.
    pub(super) fn valid_until(&self) -> Option<Tick> {
        match (&self.held, &self.inside) {
            (Some(held), _) => held.lease.as_ref().map(|lease| lease.until),
            (None, Some(inside)) => inside.until,
            (None, None) => None,
        }
    }

    /// Until when the grant of the caller inside is valid, if a lease limits it.
    pub fn believes_until(&self) -> Option<Tick> {
        self.inside.as_ref().and(self.valid_until())
    }

    /// Whether a lease or the quarantine forbids this site to promise another epoch.
    pub(super) fn is_bound_by_lease(&self, context: &StepContext<'_>) -> bool {
        let own = self.attempt.as_ref().map(|attempt| attempt.epoch);
        let running = |lease: VoterLease| context.now < lease.until && own != Some(lease.epoch);
        self.voter_lease.is_some_and(running) || self.is_quarantined(context)
    }

    /// Whether our voter lease runs for an epoch that we promised to another site, and whose token
    /// may not have been made.
    pub(super) fn has_open_promise(&self, context: &StepContext<'_>) -> bool {
        let open = |lease: VoterLease| self.durable.pending.contains(&lease.epoch);
        self.is_bound_by_lease(context)
            && !self.is_quarantined(context)
            && self.voter_lease.is_some_and(open)
    }

    /// Starts or renews our voter lease for an epoch; its length, if there are leases.
    pub(super) fn grant_voter_lease(
        &mut self,
        context: &StepContext<'_>,
        epoch: Epoch,
    ) -> Option<Duration> {
        let lease = self.options.lease?;
        self.voter_lease = Some(VoterLease { epoch, until: context.now + lease });
        Some(lease)
    }

    /// Whether there seems to be no token: idle ones are dropped, and no voter lease runs here.
    pub(super) fn needs_new_token(&self, context: &StepContext<'_>) -> bool {
        let leased = self.voter_lease.is_some_and(|lease| context.now < lease.until);
        self.options.idle.is_some() && !leased && !self.is_quarantined(context)
    }

    /// Ends our voter lease, if it is for this epoch.
    pub(super) fn end_voter_lease(&mut self, epoch: Epoch) {
        self.voter_lease.take_if(|lease| lease.epoch == epoch);
    }

    /// Arms the timer that ends the token or grant here.
    pub(super) fn arm_lapse(&mut self, context: &mut StepContext<'_>) {
        if let Some(until) = self.valid_until() {
            context.arm(Timer::Lapse, until.since(context.now));
        }
    }

    /// Arms the timer that renews the token's lease, for when a third of it is over.
    pub(super) fn arm_renewal(&mut self, context: &mut StepContext<'_>) {
        if let (Some(until), Some(lease)) = (self.valid_until(), self.options.lease) {
            let left = until.since(context.now);
            context.arm(Timer::Renew, left.saturating_sub(lease * 2 / 3));
        }
    }

    /// Whether a third of the token's lease is over, and this holder has not renewed it yet (O9).
    pub(super) fn needs_renewal(&self, context: &StepContext<'_>) -> bool {
        let lease = self.held.as_ref().and_then(|held| held.lease.as_ref());
        let left =
            lease.filter(|lease| !lease.is_renewed).map(|lease| lease.until.since(context.now));
        let least = self.options.lease.map(|lease| self.options.counted(lease * 2 / 3));
        left.zip(least).is_some_and(|(left, least)| left < least)
    }

    /// Asks all voters to register for the token again. A token that was idle for too many renewals
    /// is dropped instead, and one for which only sites wait that are out of reach (O20): they may
    /// reach a quorum and make another.
    pub(super) fn renew_lease(&mut self, context: &mut StepContext<'_>) {
        let Some(length) = self.options.lease else { return };
        let (idle, is_useless) = (self.state() == State::HI, self.reaches_no_waiter(context));
        let Some(held) = &mut self.held else { return };
        let epoch = held.token.stamp.epoch;
        let Some(lease) = &mut held.lease else { return };
        if let Some(most) = self.options.idle {
            lease.idle = if idle { lease.idle + 1 } else { 0 };
            if lease.idle > most || is_useless {
                return self.drop_token(context);
            }
        }
        lease.renewal += 1;
        lease.sent = context.now;
        let renewal = lease.renewal;
        context.arm(Timer::Renew, length / 3);
        context.send_all(&Message::Register { epoch, renewal });
        self.grant_voter_lease(context, epoch);
        self.on_registered(context, context.me(), epoch, renewal, length);
    }

    /// Drops a token that nobody is inside with, and tells the voters. If we wait we make another.
    pub(super) fn drop_token(&mut self, context: &mut StepContext<'_>) {
        let epoch = self.held.as_ref().expect("only a holder does this").token.stamp.epoch;
        self.abandon_token(context);
        self.end_voter_lease(epoch);
        context.send_all(&Message::Withdraw { epoch });
        if self.state() == State::R {
            self.request_or_prepare(context);
        }
    }

    /// Resets the count of idle renewals, and renews the lease of a token that was idle.
    pub(super) fn resume_renewal(&mut self, context: &mut StepContext<'_>) {
        let lease = self.held.as_mut().and_then(|held| held.lease.as_mut());
        if lease.is_some_and(|lease| std::mem::take(&mut lease.idle) > 0) {
            self.arm_renewal(context);
        }
    }

    /// Registers for a holder's token: starts our voter lease for its epoch.
    pub(super) fn on_register(
        &mut self,
        context: &mut StepContext<'_>,
        from: SiteId,
        epoch: Epoch,
        renewal: u32,
    ) {
        if epoch < self.durable.floor() {
            if epoch < self.durable.valid {
                let lease = Duration::ZERO; // no lease: it will never register for this epoch
                context.send(from, Message::Registered { epoch, renewal, lease });
            }
            return context.out.ignore("a later epoch was promised");
        }
        self.adopt_epoch(context, epoch);
        let lease = self.grant_voter_lease(context, epoch).unwrap_or_default();
        context.send(from, Message::Registered { epoch, renewal, lease });
    }

    /// Counts a voter's registration, for the length of its lease. A voter that can never register
    /// could not be admitted either: the token makes way for one of a higher epoch (O21).
    pub(super) fn on_registered(
        &mut self,
        context: &mut StepContext<'_>,
        from: SiteId,
        epoch: Epoch,
        renewal: u32,
        length: Duration,
    ) {
        let counted = self.options.counted(length);
        let held = self.held.as_mut().filter(|held| held.token.stamp.epoch == epoch);
        let is_current = |held: &&mut HeldToken| {
            held.lease.as_ref().is_some_and(|lease| lease.renewal == renewal)
        };
        let Some(held) = held.filter(is_current) else {
            return context.out.ignore("that round is over");
        };
        if length.is_zero() {
            held.is_refused = true;
            return self.pass_idle_token(context);
        }
        let lease = held.lease.as_mut().expect("it was looked at");
        lease.voters.insert(from, lease.sent + counted);
        let Some(until) = lease.quorum_until(context) else { return };
        lease.is_renewed = true;
        if until > lease.until {
            lease.until = until;
            lease.delegator = None;
            self.arm_lapse(context);
        }
        self.pass_idle_token(context);
    }

    /// Passes on a token that `pass_token` kept until it was renewed, or a waiter was reached. One
    /// that is refused is dropped.
    pub(super) fn pass_idle_token(&mut self, context: &mut StepContext<'_>) {
        if self.inside.is_none() && self.held.as_ref().is_some_and(|held| held.followers.is_empty())
        {
            self.pass_token(context);
        }
    }

    /// Ends a token or grant whose lease is over. Runs before every step.
    pub(super) fn end_expired_lease(&mut self, context: &mut StepContext<'_>) {
        if self.valid_until().is_none_or(|until| context.now < until) {
            return;
        }
        if self.held.is_some() {
            self.abandon_token(context);
        } else {
            self.revoke_grant(context, Why::DelegationExpired);
        }
    }

    /// What the validity of a grant depends on.
    pub(super) fn validity_basis(&self, inside: &Inside) -> ValidityBasis {
        let ticket = Ticket { time: inside.sn, site: self.me, claim: inside.id };
        if let Via::Follower(captain) = inside.via {
            return ValidityBasis::Delegation(captain, ticket);
        }
        let lease = self.held.as_ref().and_then(|held| held.lease.as_ref());
        match lease {
            None => ValidityBasis::Permissions([self.me].into_iter().collect()),
            Some(TokenLease { delegator: Some(delegator), .. }) => {
                ValidityBasis::Delegation(*delegator, ticket)
            }
            Some(lease) => ValidityBasis::Permissions(lease.voters.keys().copied().collect()),
        }
    }
}

/// The leases of a token lock or of a mutant of it.
pub trait Leased {
    /// The token lock.
    fn token_lock(&self) -> &TokenLock;

    /// Until when the grant of the caller inside is valid, if a lease limits it.
    fn good_until(&self) -> Option<Tick> {
        self.token_lock().believes_until()
    }

    /// The captain of the caller inside, if it is a follower. Its grant needs our session there.
    fn follows(&self) -> Option<SiteId> {
        match self.token_lock().inside.as_ref()?.via {
            Via::Follower(captain) => Some(captain),
            Via::Captain => None,
        }
    }

    /// Until when an idle lock must be kept: a token is here, or a voter lease runs.
    fn kept_until(&self) -> Option<Tick> {
        let lock = self.token_lock();
        let held = lock.held.as_ref().and(lock.valid_until());
        held.max(lock.voter_lease.map(|lease| lease.until))
    }
}

impl Leased for TokenLock {
    fn token_lock(&self) -> &TokenLock {
        self
    }
}

/// The leases of the first token: as if all had registered for it at time zero.
pub(super) fn first_leases(n: usize, options: Options) -> Option<(VoterLease, TokenLease)> {
    options.lease.map(|lease| {
        let until = Tick::ZERO + options.counted(lease);
        let voter_lease = VoterLease { epoch: Epoch(0), until: Tick::ZERO + lease };
        let voters = SiteSet::full(n).iter().map(|voter| (voter, until)).collect();
        let (renewal, sent, delegator) = (0, Tick::ZERO, None);
        let token_lease =
            TokenLease { until, renewal, sent, voters, delegator, is_renewed: true, idle: 0 };
        (voter_lease, token_lease)
    })
}
