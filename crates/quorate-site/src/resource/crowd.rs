//! Callers of a protocol that takes each of them as a claim of its own.

use std::collections::BTreeMap;

use quorate_protocol::{
    Basis, ClaimId, ClaimView, Effect, Input, Out, Protocol, Shared, Tick, Ticket, View, Violation,
    Why,
};
use quorate_quorum::{QuorumSystem, SiteId};
use quorate_session::{CallId, Denial, Want};

use super::timers::Timers;
use super::{Act, Bench, News, Part};
use crate::registry::{Granted, Registered, Spoken, Wanted};

/// Callers of one site side by side, and the protocol that lets them in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Crowd<P: Protocol> {
    protocol: P,
    /// Whom each claim is made for, in the order in which they came.
    callers: BTreeMap<ClaimId, Caller>,
    /// How many claims the protocol was given.
    claims: u32,
    /// The timers of the protocol that are armed.
    timers: Timers<P::Timer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Caller {
    call: CallId,
    inside: bool,
    /// Whether it was told to leave. Then its claim may end before it has.
    stopping: bool,
}

impl<P: Registered> Crowd<P> {
    pub(crate) fn new(protocol: P) -> Self {
        Self { protocol, callers: BTreeMap::new(), claims: 0, timers: Timers::default() }
    }

    /// One step of the protocol, and what follows from it.
    fn step(&mut self, bench: &mut Bench<'_>, input: Input<P>) -> Result<(), Violation> {
        let mut out = Out::new();
        self.protocol.step(bench.shared, bench.now, input, &mut out)?;
        while let Some(effect) = out.pop() {
            self.carry_out(bench, effect);
        }
        Ok(())
    }

    fn carry_out(&mut self, bench: &mut Bench<'_>, effect: Effect<P>) {
        match effect {
            Effect::Send(to, message) => bench.acts.push(Act::Send(to, message.into_speech())),
            Effect::Persist(record) => bench.acts.push(Act::Persist(record)),
            Effect::Grant(claim, grant) => {
                let caller = self.callers.get_mut(&claim).expect("a grant is somebody's");
                caller.inside = true;
                bench.acts.push(Act::Grant(caller.call, grant.fence(), grant.got()));
            }
            // It is a member until it has left, and is told to.
            Effect::Lose(claim, Why::Overdue) => {
                let caller = self.callers.get_mut(&claim).expect("a loss is somebody's");
                caller.stopping = true;
                bench.acts.push(Act::Stop(caller.call, Why::Overdue));
            }
            Effect::Lose(claim, why) => {
                let caller = self.callers.remove(&claim).expect("a loss is somebody's");
                bench.acts.push(Act::Lose(caller.call, why));
            }
            Effect::Ignore(_) | Effect::Regenerated(_) => {}
            Effect::Arm(timer, time) => self.timers.arm(timer, bench.now + time),
            Effect::Disarm(timer) => self.timers.disarm(timer),
        }
    }

    fn find(&self, call: CallId) -> Option<(ClaimId, Caller)> {
        let mut callers = self.callers.iter().map(|(&claim, &caller)| (claim, caller));
        callers.find(|(_, caller)| caller.call == call)
    }
}

impl<P: Registered> Part for Crowd<P> {
    fn claim(&mut self, bench: &mut Bench<'_>, call: CallId, want: &Want, hasty: bool) {
        self.claims += 1;
        let claim = ClaimId(self.claims);
        let wanted = P::Claim::from_want(want, hasty, (bench.shared.site(), claim));
        let wanted = wanted.expect("it is a resource of the kind that is wanted");
        self.callers.insert(claim, Caller { call, inside: false, stopping: false });
        if self.step(bench, Input::Acquire(claim, wanted)).is_err() {
            self.callers.remove(&claim);
            bench.acts.push(Act::Deny(call, Denial::NeverAsks));
        }
    }

    fn leave(&mut self, bench: &mut Bench<'_>, call: CallId) {
        let Some((claim, caller)) = self.find(call) else { return };
        self.callers.remove(&claim);
        let input = if caller.inside { Input::Release(claim) } else { Input::Abandon(claim) };
        let done = self.step(bench, input);
        assert!(done.is_ok() || caller.stopping, "the claim is where the crowd knows it to be");
    }

    fn hear(&mut self, bench: &mut Bench<'_>, news: News) -> Result<(), Violation> {
        self.step(bench, news.into_input()?)
    }

    fn timer(&self) -> Option<Tick> {
        self.timers.next()
    }

    fn expire(&mut self, bench: &mut Bench<'_>) {
        while let Some(timer) = self.timers.expired(bench.now) {
            self.step(bench, Input::Expire(timer)).expect("an armed timer is no violation");
        }
    }

    fn is_held_up(&self, call: CallId) -> bool {
        let Some((claim, _)) = self.find(call) else { return false };
        let mut claims = self.protocol.view().claims.into_iter();
        claims.any(|view| view.ticket.claim == claim && view.held_up)
    }

    fn waiting_with(&self, ticket: Ticket) -> Vec<CallId> {
        let made = self.protocol.view().claims.iter().any(|claim| claim.ticket == ticket);
        let caller = self.callers.get(&ticket.claim).filter(|caller| made && !caller.inside);
        caller.map(|caller| caller.call).into_iter().collect()
    }

    fn basis(&self, call: CallId) -> Basis {
        let found = self.find(call).filter(|(_, caller)| caller.inside);
        found.map_or(Basis::Nothing, |(claim, _)| self.protocol.rests_on(claim))
    }

    fn words(&self) -> Vec<(SiteId, Ticket)> {
        self.protocol.words()
    }

    fn word_on(&self, about: Ticket) -> Basis {
        self.protocol.word_on(about)
    }

    /// Several managers may have said that it may come in; one of them was the first.
    fn inside_on(&self, giver: SiteId, ticket: Ticket) -> Option<CallId> {
        let caller = self.callers.get(&ticket.claim).filter(|caller| caller.inside)?;
        let rests = self.protocol.rests_on(ticket.claim) == Basis::Word(giver, ticket);
        rests.then_some(caller.call)
    }

    fn on_behalf(&self, request: Ticket) -> Vec<Ticket> {
        self.protocol.on_behalf(request)
    }

    fn assure(&mut self, bench: &mut Bench<'_>, about: Ticket) {
        self.step(bench, Input::Assured(about)).expect("to be assured is no violation");
    }

    fn quorums<'a>(&'a self, shared: &'a Shared, call: CallId) -> &'a dyn QuorumSystem {
        match self.find(call) {
            Some((claim, _)) => self.protocol.quorums_of(shared, claim),
            None => shared.quorums(),
        }
    }

    fn view(&self) -> View {
        self.protocol.view()
    }

    fn line(&self) -> Vec<CallId> {
        let (inside, waiting): (Vec<&Caller>, Vec<&Caller>) =
            self.callers.values().partition(|caller| caller.inside);
        inside.into_iter().chain(waiting).map(|caller| caller.call).collect()
    }

    fn request<'a>(&self, call: CallId, view: &'a View) -> Option<&'a ClaimView> {
        let (claim, _) = self.find(call)?;
        view.claims.iter().find(|view| view.ticket.claim == claim)
    }

    fn is_vacant(&self, _: Tick) -> bool {
        self.callers.is_empty() && self.protocol.is_vacant()
    }

    fn retire(&self, shared: &mut Shared) {
        self.protocol.retire(shared);
    }
}
