//! A local queue of callers in front of a protocol that takes one claim at a time.
//!
//! When a caller leaves and nobody elsewhere is known to wait, the next one of this site follows
//! at no cost. When somebody waits, a few local callers may pass before the lock leaves the
//! site. Each takes a fence of its own.

use std::collections::VecDeque;

use quorate_protocol::{
    Basis, ClaimId, ClaimView, Effect, Input, Out, Shared, Tick, Ticket, View, Violation,
};
use quorate_quorum::QuorumSystem;
use quorate_session::{CallId, Denial, Want};

use super::{Act, Bench, News, Part};
use crate::registry::{Granted, Registered, Spoken};

/// How many times `local_turns` callers of one site pass while nobody elsewhere is known to wait.
///
/// Known is less than true: an arbiter does not announce a request to a holder that could not pass
/// to it. So the lock is given back now and then, and the cost of that is spread over many turns.
const QUIET: u32 = 16;

/// Callers of one site, one after another, and the protocol that lets them in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Front<P> {
    protocol: P,
    /// Whom the protocol's claim is made for.
    served: Option<Served>,
    line: VecDeque<CallId>,
    /// How many claims the protocol was given.
    claims: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Served {
    claim: ClaimId,
    call: CallId,
    stage: Stage,
    /// How many callers have followed another one under this claim.
    turns: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stage {
    /// The protocol waits.
    Waiting,
    /// The caller is inside.
    Inside,
    /// The site is inside, and the caller waits for a fence of its own.
    Turning,
}

impl<P: Registered<Claim = ()>> Front<P> {
    pub(crate) fn new(protocol: P) -> Self {
        Self { protocol, served: None, line: VecDeque::new(), claims: 0 }
    }

    /// One step of the protocol, and what follows from it.
    fn step(&mut self, bench: &mut Bench<'_>, input: Input<P>) -> Result<(), Violation> {
        let mut out = Out::new();
        self.protocol.step(bench.shared, bench.now, input, &mut out)?;
        while let Some(effect) = out.pop() {
            self.carry_out(bench, effect);
        }
        self.serve_next(bench);
        Ok(())
    }

    fn carry_out(&mut self, bench: &mut Bench<'_>, effect: Effect<P>) {
        match effect {
            Effect::Send(to, message) => bench.acts.push(Act::Send(to, message.into_speech())),
            Effect::Persist(record) => bench.acts.push(Act::Persist(record)),
            Effect::Grant(_, grant) => {
                let served = self.served.as_mut().expect("a grant is somebody's");
                served.stage = Stage::Inside;
                bench.acts.push(Act::Grant(served.call, grant.fence(), grant.got()));
            }
            Effect::Lose(_, why) => {
                let served = self.served.take().expect("a loss is somebody's");
                if served.stage == Stage::Turning {
                    self.line.push_front(served.call); // it was not inside yet
                } else {
                    bench.acts.push(Act::Lose(served.call, why));
                }
            }
            Effect::Ignore(_) | Effect::Regenerated(_) => {}
            Effect::Arm(..) | Effect::Disarm(_) => {
                unreachable!("no protocol that takes one claim at a time has timers yet")
            }
        }
    }

    /// Makes a claim for the next in line, if none is made.
    fn serve_next(&mut self, bench: &mut Bench<'_>) {
        if self.served.is_some() {
            return;
        }
        let Some(call) = self.line.pop_front() else { return };
        self.claims += 1;
        let claim = ClaimId(self.claims);
        self.served = Some(Served { claim, call, stage: Stage::Waiting, turns: 0 });
        if self.step(bench, Input::Acquire(claim, ())).is_err() {
            self.served = None;
            bench.acts.push(Act::Deny(call, Denial::NeverAsks));
        }
    }

    /// The caller served has left: the next in line takes its place, or nobody does.
    fn follow(&mut self, bench: &mut Bench<'_>, served: Served) {
        let claim = served.claim;
        let done = match (served.stage, self.line.front().copied()) {
            (Stage::Waiting | Stage::Turning, Some(next)) => {
                self.line.pop_front();
                self.served = Some(Served { call: next, ..served });
                Ok(())
            }
            (Stage::Inside, Some(next)) if self.may_turn(bench, served) => {
                self.line.pop_front();
                let turns = served.turns + 1;
                self.served = Some(Served { call: next, stage: Stage::Turning, turns, claim });
                self.step(bench, Input::Turn(claim))
            }
            (Stage::Waiting, None) => self.step(bench, Input::Abandon(claim)),
            (Stage::Inside | Stage::Turning, _) => self.step(bench, Input::Release(claim)),
        };
        done.expect("the claim is where the front knows it to be");
    }

    fn may_turn(&self, bench: &Bench<'_>, served: Served) -> bool {
        let most = bench.local_turns * if self.protocol.is_wanted() { 1 } else { QUIET };
        served.turns < most
    }
}

impl<P: Registered<Claim = ()>> Part for Front<P> {
    fn claim(&mut self, bench: &mut Bench<'_>, call: CallId, _: &Want, _: bool) {
        self.line.push_back(call);
        self.serve_next(bench);
    }

    fn leave(&mut self, bench: &mut Bench<'_>, call: CallId) {
        match self.served.take_if(|served| served.call == call) {
            Some(served) => self.follow(bench, served),
            None => self.line.retain(|waiting| *waiting != call),
        }
    }

    fn hear(&mut self, bench: &mut Bench<'_>, news: News) -> Result<(), Violation> {
        self.step(bench, news.into_input()?)
    }

    fn is_held_up(&self, call: CallId) -> bool {
        let held_up = || self.protocol.view().claims.iter().any(|claim| claim.held_up);
        match self.served {
            Some(served) if served.call == call => served.stage == Stage::Waiting && held_up(),
            _ => true, // it stands in line
        }
    }

    fn waiting_with(&self, ticket: Ticket) -> Vec<CallId> {
        let waits = |served: &Served| served.stage == Stage::Waiting;
        let ours = self.protocol.view().claims.iter().any(|claim| claim.ticket == ticket);
        if ours && self.served.as_ref().is_some_and(waits) { self.line() } else { Vec::new() }
    }

    fn basis(&self, call: CallId) -> Basis {
        let inside = |served: &Served| served.call == call && served.stage == Stage::Inside;
        let served = self.served.filter(inside);
        served.map_or(Basis::Nothing, |served| self.protocol.rests_on(served.claim))
    }

    fn quorums<'a>(&'a self, shared: &'a Shared, _: CallId) -> &'a dyn QuorumSystem {
        shared.quorums()
    }

    fn view(&self) -> View {
        self.protocol.view()
    }

    fn line(&self) -> Vec<CallId> {
        self.served.iter().map(|served| served.call).chain(self.line.iter().copied()).collect()
    }

    /// One request is made for all of them.
    fn request<'a>(&self, _: CallId, view: &'a View) -> Option<&'a ClaimView> {
        view.claims.first()
    }

    fn is_vacant(&self, _: Tick) -> bool {
        self.served.is_none() && self.line.is_empty() && self.protocol.is_vacant()
    }

    fn retire(&self, shared: &mut Shared) {
        self.protocol.retire(shared);
    }
}
