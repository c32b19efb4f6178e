//! Callers of one site that share its one claim of a group.
//!
//! The claim is made for the first in line. When it is inside with a group, all in line that would
//! take that group come in with it, and later ones join: they are of one session, with one fence.
//! When the last of them has left, the site does. So that others get their turn, only a few
//! newcomers join once somebody waits for another group.

use std::collections::VecDeque;

use quorate_protocol::group::{Claim, Group, Groups};
use quorate_protocol::token::Leased;
use quorate_protocol::{
    Basis, ClaimId, ClaimView, Effect, Fence, Input, Out, Protocol, Shared, Tick, Ticket, View,
    Violation, Why, token,
};
use quorate_quorum::QuorumSystem;
use quorate_session::{CallId, Denial, Got, Want};

use super::timers::Timers;
use super::{Act, Bench, News, Part};
use crate::registry::{Registered, Spoken, Wanted};

/// How many times `local_turns` newcomers join while nobody is known to wait for another group.
///
/// Known is less than true: who follows a captain does not hear of those who wait there. So the
/// site leaves now and then.
const QUIET: u32 = 16;

/// Callers of one site that are inside together, those in line, and the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Party<P: Protocol> {
    protocol: P,
    /// The claim of the site, if it has made one.
    made: Option<Made>,
    /// Who is inside with it.
    inside: Vec<CallId>,
    line: VecDeque<Waiting>,
    /// How many claims the protocol was given.
    claims: u32,
    timers: Timers<P::Timer>,
}

/// The claim of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Made {
    claim: ClaimId,
    groups: Groups,
    /// What it has, if it is inside.
    session: Option<Session>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Session {
    group: Group,
    fence: Fence,
    /// How many have joined since it began.
    newcomers: u32,
    /// Whether nobody may join any more.
    shut: bool,
}

/// A caller in line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Waiting {
    call: CallId,
    groups: Groups,
    hasty: bool,
}

/// The protocols whose claims can be shared: all members of a session have its fence.
pub(crate) trait Shareable:
    Registered<Claim = Claim, Grant = token::Grant> + Leased
{
}

impl<P: Registered<Claim = Claim, Grant = token::Grant> + Leased> Shareable for P {}

impl<P: Shareable> Party<P> {
    pub(crate) fn new(protocol: P) -> Self {
        Self {
            protocol,
            made: None,
            inside: Vec::new(),
            line: VecDeque::new(),
            claims: 0,
            timers: Timers::default(),
        }
    }

    /// One step of the protocol, and what follows from it.
    fn step(&mut self, bench: &mut Bench<'_>, input: Input<P>) -> Result<(), Violation> {
        let before = self.good_until();
        let mut out = Out::new();
        self.protocol.step(bench.shared, bench.now, input, &mut out)?;
        while let Some(effect) = out.pop() {
            self.carry_out(bench, effect);
        }
        if self.good_until() != before {
            bench.acts.push(Act::Moved);
        }
        self.claim_for_next(bench);
        Ok(())
    }

    fn carry_out(&mut self, bench: &mut Bench<'_>, effect: Effect<P>) {
        match effect {
            Effect::Send(to, message) => bench.acts.push(Act::Send(to, message.into_speech())),
            Effect::Persist(record) => bench.acts.push(Act::Persist(record)),
            Effect::Grant(_, grant) => self.enter(bench, &grant),
            Effect::Lose(_, why) => self.lose(bench, why),
            Effect::Regenerated(what) => bench.acts.push(Act::Regenerated(what)),
            Effect::Ignore(_) => {}
            Effect::Arm(timer, time) => self.timers.arm(timer, bench.now + time),
            Effect::Disarm(timer) => self.timers.disarm(timer),
        }
    }

    /// The site is inside, and all in line come in that would take its group.
    fn enter(&mut self, bench: &mut Bench<'_>, grant: &token::Grant) {
        let made = self.made.as_mut().expect("a grant is of the claim that was made");
        let (group, fence) = (grant.group.clone(), grant.fence());
        made.session = Some(Session { group: group.clone(), fence, newcomers: 0, shut: false });
        for Waiting { call, groups, hasty } in std::mem::take(&mut self.line) {
            if groups.contains(&group) {
                self.inside.push(call);
                bench.acts.push(Act::Grant(call, fence, Got::Group(group.clone())));
            } else {
                self.line.push_back(Waiting { call, groups, hasty });
            }
        }
        assert!(!self.inside.is_empty(), "the claim was made for somebody");
    }

    /// What is lost is lost for all who share it.
    fn lose(&mut self, bench: &mut Bench<'_>, why: Why) {
        self.made = None;
        bench.acts.extend(self.inside.drain(..).map(|call| Act::Lose(call, why)));
    }

    /// Makes a claim for the first in line, if none is made.
    fn claim_for_next(&mut self, bench: &mut Bench<'_>) {
        let (None, Some(first)) = (&self.made, self.line.front()) else { return };
        let (call, groups, hasty) = (first.call, first.groups.clone(), first.hasty);
        self.claims += 1;
        let claim = ClaimId(self.claims);
        self.made = Some(Made { claim, groups: groups.clone(), session: None });
        if self.step(bench, Input::Acquire(claim, Claim { groups, hasty })).is_err() {
            self.made = None;
            self.line.pop_front();
            bench.acts.push(Act::Deny(call, Denial::NeverAsks));
        }
    }

    /// Lets a newcomer join those inside, if it would take their group and others do not wait for
    /// too long; what it gets then.
    fn join(&mut self, bench: &Bench<'_>, groups: &Groups) -> Option<(Fence, Got)> {
        let session = self.made.as_mut()?.session.as_mut()?;
        let group = &session.group;
        let others = self.line.iter().any(|waiting| !waiting.groups.contains(group));
        let wanted = others || self.protocol.is_wanted();
        let most = bench.local_turns * if wanted { 1 } else { QUIET };
        if session.shut || !groups.contains(group) || session.newcomers >= most {
            return None;
        }
        session.newcomers += 1;
        Some((session.fence, Got::Group(group.clone())))
    }

    /// Gives the claim up that waits, unless somebody in line would take whatever it gets.
    fn give_up(&mut self, bench: &mut Bench<'_>) {
        let waits = |made: &&mut Made| made.session.is_none();
        let Some(made) = self.made.as_mut().filter(waits) else { return };
        let (claim, groups) = (made.claim, &made.groups);
        let takes_all = |one: &Waiting| groups.iter().all(|group| one.groups.contains(group));
        if !self.line.iter().any(takes_all) {
            self.made = None;
            self.step(bench, Input::Abandon(claim)).expect("it waits");
        }
    }

    fn good_until(&self) -> Option<Tick> {
        self.protocol.good_until()
    }

    /// Whether nobody here uses it, and nothing is going on.
    fn is_idle(&self) -> bool {
        self.inside.is_empty() && self.line.is_empty() && self.protocol.is_vacant()
    }
}

impl<P: Shareable> Part for Party<P> {
    fn claim(&mut self, bench: &mut Bench<'_>, call: CallId, want: &Want, hasty: bool) {
        let claim = Claim::from_want(want, hasty, (bench.shared.site(), ClaimId(0)));
        let Claim { groups, hasty } = claim.expect("it is a resource of the kind that is wanted");
        if let Some((fence, got)) = self.join(bench, &groups) {
            self.inside.push(call);
            return bench.acts.push(Act::Grant(call, fence, got));
        }
        self.line.push_back(Waiting { call, groups, hasty });
        self.claim_for_next(bench);
    }

    fn leave(&mut self, bench: &mut Bench<'_>, call: CallId) {
        let Some(place) = self.inside.iter().position(|one| *one == call) else {
            self.line.retain(|waiting| waiting.call != call);
            return self.give_up(bench);
        };
        self.inside.remove(place);
        if self.inside.is_empty() {
            let made = self.made.take().expect("who is inside is so with the claim");
            self.step(bench, Input::Release(made.claim)).expect("it is inside");
        }
    }

    fn hear(&mut self, bench: &mut Bench<'_>, news: News) -> Result<(), Violation> {
        self.step(bench, news.into_input()?)
    }

    fn timer(&self) -> Option<Tick> {
        let kept = self.protocol.kept_until().filter(|_| self.is_idle());
        [self.timers.next(), kept].into_iter().flatten().min()
    }

    fn expire(&mut self, bench: &mut Bench<'_>) {
        while let Some(timer) = self.timers.expired(bench.now) {
            self.step(bench, Input::Expire(timer)).expect("an armed timer is no violation");
        }
    }

    /// The claim is made for the first in line; who stands behind it waits for somebody.
    fn is_held_up(&self, call: CallId) -> bool {
        let first = self.line.front().is_some_and(|first| first.call == call);
        let inside = self.made.as_ref().is_some_and(|made| made.session.is_some());
        let told = || self.protocol.view().claims.iter().any(|claim| claim.held_up);
        !self.inside.contains(&call) && (!first || inside || told())
    }

    fn waiting_with(&self, ticket: Ticket) -> Vec<CallId> {
        let waits = |claim: &ClaimView| claim.ticket == ticket && !claim.inside;
        let ours = self.protocol.view().claims.iter().any(waits);
        if ours { self.line.iter().map(|waiting| waiting.call).collect() } else { Vec::new() }
    }

    fn basis(&self, call: CallId) -> Basis {
        let until = self.good_until().filter(|_| self.inside.contains(&call));
        until.map_or(Basis::Nothing, |until| Basis::Until(until, self.protocol.follows()))
    }

    fn shut(&mut self) {
        if let Some(session) = self.made.as_mut().and_then(|made| made.session.as_mut()) {
            session.shut = true;
        }
    }

    fn quorums<'a>(&'a self, shared: &'a Shared, _: CallId) -> &'a dyn QuorumSystem {
        shared.quorums()
    }

    fn view(&self) -> View {
        self.protocol.view()
    }

    fn line(&self) -> Vec<CallId> {
        let waiting = self.line.iter().map(|waiting| waiting.call);
        self.inside.iter().copied().chain(waiting).collect()
    }

    /// One request is made for all of them.
    fn request<'a>(&self, _: CallId, view: &'a View) -> Option<&'a ClaimView> {
        view.claims.first()
    }

    /// An idle holder keeps its token, and a voter remembers for whom it vouches.
    fn is_vacant(&self, now: Tick) -> bool {
        self.is_idle() && self.protocol.kept_until().is_none_or(|until| until <= now)
    }

    fn retire(&self, shared: &mut Shared) {
        self.protocol.retire(shared);
    }
}
