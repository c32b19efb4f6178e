//! The side of a site that asks: events 1, 3, 7 and 10 of the paper, and giving up.

use quorate_quorum::SiteId;

use super::state::{Heard, Inside, Want};
use super::{Desk, Grant, Message, Pass, Stamp, State, Timer, TokenLock, Via};
use crate::group::{Claim, Group, Groups};
use crate::{ClaimId, Tick, Why};

impl TokenLock {
    /// A caller wants in. Event 1, legal only where the site has no request (E22).
    pub(super) fn acquire(&mut self, desk: &mut Desk<'_>, id: ClaimId, claim: Claim) {
        let Claim { groups, hasty } = claim;
        let first = groups.iter().next().cloned().expect("a claim names a group");
        let state = self.state();
        self.number_request();
        let sn = self.sn;
        self.want = Some(Want { id, sn, groups, called: false, hasty, held_up: false });
        self.tries = 0;
        match state {
            State::HI if !self.needs_renewal(desk) => self.open_alone(desk, first),
            State::HI | State::HS => self.rejoin(desk),
            _ => {
                self.wait(desk);
                self.ask_or_prepare(desk);
            }
        }
    }

    /// Asks those who may have the token; where there seems to be none, makes one. That asks too: a
    /// holder takes what prepares an epoch as a request.
    pub(super) fn ask_or_prepare(&mut self, desk: &mut Desk<'_>) {
        if self.misses_token(desk) {
            self.prepare(desk);
        } else {
            self.ask_all_in_set(desk);
        }
    }

    /// Notes that the request has to wait for somebody.
    pub(super) fn hold_up(&mut self) {
        if let Some(want) = &mut self.want {
            want.held_up = want.hasty;
        }
    }

    /// The next request, or the next attempt of the one that waits, has a number of its own.
    pub(super) fn number_request(&mut self) {
        self.sn += 1;
        self.durable.cover(self.sn);
    }

    /// Waits for T1, longer each time; after a restart until the former life does not count.
    pub(super) fn wait(&mut self, desk: &mut Desk<'_>) {
        let patience = self.options.patience(desk.me().index(), self.tries);
        let quiet = self.quiet_until.map(|until| until.since(desk.now));
        desk.arm(Timer::T1, quiet.filter(|quiet| !quiet.is_zero()).unwrap_or(patience));
    }

    pub(super) fn ask_all_in_set(&self, desk: &mut Desk<'_>) {
        for to in self.ask.iter() {
            self.ask_site(desk, to);
        }
    }

    /// Sends our request to a site. Who has restarted asks for nothing while callers of its former
    /// life may be inside: a captain that lets the new request join would forget the old one
    /// (scenario `token/own_7_restarted_follower_asks_again`).
    pub(super) fn ask_site(&self, desk: &mut Desk<'_>, to: SiteId) {
        if self.is_quarantined(desk) {
            return;
        }
        let want = self.want.as_ref().expect("who asks wants something");
        let (sn, groups) = (want.sn, want.groups.clone());
        // Who does not want to wait wants an answer.
        desk.send(to, Message::Request { sn, groups, again: want.hasty });
    }

    /// Whoever asks may get the token before us: it must know that we wait. Event 2, state R.
    pub(super) fn note_rival(&mut self, desk: &mut Desk<'_>, rival: SiteId) {
        let new = self.ask.insert(rival);
        if new && self.state() == State::R {
            self.ask_site(desk, rival);
        }
    }

    /// Keeps what a site asks for, unless something later was heard of it; false if it was.
    pub(super) fn hear(&mut self, from: SiteId, sn: u64, groups: &Groups) -> bool {
        if self.heard.get(&from).is_some_and(|heard| heard.sn > sn) {
            return false;
        }
        self.heard.insert(from, Heard { sn, groups: groups.clone() });
        true
    }

    /// Some site has the token. **Deviation**: the paper has no such message, and a site may then
    /// never learn whom to ask (E5, scenario `token/e5_hint`).
    pub(super) fn on_hint(&mut self, desk: &mut Desk<'_>, from: SiteId) {
        if self.held.is_none() {
            self.note_rival(desk, from);
        } else {
            desk.out.ignore("the token is here");
        }
    }

    /// A captain lets us in. Event 3, with its check of the request (E11).
    pub(super) fn on_start(&mut self, desk: &mut Desk<'_>, captain: SiteId, pass: Pass) {
        if pass.stamp.epoch < self.durable.floor() || is_over(pass.until, desk.now) {
            return desk.out.ignore("the start is of an epoch or a lease that is over");
        }
        self.follow_or_decline(desk, captain, pass);
    }

    /// A captain wonders whether we are inside. Event 10.
    pub(super) fn on_is_complete(&mut self, desk: &mut Desk<'_>, captain: SiteId, pass: Pass) {
        let epoch = pass.stamp.epoch;
        let dead = epoch < self.durable.floor() || is_over(pass.until, desk.now);
        if let Some(inside) = self.inside.as_mut()
            && inside.via == Via::Follower(captain)
            && (inside.sn, inside.stamp.epoch) == (pass.sn, epoch)
        {
            inside.until = inside.until.max(pass.until);
            if self.options.lease.is_some() {
                self.await_lapse(desk);
                desk.send(captain, Message::Busy { sn: pass.sn, epoch });
            }
            return desk.out.ignore("still inside");
        }
        if dead {
            return self.decline(desk, captain, &pass);
        }
        self.follow_or_decline(desk, captain, pass);
    }

    fn follow_or_decline(&mut self, desk: &mut Desk<'_>, captain: SiteId, pass: Pass) {
        let Pass { sn, group, stamp, until } = pass;
        let waits = |want: &Want| want.sn == sn && want.groups.contains(&group);
        if self.state() == State::R && self.want.as_ref().is_some_and(waits) {
            self.abandon_attempt(desk);
            self.durable.raise(stamp.epoch);
            desk.disarm(Timer::T1);
            self.enter(desk, group, stamp, (Via::Follower(captain), until));
            return self.await_lapse(desk);
        }
        let inside = self.inside.as_ref().map(|inside| (inside.sn, inside.via));
        if inside == Some((sn, Via::Follower(captain))) {
            return desk.out.ignore("inside already");
        }
        self.decline(desk, captain, &Pass { sn, group, stamp, until });
    }

    /// Tells a captain that we do not follow it. A site that has restarted does not know whether a
    /// caller of its former life still does.
    ///
    /// A request that still waits goes on under a fresh number: what was declined is over for the
    /// captain, and another question of its, sent before it knew, must not let us in (scenario
    /// `token/own_8_declined_and_asked_again`).
    fn decline(&mut self, desk: &mut Desk<'_>, captain: SiteId, pass: &Pass) {
        if self.is_quarantined(desk) {
            return desk.out.ignore("callers of a former life may be inside");
        }
        desk.send(captain, Message::Complete { sn: pass.sn, epoch: pass.stamp.epoch });
        if self.want.as_ref().is_some_and(|want| want.sn == pass.sn) {
            self.number_request();
            let sn = self.sn;
            self.want.iter_mut().for_each(|want| want.sn = sn);
            self.ask.insert(captain);
            self.ask_all_in_set(desk);
        }
    }

    /// The request that waits is inside now.
    pub(super) fn enter(
        &mut self,
        desk: &mut Desk<'_>,
        group: Group,
        stamp: Stamp,
        (via, until): (Via, Option<Tick>),
    ) {
        let want = self.want.take().expect("who is let in has waited");
        assert!(want.groups.contains(&group), "who is let in gets what it wants");
        self.inside = Some(Inside { id: want.id, sn: want.sn, stamp, via, until });
        let leased = self.options.lease.is_some();
        desk.out.grant(want.id, Grant { group, stamp, via, leased });
    }

    /// A caller leaves. Event 4.
    pub(super) fn release(&mut self, desk: &mut Desk<'_>) {
        let Some(Inside { sn, stamp, via, .. }) = self.inside.take() else {
            return desk.out.ignore("the grant has just lapsed");
        };
        match via {
            Via::Captain => self.go_on(desk),
            Via::Follower(captain) => {
                desk.disarm(Timer::Lapse);
                desk.send(captain, Message::Complete { sn, epoch: stamp.epoch });
            }
        }
    }

    /// A caller does not wait any longer. What comes for it later is declined.
    pub(super) fn abandon(&mut self, desk: &mut Desk<'_>) {
        self.want = None;
        let (me, sn) = (desk.me(), self.sn);
        match &mut self.held {
            Some(held) => held.token.serve(me, sn),
            None => {
                desk.disarm(Timer::T1);
                self.abandon_attempt(desk);
            }
        }
    }

    /// Ends the grant of who is inside before it has left.
    pub(super) fn revoke(&mut self, desk: &mut Desk<'_>, why: Why) {
        if let Some(inside) = self.inside.take() {
            desk.disarm(Timer::Lapse);
            desk.out.lose(inside.id, why);
            if let Via::Follower(captain) = inside.via {
                let (sn, epoch) = (inside.sn, inside.stamp.epoch);
                desk.send(captain, Message::Complete { sn, epoch });
            }
        }
    }

    /// T1: the request or the token is lost, or both are slow. Event 7.
    ///
    /// With `resend`, all are asked once more first: a holder that knows the request says so.
    pub(super) fn on_t1(&mut self, desk: &mut Desk<'_>) {
        if self.state() != State::R {
            return desk.out.ignore("nobody waits for the token");
        }
        if self.is_quarantined(desk) {
            return self.wait(desk);
        }
        let want = self.want.as_mut().expect("who waits wants something");
        if self.options.resend && !want.called {
            want.called = true;
            let again = Message::Request { sn: want.sn, groups: want.groups.clone(), again: true };
            self.ask = desk.others();
            desk.send_all(&again);
            return desk.arm(Timer::T1, self.options.t2);
        }
        want.called = false;
        self.tries += 1;
        self.wait(desk);
        self.prepare(desk);
    }

    /// The holder knows of our request: it is only slow.
    pub(super) fn on_alive(&mut self, desk: &mut Desk<'_>, sn: u64) {
        let waits = self.state() == State::R;
        let Some(want) = self.want.as_mut().filter(|want| waits && want.sn == sn) else {
            return desk.out.ignore("nobody waits for that answer any more");
        };
        want.held_up = want.hasty;
        if std::mem::take(&mut want.called) {
            self.wait(desk);
        } else {
            desk.out.ignore("nobody waits for that answer any more");
        }
    }

    /// Our session at a site is over: who is inside on its word stops, before the site forgets it.
    pub(super) fn on_lost(&mut self, desk: &mut Desk<'_>, peer: SiteId) {
        if self.inside.as_ref().is_some_and(|inside| inside.via == Via::Follower(peer)) {
            self.revoke(desk, Why::NoWord);
        }
    }

    /// We have a session at a site again, and what was said in the former one may be lost.
    pub(super) fn on_open(&mut self, desk: &mut Desk<'_>, peer: SiteId) {
        if self.state() == State::R && self.ask.contains(peer) && !self.prepare_at(desk, peer) {
            self.ask_site(desk, peer);
        }
    }
}

/// Whether a deadline has passed.
pub(super) fn is_over(until: Option<Tick>, now: Tick) -> bool {
    until.is_some_and(|until| until <= now)
}
