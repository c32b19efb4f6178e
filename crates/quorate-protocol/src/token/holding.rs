//! The side of a site that has the token: events 2, 4, 5, 6 and 9 of the paper.

use std::collections::BTreeMap;

use quorate_quorum::{SiteId, SiteSet};

use super::asking::is_over;
use super::lease::Lease;
use super::state::{Follower, Held};
use super::{Desk, Epoch, Message, Pass, Stamp, Timer, Token, TokenLock, Via, Waiting};
use crate::group::{Group, Groups};
use crate::{Tick, Why};

impl TokenLock {
    /// The token, which is here.
    fn hold(&mut self) -> &mut Held {
        self.held.as_mut().expect("only a holder does this")
    }

    /// Somebody wants in. Event 2.
    pub(super) fn on_request(
        &mut self,
        desk: &mut Desk<'_>,
        from: SiteId,
        (sn, groups): (u64, &Groups),
        again: bool,
    ) {
        if !self.hear(from, sn, groups) {
            return desk.out.ignore("a later request of that site was heard");
        }
        if self.held.is_some() {
            self.serve(desk, from, (sn, groups), again);
        } else {
            self.note_rival(desk, from);
        }
    }

    /// Lets a request in, queues it, or hands the token over. Event 2 at a holder.
    ///
    /// Who asks for the group of the session joins it while the captain is inside, whatever the
    /// queue holds; behind a captain that has left only if nobody waits for another group.
    pub(super) fn serve(
        &mut self,
        desk: &mut Desk<'_>,
        from: SiteId,
        (sn, groups): (u64, &Groups),
        again: bool,
    ) {
        let captain_inside = self.inside.is_some();
        let held = self.hold();
        if held.token.is_served(from, sn) {
            return self.answer_outdated(desk, from, sn, again);
        }
        let fits = held.group.as_ref().is_some_and(|group| groups.contains(group));
        if fits && (captain_inside || held.token.queue.is_empty()) {
            return self.admit(desk, from, sn);
        }
        held.token.add(from, sn, groups);
        if !captain_inside && held.followers.is_empty() {
            self.pass(desk);
        }
        if again && self.held.is_some() {
            desk.send(from, Message::Alive { sn });
        }
    }

    /// A request that was served already. If its site does not know where the token is, it does
    /// now (E5); a start is repeated only to who asks again.
    fn answer_outdated(&mut self, desk: &mut Desk<'_>, from: SiteId, sn: u64, again: bool) {
        let follows = self.hold().followers.get(&from).is_some_and(|follower| follower.sn == sn);
        match (follows, again) {
            (false, _) => desk.send(from, Message::Hint),
            (true, true) => self.admit(desk, from, sn),
            (true, false) => desk.out.ignore("let in already"),
        }
    }

    /// Lets a request join the session. T2 runs already if another one follows, and is not put off:
    /// with leases, that one would lapse while others come and go. Who has just asked has just been
    /// heard of: a captain that is new itself can soon vouch for longer.
    fn admit(&mut self, desk: &mut Desk<'_>, site: SiteId, sn: u64) {
        let until = self.valid_until();
        let held = self.hold();
        let first = held.followers.is_empty();
        held.followers.insert(site, Follower { sn, until, heard: until.is_some() });
        held.token.serve(site, sn);
        let (group, stamp) = (held.session_group(), held.token.stamp);
        if first {
            desk.arm(Timer::T2, self.options.t2);
        }
        desk.send(site, Message::Start(Pass { sn, group, stamp, until }));
    }

    /// Opens a session for our own request, which is first in the queue.
    fn open(&mut self, desk: &mut Desk<'_>) {
        let (me, sn) = (desk.me(), self.sn);
        let held = self.hold();
        let entry = held.token.queue.take_first();
        let stamp = held.begin(entry.group.clone());
        held.token.serve(me, sn);
        desk.disarm(Timer::T1);
        self.ask = SiteSet::new();
        self.tries = 0;
        for Waiting { site, sn } in entry.waiting {
            if site != me && !self.hold().token.is_served(site, sn) {
                self.admit(desk, site, sn);
            }
        }
        self.enter(desk, entry.group, stamp, (Via::Captain, None));
    }

    /// Opens a session for our own request, where nobody else wants anything. Event 1, state HI.
    pub(super) fn open_alone(&mut self, desk: &mut Desk<'_>, group: Group) {
        let (me, sn) = (desk.me(), self.sn);
        let held = self.hold();
        let stamp = held.begin(group.clone());
        held.token.serve(me, sn);
        self.end_idleness(desk);
        self.enter(desk, group, stamp, (Via::Captain, None));
    }

    /// A captain that has left wants in again while its followers are inside. Event 1, state HS.
    /// It needs no T1: its request cannot get lost (E21). Nor can that of an idle holder that
    /// waits for its lease to be renewed.
    pub(super) fn rejoin(&mut self, desk: &mut Desk<'_>) {
        let (me, sn) = (desk.me(), self.sn);
        let groups = self.want.as_ref().expect("it wants something").groups.clone();
        let held = self.hold();
        let free = held.token.queue.is_empty();
        match held.group.clone().filter(|group| free && groups.contains(group)) {
            Some(group) => {
                held.token.serve(me, sn);
                let stamp = held.token.stamp;
                self.enter(desk, group, stamp, (Via::Captain, None));
            }
            None => {
                held.token.add(me, sn, &groups);
                self.end_idleness(desk);
            }
        }
    }

    /// Somebody has left. If nobody is inside any more, it is the next one's turn. Events 4, 5.
    pub(super) fn go_on(&mut self, desk: &mut Desk<'_>) {
        let captain_inside = self.inside.is_some();
        let held = self.hold();
        if !held.followers.is_empty() {
            return;
        }
        desk.disarm(Timer::T2);
        if captain_inside {
            return;
        }
        held.group = None;
        if held.is_worn() {
            self.step_down(desk);
        } else if !held.token.queue.is_empty() {
            self.pass(desk);
        }
    }

    /// The session is over, and somebody waits: opens the next one, or hands the token to who does.
    /// A token is never sent to its own site (E7).
    ///
    /// If much of its lease has gone by it is renewed first: holders who leave sooner than voters
    /// can answer would hand each other less and less, until it lapses (scenario
    /// `token/own_9_renewed_before_it_is_handed_on`).
    pub(super) fn pass(&mut self, desk: &mut Desk<'_>) {
        let held = self.hold();
        let front = held.token.queue.front().expect("somebody waits");
        if front.site == desk.me() {
            return self.open(desk);
        }
        if self.needs_renewal(desk) {
            return self.end_idleness(desk); // and goes on in `hand_on`
        }
        let until = self.valid_until();
        let token = self.let_go(desk);
        self.ask = token.queue.captains().iter().chain(self.ask.iter()).collect();
        self.ask.remove(desk.me());
        desk.send(front.site, Message::Token { token, until });
        if self.want.is_some() {
            self.wait(desk);
        }
    }

    /// Forgets the token, and remembers that it was here.
    fn let_go(&mut self, desk: &mut Desk<'_>) -> Token {
        let held = self.held.take().expect("only a holder lets go");
        self.last = self.last.max(held.token.stamp);
        desk.disarm(Timer::T2);
        if held.lease.is_some() {
            desk.disarm(Timer::Renew);
            desk.disarm(Timer::Lapse);
        }
        held.token
    }

    /// The token comes. Event 6.
    pub(super) fn on_token(
        &mut self,
        desk: &mut Desk<'_>,
        from: SiteId,
        token: Token,
        until: Option<Tick>,
    ) {
        let epoch = token.stamp.epoch;
        if epoch < self.durable.floor() || is_over(until, desk.now) {
            return desk.out.ignore("the token is of an epoch or a lease that is over");
        }
        if token.stamp <= self.last {
            return desk.out.ignore("the token has been here already");
        }
        if self.held.as_ref().is_some_and(|held| held.token.stamp.epoch >= epoch) {
            return desk.out.ignore("a token is here"); // E14
        }
        self.learn(desk, epoch);
        assert!(self.inside.is_none(), "nobody is inside in a session before the token's");
        let lease = until.map(|until| Lease::on_word(from, until));
        self.take_up(desk, Held { token, group: None, followers: BTreeMap::new(), lease });
    }

    /// Has a token, received or made, and finds out whose turn it is.
    ///
    /// What was heard meanwhile is queued (E4). A request of our own that nobody waits for any more
    /// is void, and marked so: else the token would be sent here for ever.
    pub(super) fn take_up(&mut self, desk: &mut Desk<'_>, held: Held) {
        let (me, token) = (desk.me(), &mut self.held.insert(held).token);
        for (&site, heard) in &self.heard {
            token.add(site, heard.sn, &heard.groups);
        }
        match &self.want {
            None => token.serve(me, self.sn),
            Some(want) => {
                token.serve(me, want.sn - 1);
                token.add(me, want.sn, &want.groups);
            }
        }
        self.await_lapse(desk);
        self.await_renewal(desk);
        let front = self.hold().token.queue.front();
        match front {
            Some(front) if front.site == me => self.open(desk),
            front => {
                let held = self.hold();
                held.token.stamp = held.token.stamp.next();
                if front.is_some() {
                    return self.pass(desk);
                }
                self.ask = SiteSet::new();
                if self.hold().is_worn() {
                    self.step_down(desk);
                }
            }
        }
    }

    /// A follower has left. Event 5.
    pub(super) fn on_complete(&mut self, desk: &mut Desk<'_>, from: SiteId, sn: u64, epoch: Epoch) {
        if self.follower_mut(from, sn, epoch).is_none() {
            return desk.out.ignore("nobody follows with that request");
        }
        self.hold().followers.remove(&from);
        self.go_on(desk);
    }

    /// A follower is still inside.
    pub(super) fn on_busy(&mut self, desk: &mut Desk<'_>, from: SiteId, sn: u64, epoch: Epoch) {
        match self.follower_mut(from, sn, epoch) {
            Some(follower) => follower.heard = true,
            None => desk.out.ignore("nobody follows with that request"),
        }
    }

    fn follower_mut(&mut self, site: SiteId, sn: u64, epoch: Epoch) -> Option<&mut Follower> {
        let held = self.held.as_mut().filter(|held| held.token.stamp.epoch == epoch)?;
        held.followers.get_mut(&site).filter(|follower| follower.sn == sn)
    }

    /// T2: followers have been silent. Event 9, and T2 is armed again (E13).
    ///
    /// With leases, we vouch for longer only for those we have heard of, and who is not vouched for
    /// any more has stopped.
    pub(super) fn on_t2(&mut self, desk: &mut Desk<'_>) {
        let until = self.valid_until();
        let Some(held) = self.held.as_mut().filter(|held| !held.followers.is_empty()) else {
            return desk.out.ignore("nobody follows");
        };
        held.followers.retain(|_, follower| !is_over(follower.until, desk.now));
        let (group, stamp) = (held.session_group(), held.token.stamp);
        for (&site, follower) in &mut held.followers {
            if std::mem::take(&mut follower.heard) {
                follower.until = until;
            }
            let Follower { sn, until, .. } = *follower;
            desk.send(site, Message::IsComplete(Pass { sn, group: group.clone(), stamp, until }));
        }
        desk.arm(Timer::T2, self.options.t2);
        self.go_on(desk);
    }

    /// The session of a follower here is over, so it has stopped. Where leases limit it, only their
    /// end says so.
    pub(super) fn on_closed(&mut self, desk: &mut Desk<'_>, client: SiteId) {
        let Some(held) = &mut self.held else { return };
        let over = |follower: &mut Follower| follower.until.is_none_or(|until| until <= desk.now);
        if held.followers.get_mut(&client).is_some_and(over) {
            held.followers.remove(&client);
            self.go_on(desk);
        }
    }

    /// Lets go of a token that counts for nothing any more. Who waits asks everybody.
    pub(super) fn step_down(&mut self, desk: &mut Desk<'_>) {
        self.let_go(desk);
        self.revoke(desk, Why::NoQuorum);
        self.ask = desk.others();
        if self.want.is_some() {
            self.wait(desk);
            for to in self.ask.clone().iter() {
                self.ask_site(desk, to);
            }
        }
    }
}

impl Held {
    /// The group of the session, which is open.
    fn session_group(&self) -> Group {
        self.group.clone().expect("who follows does so in a session")
    }

    /// Begins a session. Its number grows each time, not only where the holder was idle (E1).
    fn begin(&mut self, group: Group) -> Stamp {
        assert!(self.followers.is_empty(), "nobody is left of the session before");
        self.token.stamp = self.token.stamp.next();
        self.group = Some(group);
        self.token.stamp
    }

    /// Whether the sessions of its epoch are used up.
    fn is_worn(&self) -> bool {
        self.token.stamp.session + 2 >= Stamp::LAST
    }
}
