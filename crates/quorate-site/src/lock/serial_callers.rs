//! A local queue in front of a protocol that takes one claim of a site at a time.
//!
//! When a caller leaves and no other site is known to wait, the next local caller takes over
//! without a message. If another site waits, only a few local callers follow each other before the
//! lock leaves the site. Each has a fence of its own.

use std::collections::VecDeque;

use quorate_protocol::{
    ClaimId, ClaimView, Effect, Input, Out, Protocol, Shared, Tick, Ticket, ValidityBasis, View,
    Violation,
};
use quorate_quorum::QuorumSystem;
use quorate_session::{CallId, Denial, Kind};

use super::{CallerCount, CallerRequest, LockEffect, LockInput, LockInstance, StepContext};
use crate::kinds::{LockKind, ProtocolOf};

/// The limit of turns is so many times higher while no other site is known to wait.
///
/// A site may wait unknown to us: an arbiter does not announce a request to a holder that could not
/// pass the lock to it. So the lock is given back now and then, at a cost spread over many turns.
const QUIET_FACTOR: u32 = 16;

/// Callers of one site, one after another, and the protocol.
#[derive(Clone, Debug)]
pub(crate) struct SerialCallers<K, P: Protocol> {
    kind: K,
    protocol: P,
    /// The caller for which the protocol's claim is made.
    served: Option<Served>,
    queue: VecDeque<Queued>,
    /// How many claims the protocol was given. The last of them is made for the caller served.
    claims: u32,
    /// The time of the latest ticket of this site for this lock, or a later one.
    last_ticket: Option<u64>,
    /// The armed timer, and when it expires. A protocol with one claim at a time needs no second.
    timer: Option<(P::Timer, Tick)>,
}

/// A caller in the queue.
#[derive(Clone, Copy, Debug)]
struct Queued {
    call: CallId,
    /// Since when it waits, in Lamport time.
    since: u64,
    /// Whether it waited at another site before.
    moved: bool,
}

#[derive(Clone, Copy, Debug)]
struct Served {
    call: CallId,
    stage: Stage,
    /// How many callers have followed another one under this claim.
    turns: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The protocol waits.
    Waiting,
    /// The caller is inside.
    Inside,
    /// The site is inside, and the caller waits for a fence of its own.
    Turning,
}

impl<K: LockKind<Claim = ()>, P: ProtocolOf<K>> SerialCallers<K, P> {
    pub(crate) fn new(kind: K, protocol: P) -> Self {
        let (queue, last_ticket) = (VecDeque::new(), None);
        Self { kind, protocol, served: None, queue, claims: 0, last_ticket, timer: None }
    }

    /// Runs one step of the protocol, and applies its effects.
    fn step(&mut self, context: &mut StepContext<'_>, input: Input<P>) -> Result<(), Violation> {
        let mut out = Out::new();
        self.protocol.step(context.shared, context.now, input, &mut out)?;
        while let Some(effect) = out.pop() {
            self.apply(context, effect);
        }
        self.serve_next(context);
        Ok(())
    }

    fn apply(&mut self, context: &mut StepContext<'_>, effect: Effect<P>) {
        match effect {
            Effect::Send(to, message) => context.effects.push(LockEffect::Send(to, message.into())),
            Effect::Persist(record) => context.effects.push(LockEffect::Persist(record)),
            Effect::Grant(_, grant) => {
                let served = self.served.as_mut().expect("a grant has a caller");
                served.stage = Stage::Inside;
                let (fence, granted) = (K::fence(&grant), K::granted(&grant));
                context.effects.push(LockEffect::Grant { call: served.call, fence, granted });
            }
            Effect::Lose(_, why) => {
                let served = self.served.take().expect("a loss has a caller");
                if served.stage == Stage::Turning {
                    let since = self.queue.front().map_or(u64::MAX, |first| first.since);
                    // It was not inside yet.
                    self.queue.push_front(Queued { call: served.call, since, moved: false });
                } else {
                    context.effects.push(LockEffect::Lose(served.call, why));
                }
            }
            Effect::Contradiction(_) => context.effects.push(LockEffect::Contradiction),
            Effect::Ignore(_) | Effect::Regenerated(_) => {}
            Effect::Arm(timer, time) => {
                assert!(self.timer.is_none(), "one claim at a time has one timer");
                self.timer = Some((timer, context.now + time));
            }
            Effect::Disarm(timer) => self.timer = self.timer.filter(|armed| armed.0 != timer),
        }
    }

    /// Makes a claim for the next caller in the queue, if none is made.
    fn serve_next(&mut self, context: &mut StepContext<'_>) {
        if self.served.is_some() {
            return;
        }
        let Some(Queued { call, since, moved }) = self.queue.pop_front() else { return };
        let last = *self.last_ticket.get_or_insert(context.shared.last_ticket());
        // Tickets of one site for one lock are in order, and so unique.
        context.shared.allow_earlier(moved.then(|| since.max(last + 1)));
        self.claims += 1;
        self.served = Some(Served { call, stage: Stage::Waiting, turns: 0 });
        if self.step(context, Input::Acquire(self.claim_id(), ())).is_err() {
            self.served = None;
            return context.effects.push(LockEffect::Deny(call, Denial::NeverAsks));
        }
        self.last_ticket = Some(last.max(context.shared.made_time()));
    }

    /// The caller served has left: the next in the queue takes its place, or the claim ends.
    fn replace(&mut self, context: &mut StepContext<'_>, served: Served) {
        let claim = self.claim_id();
        let done = match (served.stage, self.queue.front().map(|next| next.call)) {
            (Stage::Waiting | Stage::Turning, Some(next)) => {
                self.queue.pop_front();
                self.served = Some(Served { call: next, ..served });
                Ok(())
            }
            (Stage::Inside, Some(next)) if self.may_turn(context, served) => {
                self.queue.pop_front();
                let turns = served.turns + 1;
                self.served = Some(Served { call: next, stage: Stage::Turning, turns });
                self.step(context, Input::Turn(claim))
            }
            (Stage::Waiting, None) => self.step(context, Input::Abandon(claim)),
            (Stage::Inside | Stage::Turning, _) => self.step(context, Input::Release(claim)),
        };
        done.expect("the claim is in the stage that was noted");
    }

    /// The claim of the caller served.
    fn claim_id(&self) -> ClaimId {
        ClaimId(self.claims)
    }

    fn may_turn(&self, context: &StepContext<'_>, served: Served) -> bool {
        let most = context.local_turns * if self.protocol.is_wanted() { 1 } else { QUIET_FACTOR };
        served.turns < most
    }
}

impl<K: LockKind<Claim = ()>, P: ProtocolOf<K>> LockInstance for SerialCallers<K, P> {
    fn clone_box(&self) -> Box<dyn LockInstance> {
        Box::new(self.clone())
    }

    fn kind(&self) -> Kind {
        self.kind.kind()
    }

    /// A caller that waited at another site before goes ahead of those that came later.
    fn claim(&mut self, context: &mut StepContext<'_>, request: CallerRequest<'_>) {
        let (now, moved) = (context.shared.clock.time() + 1, request.earlier.is_some());
        let since = request.earlier.map_or(now, |earlier| earlier.min(now));
        let place = self.queue.partition_point(|queued| !moved || queued.since <= since);
        self.queue.insert(place, Queued { call: request.call, since, moved });
        self.serve_next(context);
    }

    fn leave(&mut self, context: &mut StepContext<'_>, call: CallId) {
        match self.served.take_if(|served| served.call == call) {
            Some(served) => self.replace(context, served),
            None => self.queue.retain(|waiting| waiting.call != call),
        }
    }

    fn on_input(
        &mut self,
        context: &mut StepContext<'_>,
        input: LockInput,
    ) -> Result<(), Violation> {
        self.step(context, input.into_protocol_input()?)
    }

    fn next_timer(&self) -> Option<Tick> {
        self.timer.map(|(_, when)| when)
    }

    /// A holder can wait for its spare permissions.
    fn timers_can_wait(&self) -> bool {
        true
    }

    fn on_timers(&mut self, context: &mut StepContext<'_>) {
        if let Some((timer, _)) = self.timer.take_if(|(_, when)| *when <= context.now) {
            self.step(context, Input::Expire(timer)).expect("an armed timer is no violation");
        }
    }

    fn is_held_up(&self, call: CallId) -> bool {
        let held_up = || self.protocol.view().claims.iter().any(|claim| claim.held_up);
        match self.served {
            Some(served) if served.call == call => served.stage == Stage::Waiting && held_up(),
            _ => true, // it is in the queue
        }
    }

    fn waiting_with(&self, ticket: Ticket) -> Vec<CallId> {
        let waits = |served: &Served| served.stage == Stage::Waiting;
        let ours = self.protocol.view().claims.iter().any(|claim| claim.ticket == ticket);
        if ours && self.served.as_ref().is_some_and(waits) { self.callers() } else { Vec::new() }
    }

    fn validity_basis(&self, call: CallId) -> ValidityBasis {
        let inside = |served: &Served| served.call == call && served.stage == Stage::Inside;
        let served = self.served.filter(inside);
        served.map_or(ValidityBasis::Nothing, |_| self.protocol.validity_basis(self.claim_id()))
    }

    fn quorums<'a>(&'a self, shared: &'a Shared, _: CallId) -> &'a dyn QuorumSystem {
        shared.quorums()
    }

    /// A site has one claim at most.
    fn view(&self, _: &[CallId], most: usize) -> View {
        View { claims: self.protocol.view().claims, ..self.protocol.view_without_claims(most) }
    }

    fn first_callers(&self, most: usize) -> Vec<CallId> {
        let queue = self.queue.iter().map(|queued| queued.call);
        self.served.iter().map(|served| served.call).chain(queue).take(most).collect()
    }

    fn count_callers(&self) -> CallerCount {
        let is_inside = |served: &Served| served.stage == Stage::Inside;
        let inside = usize::from(self.served.as_ref().is_some_and(is_inside));
        let all = self.queue.len() + usize::from(self.served.is_some());
        CallerCount { inside, waiting: all - inside }
    }

    /// All of them share one request.
    fn request<'a>(&self, _: CallId, view: &'a View) -> Option<&'a ClaimView> {
        view.claims.first()
    }

    fn is_vacant(&self, _: Tick) -> bool {
        self.served.is_none() && self.queue.is_empty() && self.protocol.is_vacant()
    }

    fn retire(&self, shared: &mut Shared) {
        shared.note_last_ticket(self.last_ticket.unwrap_or_default());
        self.protocol.retire(shared);
    }
}
