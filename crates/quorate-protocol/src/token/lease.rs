//! Leases: who vouches for a token, and until when.
//!
//! Epochs alone let an old holder and a new one be inside at one time, and only fences tell them
//! apart. With leases a voter that vouches for a token promises no other epoch meanwhile; a holder
//! counts on it from the moment it *asked*, the voter from the moment it *answered*, so the holder
//! stops first. Who is inside on a holder's word stops no later than it.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_quorum::{SiteId, SiteSet};

use super::state::{Held, Inside};
use super::{Desk, Epoch, Message, Options, State, Timer, TokenLock, Via};
use crate::{Basis, Tick, Ticket, Why};

/// For which epoch a site vouches, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Vouched {
    pub(super) epoch: Epoch,
    pub(super) until: Tick,
}

/// Until when a token is valid, and why.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lease {
    pub(super) until: Tick,
    /// How often its holder has asked to be vouched for, and when it last did.
    round: u32,
    sent: Tick,
    /// Until when it counts on each voter.
    vouchers: BTreeMap<SiteId, Tick>,
    /// On whose word it is valid, if too few voters vouch for this holder itself.
    giver: Option<SiteId>,
    /// Whether voters have vouched for it at the asking of this holder.
    pub(super) is_renewed: bool,
    /// How often it was renewed since anybody was inside.
    idle: u32,
}

impl Lease {
    /// Valid on the word of the holder before.
    pub(super) fn on_word(giver: SiteId, until: Tick) -> Self {
        let (round, sent, vouchers) = (0, Tick::ZERO, BTreeMap::new());
        Self { until, round, sent, vouchers, giver: Some(giver), is_renewed: false, idle: 0 }
    }

    /// Valid because these promised its epoch, each until then.
    pub(super) fn of_voters(vouchers: BTreeMap<SiteId, Tick>, desk: &Desk<'_>) -> Self {
        let (until, round, sent) = (Tick::ZERO, 0, Tick::ZERO);
        let lease = Self { until, round, sent, vouchers, giver: None, is_renewed: true, idle: 0 };
        let until = lease.vouched_until(desk).expect("a quorum has promised");
        Self { until, ..lease }
    }

    /// The latest time until which a quorum vouches for it.
    fn vouched_until(&self, desk: &Desk<'_>) -> Option<Tick> {
        let mut by_time: Vec<(Tick, SiteId)> =
            self.vouchers.iter().map(|(&s, &t)| (t, s)).collect();
        by_time.sort_unstable_by(|one, other| other.cmp(one));
        let mut sites = SiteSet::new();
        by_time.into_iter().find_map(|(until, site)| {
            sites.insert(site);
            desk.site.is_quorum(&sites).then_some(until)
        })
    }
}

impl TokenLock {
    /// Until when the token here, or else who is inside, is valid; `None` where nothing limits it.
    pub(super) fn valid_until(&self) -> Option<Tick> {
        match (&self.held, &self.inside) {
            (Some(held), _) => held.lease.as_ref().map(|lease| lease.until),
            (None, Some(inside)) => inside.until,
            (None, None) => None,
        }
    }

    /// Until when the caller inside may believe in its grant, where a lease limits it.
    pub fn believes_until(&self) -> Option<Tick> {
        self.inside.as_ref().and(self.valid_until())
    }

    /// The first thing that happens to a site. Whoever has restarted forgot whom it vouched for,
    /// and keeps quiet for as long as that can matter.
    pub(super) fn wake(&mut self, desk: &mut Desk<'_>) {
        if !std::mem::take(&mut self.waking) {
            return;
        }
        self.careful = true;
        if self.options.idle.is_some() {
            return; // the quarantine of the whole site is enough
        }
        if self.held.is_some() {
            self.await_lapse(desk);
            self.await_renewal(desk);
        } else if let Some(lease) = self.options.lease.filter(|_| self.vouched.is_none()) {
            self.quiet_until = Some(desk.now + lease);
        }
    }

    /// Whether what the site did before it restarted may still count.
    pub(super) fn is_quarantined(&self, desk: &Desk<'_>) -> bool {
        let quarantined = self.careful && desk.site.quarantined;
        quarantined || self.quiet_until.is_some_and(|until| desk.now < until)
    }

    /// Whether this site must not promise another epoch now.
    pub(super) fn is_leased(&self, desk: &Desk<'_>) -> bool {
        let own = self.attempt.as_ref().map(|attempt| attempt.epoch);
        let running = |vouched: Vouched| desk.now < vouched.until && own != Some(vouched.epoch);
        self.vouched.is_some_and(running) || self.is_quarantined(desk)
    }

    /// Vouches for an epoch from now on, for so long.
    pub(super) fn vouch(&mut self, desk: &Desk<'_>, epoch: Epoch) -> Option<Duration> {
        let lease = self.options.lease?;
        self.vouched = Some(Vouched { epoch, until: desk.now + lease });
        Some(lease)
    }

    /// Whether there seems to be no token: idle ones lapse, and we vouch for none.
    pub(super) fn misses_token(&self, desk: &Desk<'_>) -> bool {
        let vouches = self.vouched.is_some_and(|vouched| desk.now < vouched.until);
        self.options.idle.is_some() && !vouches && !self.is_quarantined(desk)
    }

    /// Does not vouch any more for an epoch that will never be.
    pub(super) fn unvouch(&mut self, epoch: Epoch) {
        self.vouched.take_if(|vouched| vouched.epoch == epoch);
    }

    /// Arms the timer that ends what is valid here.
    pub(super) fn await_lapse(&mut self, desk: &mut Desk<'_>) {
        if let Some(until) = self.valid_until() {
            desk.arm(Timer::Lapse, until.since(desk.now));
        }
    }

    /// Arms the timer that has the token's lease renewed, when a third of it has gone by.
    pub(super) fn await_renewal(&mut self, desk: &mut Desk<'_>) {
        if let (Some(until), Some(lease)) = (self.valid_until(), self.options.lease) {
            let left = until.since(desk.now);
            desk.arm(Timer::Renew, left.saturating_sub(lease * 2 / 3));
        }
    }

    /// Whether a third of the token's lease has gone by, and this holder has not had it renewed.
    pub(super) fn needs_renewal(&self, desk: &Desk<'_>) -> bool {
        let lease = self.held.as_ref().and_then(|held| held.lease.as_ref());
        let left = lease.filter(|lease| !lease.is_renewed).map(|lease| lease.until.since(desk.now));
        let least = self.options.lease.map(|lease| self.options.counted(lease * 2 / 3));
        left.zip(least).is_some_and(|(left, least)| left < least)
    }

    /// Asks all to vouch for the token anew; if nobody has used it for long, lets it go.
    pub(super) fn renew(&mut self, desk: &mut Desk<'_>) {
        let Some(length) = self.options.lease else { return };
        let idle = self.state() == State::HI;
        let Some(held) = &mut self.held else { return };
        let epoch = held.token.stamp.epoch;
        let Some(lease) = &mut held.lease else { return };
        if let Some(most) = self.options.idle {
            lease.idle = if idle { lease.idle + 1 } else { 0 };
            if lease.idle > most {
                self.step_down(desk);
                self.unvouch(epoch);
                return desk.send_all(&Message::Withdraw { epoch });
            }
        }
        lease.round += 1;
        lease.sent = desk.now;
        let round = lease.round;
        desk.arm(Timer::Renew, length / 3);
        desk.send_all(&Message::Register { epoch, round });
        self.vouch(desk, epoch);
        self.on_registered(desk, desk.me(), epoch, (round, length));
    }

    /// Somebody uses the token again that was idle: its lease is renewed again.
    pub(super) fn end_idleness(&mut self, desk: &mut Desk<'_>) {
        let lease = self.held.as_mut().and_then(|held| held.lease.as_mut());
        if lease.is_some_and(|lease| std::mem::take(&mut lease.idle) > 0) {
            self.await_renewal(desk);
        }
    }

    /// A holder asks us to vouch for its token.
    pub(super) fn on_register(
        &mut self,
        desk: &mut Desk<'_>,
        from: SiteId,
        epoch: Epoch,
        round: u32,
    ) {
        if epoch < self.durable.floor() {
            return desk.out.ignore("a later epoch was promised");
        }
        self.learn(desk, epoch);
        let lease = self.vouch(desk, epoch).unwrap_or_default();
        desk.send(from, Message::Registered { epoch, round, lease });
    }

    /// A voter vouches for our token, for so long.
    pub(super) fn on_registered(
        &mut self,
        desk: &mut Desk<'_>,
        from: SiteId,
        epoch: Epoch,
        (round, length): (u32, Duration),
    ) {
        let counted = self.options.counted(length);
        let held = self.held.as_mut().filter(|held| held.token.stamp.epoch == epoch);
        let lease = held.and_then(|held| held.lease.as_mut());
        let Some(lease) = lease.filter(|lease| lease.round == round) else {
            return desk.out.ignore("that round is over");
        };
        lease.vouchers.insert(from, lease.sent + counted);
        let Some(until) = lease.vouched_until(desk) else { return };
        lease.is_renewed = true;
        if until > lease.until {
            lease.until = until;
            lease.giver = None;
            self.await_lapse(desk);
        }
        self.hand_on(desk);
    }

    /// Hands the token on if it had to be renewed first.
    fn hand_on(&mut self, desk: &mut Desk<'_>) {
        let waits = |held: &Held| held.followers.is_empty() && !held.token.queue.is_empty();
        if self.inside.is_none() && self.held.as_ref().is_some_and(waits) {
            self.pass(desk);
        }
    }

    /// Ends what nobody vouches for any more, before anything else is done. A token whose lease is
    /// over is dead: whoever waits makes another.
    pub(super) fn lapse_if_due(&mut self, desk: &mut Desk<'_>) {
        if self.valid_until().is_none_or(|until| desk.now < until) {
            return;
        }
        if self.held.is_some() {
            self.step_down(desk);
        } else {
            self.revoke(desk, Why::NoWord);
        }
    }

    /// What somebody inside rests on.
    pub(super) fn basis(&self, inside: &Inside) -> Basis {
        let ticket = Ticket { time: inside.sn, site: self.me, claim: inside.id };
        if let Via::Follower(captain) = inside.via {
            return Basis::Word(captain, ticket);
        }
        let lease = self.held.as_ref().and_then(|held| held.lease.as_ref());
        match lease {
            None => Basis::Permissions([self.me].into_iter().collect()),
            Some(Lease { giver: Some(giver), .. }) => Basis::Word(*giver, ticket),
            Some(lease) => Basis::Permissions(lease.vouchers.keys().copied().collect()),
        }
    }
}

/// A token lock, whole or with a repair undone, that counts its leases itself.
pub trait Leased {
    /// The lock.
    fn leased(&self) -> &TokenLock;

    /// Until when who is inside may believe it, where a lease limits it.
    fn good_until(&self) -> Option<Tick> {
        self.leased().believes_until()
    }

    /// The captain on whose word somebody is inside: only while we have a session there.
    fn follows(&self) -> Option<SiteId> {
        match self.leased().inside.as_ref()?.via {
            Via::Follower(captain) => Some(captain),
            Via::Captain => None,
        }
    }

    /// Until when it must be remembered though nothing is going on: a token is here, or we vouch
    /// for one.
    fn kept_until(&self) -> Option<Tick> {
        let lock = self.leased();
        let held = lock.held.as_ref().and(lock.valid_until());
        held.max(lock.vouched.map(|vouched| vouched.until))
    }
}

impl Leased for TokenLock {
    fn leased(&self) -> &TokenLock {
        self
    }
}

/// The first token is valid as if all had vouched for it when the lock came to be.
pub(super) fn of_the_first(n: usize, options: Options) -> Option<(Vouched, Lease)> {
    options.lease.map(|lease| {
        let until = Tick::ZERO + options.counted(lease);
        let vouched = Vouched { epoch: Epoch(0), until: Tick::ZERO + lease };
        let vouchers = SiteSet::full(n).iter().map(|voter| (voter, until)).collect();
        let (round, sent) = (0, Tick::ZERO);
        (vouched, Lease { until, round, sent, vouchers, giver: None, is_renewed: true, idle: 0 })
    })
}
