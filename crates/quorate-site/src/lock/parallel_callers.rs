//! Callers of a protocol that takes each of them as a separate claim.

use std::collections::BTreeMap;

use quorate_protocol::{
    ClaimId, ClaimView, Effect, Input, Out, Protocol, Shared, Tick, Ticket, ValidityBasis, View,
    Violation, Why,
};
use quorate_quorum::{QuorumSystem, SiteId};
use quorate_session::{CallId, Denial, Kind};

use super::timers::Timers;
use super::{CallerCount, CallerRequest, LockEffect, LockInput, LockInstance, StepContext};
use crate::kinds::{CallerClaim, LockKind, ProtocolOf};

/// Callers of one site side by side, and the protocol.
#[derive(Clone, Debug)]
pub(crate) struct ParallelCallers<K, P: Protocol> {
    kind: K,
    protocol: P,
    /// The caller of each claim, in the order of their arrival.
    callers: BTreeMap<ClaimId, Caller>,
    /// The claim of each caller.
    by_call: BTreeMap<CallId, ClaimId>,
    /// How many claims the protocol was given.
    claims: u32,
    /// The latest ticket time of this site for an earlier lock of this name. Tickets that are
    /// later are unique, because the numbers of claims are.
    last_before: Option<u64>,
    /// The latest ticket time.
    last_ticket: u64,
    timers: Timers<P::Timer>,
}

#[derive(Clone, Copy, Debug)]
struct Caller {
    call: CallId,
    inside: bool,
    /// It was told to leave, and its claim may end before it does.
    stopping: bool,
}

impl<K: LockKind, P: ProtocolOf<K>> ParallelCallers<K, P> {
    pub(crate) fn new(kind: K, protocol: P) -> Self {
        Self {
            kind,
            protocol,
            callers: BTreeMap::new(),
            by_call: BTreeMap::new(),
            claims: 0,
            last_before: None,
            last_ticket: 0,
            timers: Timers::default(),
        }
    }

    /// Runs one step of the protocol, and applies its effects.
    fn step(&mut self, context: &mut StepContext<'_>, input: Input<P>) -> Result<(), Violation> {
        let mut out = Out::new();
        self.protocol.step(context.shared, context.now, input, &mut out)?;
        while let Some(effect) = out.pop() {
            self.apply(context, effect);
        }
        Ok(())
    }

    fn apply(&mut self, context: &mut StepContext<'_>, effect: Effect<P>) {
        match effect {
            Effect::Send(to, message) => context.effects.push(LockEffect::Send(to, message.into())),
            Effect::Persist(record) => context.effects.push(LockEffect::Persist(record)),
            Effect::Grant(claim, grant) => {
                let caller = self.callers.get_mut(&claim).expect("a grant has a caller");
                caller.inside = true;
                let (fence, granted) = (K::fence(&grant), K::granted(&grant));
                context.effects.push(LockEffect::Grant { call: caller.call, fence, granted });
            }
            // It is told to leave, and is inside until it has.
            Effect::Lose(claim, Why::Overdue) => {
                let caller = self.callers.get_mut(&claim).expect("a loss has a caller");
                caller.stopping = true;
                context.effects.push(LockEffect::Stop(caller.call, Why::Overdue));
            }
            Effect::Lose(claim, why) => {
                let caller = self.remove(claim).expect("a loss has a caller");
                context.effects.push(LockEffect::Lose(caller.call, why));
            }
            Effect::Contradiction(_) => context.effects.push(LockEffect::Contradiction),
            Effect::Ignore(_) | Effect::Regenerated(_) => {}
            Effect::Arm(timer, time) => self.timers.arm(timer, context.now + time),
            Effect::Disarm(timer) => self.timers.disarm(timer),
        }
    }

    fn find(&self, call: CallId) -> Option<(ClaimId, Caller)> {
        let claim = *self.by_call.get(&call)?;
        Some((claim, self.callers[&claim]))
    }

    fn remove(&mut self, claim: ClaimId) -> Option<Caller> {
        let caller = self.callers.remove(&claim)?;
        self.by_call.remove(&caller.call);
        Some(caller)
    }
}

impl<K: LockKind, P: ProtocolOf<K>> LockInstance for ParallelCallers<K, P> {
    fn clone_box(&self) -> Box<dyn LockInstance> {
        Box::new(self.clone())
    }

    fn kind(&self) -> Kind {
        self.kind.kind()
    }

    fn claim(&mut self, context: &mut StepContext<'_>, request: CallerRequest<'_>) {
        let CallerRequest { call, spec, no_wait, earlier } = request;
        let last = *self.last_before.get_or_insert(context.shared.last_ticket());
        context.shared.allow_earlier(earlier.map(|earlier| earlier.max(last + 1)));
        self.claims += 1;
        let claim = ClaimId(self.claims);
        let site = context.shared.site();
        let request = K::claim(&CallerClaim { spec, no_wait, site, claim });
        let request = request.expect("the claim is for this kind of lock");
        self.callers.insert(claim, Caller { call, inside: false, stopping: false });
        self.by_call.insert(call, claim);
        if self.step(context, Input::Acquire(claim, request)).is_err() {
            self.remove(claim);
            return context.effects.push(LockEffect::Deny(call, Denial::NeverAsks));
        }
        self.last_ticket = self.last_ticket.max(context.shared.made_time());
    }

    fn leave(&mut self, context: &mut StepContext<'_>, call: CallId) {
        let Some((claim, caller)) = self.find(call) else { return };
        self.remove(claim);
        let input = if caller.inside { Input::Release(claim) } else { Input::Abandon(claim) };
        let done = self.step(context, input);
        assert!(done.is_ok() || caller.stopping, "the claim is in the stage that was noted");
    }

    fn on_input(
        &mut self,
        context: &mut StepContext<'_>,
        input: LockInput,
    ) -> Result<(), Violation> {
        self.step(context, input.into_protocol_input()?)
    }

    fn next_timer(&self) -> Option<Tick> {
        self.timers.next()
    }

    fn timers_can_wait(&self) -> bool {
        K::TIMERS_CAN_WAIT
    }

    fn on_timers(&mut self, context: &mut StepContext<'_>) {
        while let Some(timer) = self.timers.pop_expired(context.now) {
            self.step(context, Input::Expire(timer)).expect("an armed timer is no violation");
        }
    }

    fn is_held_up(&self, call: CallId) -> bool {
        let Some((claim, _)) = self.find(call) else { return false };
        self.protocol.claim_view(claim).is_some_and(|view| view.held_up)
    }

    fn waiting_with(&self, ticket: Ticket) -> Vec<CallId> {
        let made = self.protocol.claim_view(ticket.claim);
        let made = made.is_some_and(|claim| claim.ticket == ticket);
        let caller = self.callers.get(&ticket.claim).filter(|caller| made && !caller.inside);
        caller.map(|caller| caller.call).into_iter().collect()
    }

    fn validity_basis(&self, call: CallId) -> ValidityBasis {
        let found = self.find(call).filter(|(_, caller)| caller.inside);
        found.map_or(ValidityBasis::Nothing, |(claim, _)| self.protocol.validity_basis(claim))
    }

    fn delegations(&self) -> Vec<(SiteId, Ticket)> {
        self.protocol.delegations()
    }

    fn delegation_basis(&self, about: Ticket) -> ValidityBasis {
        self.protocol.delegation_basis(about)
    }

    /// Several managers may have admitted it; its grant depends on the first.
    fn inside_by_delegation(&self, giver: SiteId, ticket: Ticket) -> Option<CallId> {
        let caller = self.callers.get(&ticket.claim).filter(|caller| caller.inside)?;
        let basis = self.protocol.validity_basis(ticket.claim);
        (basis == ValidityBasis::Delegation(giver, ticket)).then_some(caller.call)
    }

    fn on_behalf(&self, request: Ticket) -> Vec<Ticket> {
        self.protocol.on_behalf(request)
    }

    fn on_delegation_valid(&mut self, context: &mut StepContext<'_>, about: Ticket) {
        self.step(context, Input::DelegationValid(about))
            .expect("a valid delegation is no violation");
    }

    fn quorums<'a>(&'a self, shared: &'a Shared, call: CallId) -> &'a dyn QuorumSystem {
        match self.find(call) {
            Some((claim, _)) => self.protocol.quorums_of(shared, claim),
            None => shared.quorums(),
        }
    }

    fn view(&self, callers: &[CallId], most: usize) -> View {
        let claims = callers.iter().take(most).filter_map(|call| self.by_call.get(call));
        let claims = claims.filter_map(|claim| self.protocol.claim_view(*claim)).collect();
        View { claims, ..self.protocol.view_without_claims(most) }
    }

    fn first_callers(&self, most: usize) -> Vec<CallId> {
        let inside = self.callers.values().filter(|caller| caller.inside);
        let waiting = self.callers.values().filter(|caller| !caller.inside);
        inside.chain(waiting).take(most).map(|caller| caller.call).collect()
    }

    fn count_callers(&self) -> CallerCount {
        let inside = self.callers.values().filter(|caller| caller.inside).count();
        CallerCount { inside, waiting: self.callers.len() - inside }
    }

    fn request<'a>(&self, call: CallId, view: &'a View) -> Option<&'a ClaimView> {
        let (claim, _) = self.find(call)?;
        view.claims.iter().find(|view| view.ticket.claim == claim)
    }

    fn is_vacant(&self, _: Tick) -> bool {
        self.callers.is_empty() && self.protocol.is_vacant()
    }

    fn retire(&self, shared: &mut Shared) {
        shared.note_last_ticket(self.last_ticket);
        self.protocol.retire(shared);
    }
}
