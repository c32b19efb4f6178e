//! Restarts, transport sessions that end, and tokens and grants that are no longer valid. The paper
//! treats none of these.

use quorate_quorum::SiteId;

use super::state::Follower;
use super::{Message, State, StepContext, Timer, TokenLock, Via};
use crate::Why;

impl TokenLock {
    /// Runs before a site's first step. A restarted site has forgotten its voter lease, so it is
    /// quarantined for the length of one.
    pub(super) fn on_first_step(&mut self, context: &mut StepContext<'_>) {
        if !std::mem::take(&mut self.before_first_step) {
            return;
        }
        self.respects_quarantine = true;
        if self.options.idle.is_some() {
            return; // the quarantine of the whole site is enough
        }
        if self.held.is_some() {
            self.arm_lapse(context);
            self.arm_renewal(context);
        } else if let Some(lease) = self.options.lease.filter(|_| self.voter_lease.is_none()) {
            self.quarantined_until = Some(context.now + lease);
        }
    }

    /// Whether promises and grants from before a restart may still be valid. The site then sends
    /// no request, promises no epoch and declines no admission (O7, O17).
    pub(super) fn is_quarantined(&self, context: &StepContext<'_>) -> bool {
        let quarantined = self.respects_quarantine && context.site.quarantined;
        quarantined || self.quarantined_until.is_some_and(|until| context.now < until)
    }

    /// Our session at a site has ended. If that site is our captain the grant is lost: the captain
    /// is about to remove us from its followers.
    pub(super) fn on_lost(&mut self, context: &mut StepContext<'_>, peer: SiteId) {
        if self.inside.as_ref().is_some_and(|inside| inside.via == Via::Follower(peer)) {
            self.revoke_grant(context, Why::DelegationExpired);
        }
    }

    /// We have a new session at a site. Messages of the previous one may be lost, so the prepare
    /// of a running attempt (O13) or the pending request is sent again. An idle holder may reach a
    /// waiter now (O20).
    pub(super) fn on_open(&mut self, context: &mut StepContext<'_>, peer: SiteId) {
        self.pass_idle_token(context);
        if self.state() == State::R
            && self.request_set.contains(peer)
            && !self.repeat_prepare(context, peer)
        {
            self.send_request(context, peer);
        }
    }

    /// A site's session here has ended: it repeats its prepare in the next one (O13). A
    /// follower has stopped; with leases it has stopped only when its deadline has passed.
    pub(super) fn on_closed(&mut self, context: &mut StepContext<'_>, client: SiteId) {
        self.deferred.take_if(|deferred| deferred.from == client);
        let Some(held) = &mut self.held else { return };
        let stopped =
            |follower: &mut Follower| follower.until.is_none_or(|until| until <= context.now);
        if held.followers.get_mut(&client).is_some_and(stopped) {
            held.followers.remove(&client);
            self.end_empty_occupancy(context);
        }
    }

    /// Ends the grant of the caller inside, before it leaves.
    pub(super) fn revoke_grant(&mut self, context: &mut StepContext<'_>, why: Why) {
        if let Some(inside) = self.inside.take() {
            context.disarm(Timer::Lapse);
            context.out.lose(inside.id, why);
            if let Via::Follower(captain) = inside.via {
                let (sn, epoch) = (inside.sn, inside.stamp.epoch);
                context.send(captain, Message::Complete { sn, epoch });
            }
        }
    }

    /// Drops a token that is no longer valid, with its captain's grant. A pending request is sent
    /// to all.
    pub(super) fn abandon_token(&mut self, context: &mut StepContext<'_>) {
        self.forget_token(context);
        self.revoke_grant(context, Why::NoQuorum);
        self.request_set = context.others();
        if self.pending.is_some() {
            self.arm_t1(context);
            self.send_requests(context);
        }
    }
}
