//! Callers of one site that share one claim of a group.
//!
//! The claim is made for the first caller in the queue. When it is granted a group, all callers in
//! the queue that accept this group enter with it, and later ones join. They are one occupancy,
//! with one fence. When the last of them has left, the site leaves. Only a few newcomers join once
//! another group is waited for.

use std::collections::VecDeque;

use quorate_protocol::group::{Claim, Group, Groups};
use quorate_protocol::token::Leased;
use quorate_protocol::{
    ClaimId, ClaimView, Effect, Fence, Input, Out, Protocol, Shared, Tick, Ticket, ValidityBasis,
    View, Violation, Why, token,
};
use quorate_quorum::QuorumSystem;
use quorate_session::{CallId, Denial, Granted, Kind};

use super::timers::Timers;
use super::{CallerCount, CallerRequest, LockEffect, LockInput, LockInstance, StepContext};
use crate::kinds::{CallerClaim, LockKind, ProtocolOf};

/// The limit of newcomers is so many times higher while no other group is known to be waited for.
///
/// A site may wait unknown to us: a follower does not learn of the requests at its captain. So the
/// site leaves now and then.
const QUIET_FACTOR: u32 = 16;

/// Callers of one site that are inside together, those in the queue, and the protocol.
#[derive(Clone, Debug)]
pub(crate) struct SharedClaim<K, P: Protocol> {
    kind: K,
    protocol: P,
    /// The claim of the site, if it has made one.
    made: Option<Made>,
    /// The callers that are inside with it.
    inside: Vec<CallId>,
    queue: VecDeque<Waiting>,
    /// How many claims the protocol was given.
    claims: u32,
    timers: Timers<P::Timer>,
}

/// The claim of a site.
#[derive(Clone, Debug)]
struct Made {
    claim: ClaimId,
    groups: Groups,
    /// The occupancy it takes part in, if it is inside.
    occupancy: Option<Occupancy>,
}

#[derive(Clone, Debug)]
struct Occupancy {
    group: Group,
    fence: Fence,
    /// How many have joined since it began.
    newcomers: u32,
    /// Whether nobody may join any more.
    closed: bool,
}

/// A caller in the queue.
#[derive(Clone, Debug)]
struct Waiting {
    call: CallId,
    groups: Groups,
    no_wait: bool,
}

/// The kinds of lock whose claims can be shared: all callers of an occupancy have its fence.
pub(crate) trait ShareableKind: LockKind<Claim = Claim, Grant = token::Grant> {}

impl<K: LockKind<Claim = Claim, Grant = token::Grant>> ShareableKind for K {}

impl<K: ShareableKind, P: ProtocolOf<K> + Leased> SharedClaim<K, P> {
    pub(crate) fn new(kind: K, protocol: P) -> Self {
        Self {
            kind,
            protocol,
            made: None,
            inside: Vec::new(),
            queue: VecDeque::new(),
            claims: 0,
            timers: Timers::default(),
        }
    }

    /// Runs one step of the protocol, and applies its effects.
    fn step(&mut self, context: &mut StepContext<'_>, input: Input<P>) -> Result<(), Violation> {
        let before = self.good_until();
        let mut out = Out::new();
        self.protocol.step(context.shared, context.now, input, &mut out)?;
        while let Some(effect) = out.pop() {
            self.apply(context, effect);
        }
        if self.good_until() != before {
            context.effects.push(LockEffect::ValidityChanged);
        }
        self.claim_for_next(context);
        Ok(())
    }

    fn apply(&mut self, context: &mut StepContext<'_>, effect: Effect<P>) {
        match effect {
            Effect::Send(to, message) => context.effects.push(LockEffect::Send(to, message.into())),
            Effect::Persist(record) => context.effects.push(LockEffect::Persist(record)),
            Effect::Grant(_, grant) => self.enter(context, &grant),
            Effect::Lose(_, why) => self.lose(context, why),
            Effect::Regenerated(what) => context.effects.push(LockEffect::Regenerated(what)),
            Effect::Contradiction(_) => context.effects.push(LockEffect::Contradiction),
            Effect::Ignore(_) => {}
            Effect::Arm(timer, time) => self.timers.arm(timer, context.now + time),
            Effect::Disarm(timer) => self.timers.disarm(timer),
        }
    }

    /// The site is inside, and with it all callers in the queue that accept the group.
    fn enter(&mut self, context: &mut StepContext<'_>, grant: &token::Grant) {
        let made = self.made.as_mut().expect("a grant is of the claim that was made");
        let (group, fence) = (grant.group.clone(), K::fence(grant));
        made.occupancy =
            Some(Occupancy { group: group.clone(), fence, newcomers: 0, closed: false });
        for Waiting { call, groups, no_wait } in std::mem::take(&mut self.queue) {
            if groups.contains(&group) {
                self.inside.push(call);
                let granted = K::granted(grant);
                context.effects.push(LockEffect::Grant { call, fence, granted });
            } else {
                self.queue.push_back(Waiting { call, groups, no_wait });
            }
        }
        assert!(!self.inside.is_empty(), "the claim was made for a caller");
    }

    /// All callers inside lose the grant.
    fn lose(&mut self, context: &mut StepContext<'_>, why: Why) {
        self.made = None;
        context.effects.extend(self.inside.drain(..).map(|call| LockEffect::Lose(call, why)));
    }

    /// Makes a claim for the first caller in the queue, if none is made.
    fn claim_for_next(&mut self, context: &mut StepContext<'_>) {
        let (None, Some(first)) = (&self.made, self.queue.front()) else { return };
        let (call, groups, no_wait) = (first.call, first.groups.clone(), first.no_wait);
        self.claims += 1;
        let claim = ClaimId(self.claims);
        self.made = Some(Made { claim, groups: groups.clone(), occupancy: None });
        if self.step(context, Input::Acquire(claim, Claim { groups, no_wait })).is_err() {
            self.made = None;
            self.queue.pop_front();
            context.effects.push(LockEffect::Deny(call, Denial::NeverAsks));
        }
    }

    /// Lets a newcomer join the occupancy, if it accepts the group and others do not wait for too
    /// long; true if it did.
    fn join(&mut self, context: &mut StepContext<'_>, call: CallId, groups: &Groups) -> bool {
        let Some(occupancy) = self.made.as_mut().and_then(|made| made.occupancy.as_mut()) else {
            return false;
        };
        let group = &occupancy.group;
        let others = self.queue.iter().any(|waiting| !waiting.groups.contains(group));
        let wanted = others || self.protocol.is_wanted();
        let most = context.local_turns * if wanted { 1 } else { QUIET_FACTOR };
        if occupancy.closed || !groups.contains(group) || occupancy.newcomers >= most {
            return false;
        }
        occupancy.newcomers += 1;
        let (fence, granted) = (occupancy.fence, Granted::Group(group.clone()));
        self.inside.push(call);
        context.effects.push(LockEffect::Grant { call, fence, granted });
        true
    }

    /// Abandons a waiting claim, unless a caller in the queue accepts whatever it is granted.
    fn abandon(&mut self, context: &mut StepContext<'_>) {
        let waits = |made: &&mut Made| made.occupancy.is_none();
        let Some(made) = self.made.as_mut().filter(waits) else { return };
        let (claim, groups) = (made.claim, &made.groups);
        let takes_all = |one: &Waiting| groups.iter().all(|group| one.groups.contains(group));
        if !self.queue.iter().any(takes_all) {
            self.made = None;
            self.step(context, Input::Abandon(claim)).expect("it waits");
        }
    }

    fn good_until(&self) -> Option<Tick> {
        self.protocol.good_until()
    }

    /// Whether it has no local caller, and nothing is going on.
    fn is_idle(&self) -> bool {
        self.inside.is_empty() && self.queue.is_empty() && self.protocol.is_vacant()
    }
}

impl<K: ShareableKind, P: ProtocolOf<K> + Leased> LockInstance for SharedClaim<K, P> {
    fn clone_box(&self) -> Box<dyn LockInstance> {
        Box::new(self.clone())
    }

    fn kind(&self) -> Kind {
        self.kind.kind()
    }

    /// The order of a token's queue does not depend on times, so a caller that waited at another
    /// site before is one like any other.
    fn claim(&mut self, context: &mut StepContext<'_>, request: CallerRequest<'_>) {
        let CallerRequest { call, spec, no_wait, .. } = request;
        let (site, claim) = (context.shared.site(), ClaimId(0)); // the site's claim comes later
        let claim = K::claim(&CallerClaim { spec, no_wait, site, claim });
        let Claim { groups, no_wait } = claim.expect("the claim is for this kind of lock");
        if !self.join(context, call, &groups) {
            self.queue.push_back(Waiting { call, groups, no_wait });
            self.claim_for_next(context);
        }
    }

    fn leave(&mut self, context: &mut StepContext<'_>, call: CallId) {
        let Some(place) = self.inside.iter().position(|one| *one == call) else {
            self.queue.retain(|waiting| waiting.call != call);
            return self.abandon(context);
        };
        self.inside.remove(place);
        if self.inside.is_empty() {
            let made = self.made.take().expect("callers inside have a claim");
            self.step(context, Input::Release(made.claim)).expect("it is inside");
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
        let kept = self.protocol.kept_until().filter(|_| self.is_idle());
        [self.timers.next(), kept].into_iter().flatten().min()
    }

    fn on_timers(&mut self, context: &mut StepContext<'_>) {
        while let Some(timer) = self.timers.pop_expired(context.now) {
            self.step(context, Input::Expire(timer)).expect("an armed timer is no violation");
        }
    }

    /// The claim is made for the first caller in the queue; all others wait behind it.
    fn is_held_up(&self, call: CallId) -> bool {
        let first = self.queue.front().is_some_and(|first| first.call == call);
        let inside = self.made.as_ref().is_some_and(|made| made.occupancy.is_some());
        let held_up = || self.protocol.view().claims.iter().any(|claim| claim.held_up);
        !self.inside.contains(&call) && (!first || inside || held_up())
    }

    fn waiting_with(&self, ticket: Ticket) -> Vec<CallId> {
        let waits = |claim: &ClaimView| claim.ticket == ticket && !claim.inside;
        let ours = self.protocol.view().claims.iter().any(waits);
        if ours { self.queue.iter().map(|waiting| waiting.call).collect() } else { Vec::new() }
    }

    fn validity_basis(&self, call: CallId) -> ValidityBasis {
        let until = self.good_until().filter(|_| self.inside.contains(&call));
        until.map_or(ValidityBasis::Nothing, |until| {
            ValidityBasis::Until(until, self.protocol.follows())
        })
    }

    fn stop_joining(&mut self) {
        if let Some(occupancy) = self.made.as_mut().and_then(|made| made.occupancy.as_mut()) {
            occupancy.closed = true;
        }
    }

    fn quorums<'a>(&'a self, shared: &'a Shared, _: CallId) -> &'a dyn QuorumSystem {
        shared.quorums()
    }

    /// A site has two claims at most.
    fn view(&self, _: &[CallId], most: usize) -> View {
        View { claims: self.protocol.view().claims, ..self.protocol.view_without_claims(most) }
    }

    fn first_callers(&self, most: usize) -> Vec<CallId> {
        let waiting = self.queue.iter().map(|waiting| waiting.call);
        self.inside.iter().copied().chain(waiting).take(most).collect()
    }

    fn count_callers(&self) -> CallerCount {
        CallerCount { inside: self.inside.len(), waiting: self.queue.len() }
    }

    /// All of them share one request.
    fn request<'a>(&self, _: CallId, view: &'a View) -> Option<&'a ClaimView> {
        view.claims.first()
    }

    /// An idle holder keeps its token, and a voter the lease it has registered.
    fn is_vacant(&self, now: Tick) -> bool {
        self.is_idle() && self.protocol.kept_until().is_none_or(|until| until <= now)
    }

    fn retire(&self, shared: &mut Shared) {
        self.protocol.retire(shared);
    }
}
