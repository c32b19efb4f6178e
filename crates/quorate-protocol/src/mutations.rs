//! What all mutants have in common: locks with one repair undone.

use std::fmt::Debug;
use std::hash::Hash;

use quorate_quorum::{QuorumSystem, SiteId};

use crate::{
    ClaimId, ClaimView, Effect, Input, Out, Protocol, Shared, Tick, Ticket, ValidityBasis, View,
    Violation,
};

/// A wrapper around a lock that undoes one of its repairs.
///
/// It steps the lock, and changes inputs, effects and state around the step. It has the lock's
/// messages, claims and grants, and forwards all other methods to the lock.
pub trait MutantProtocol: Clone + Debug + Eq + Hash {
    /// The type of the wrapped lock.
    type Lock: Protocol;

    /// The wrapped lock.
    fn lock(&self) -> &Self::Lock;

    /// Handles one input, wrongly.
    ///
    /// # Errors
    ///
    /// As [`Protocol::step`]; the caller discards `out` then.
    fn faulty_step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Self::Lock>,
        out: &mut Out<Self::Lock>,
    ) -> Result<(), Violation>;
}

impl<W: MutantProtocol> Protocol for W {
    type Message = <W::Lock as Protocol>::Message;
    type Claim = <W::Lock as Protocol>::Claim;
    type Grant = <W::Lock as Protocol>::Grant;
    type Timer = <W::Lock as Protocol>::Timer;

    const CONCURRENT_CLAIMS: bool = W::Lock::CONCURRENT_CLAIMS;

    fn step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Self>,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        let mut inner = Out::new();
        self.faulty_step(site, now, input.cast(), &mut inner)?;
        for effect in inner.drain() {
            out.push(effect.cast());
        }
        Ok(())
    }

    fn validity_basis(&self, claim: ClaimId) -> ValidityBasis {
        self.lock().validity_basis(claim)
    }

    fn delegations(&self) -> Vec<(SiteId, Ticket)> {
        self.lock().delegations()
    }

    fn delegation_basis(&self, about: Ticket) -> ValidityBasis {
        self.lock().delegation_basis(about)
    }

    fn on_behalf(&self, request: Ticket) -> Vec<Ticket> {
        self.lock().on_behalf(request)
    }

    fn quorums_of<'a>(&'a self, site: &'a Shared, claim: ClaimId) -> &'a dyn QuorumSystem {
        self.lock().quorums_of(site, claim)
    }

    fn view(&self) -> View {
        self.lock().view()
    }

    fn claim_view(&self, claim: ClaimId) -> Option<ClaimView> {
        self.lock().claim_view(claim)
    }

    fn view_without_claims(&self, most: usize) -> View {
        self.lock().view_without_claims(most)
    }

    fn is_wanted(&self) -> bool {
        self.lock().is_wanted()
    }

    fn is_vacant(&self) -> bool {
        self.lock().is_vacant()
    }

    fn retire(&self, site: &mut Shared) {
        self.lock().retire(site);
    }
}

impl<P: Protocol> Input<P> {
    /// The same input, for a protocol with the same messages, claims and timers.
    fn cast<Q>(self) -> Input<Q>
    where
        Q: Protocol<Message = P::Message, Claim = P::Claim, Timer = P::Timer>,
    {
        match self {
            Input::Acquire(claim, what) => Input::Acquire(claim, what),
            Input::Release(claim) => Input::Release(claim),
            Input::Abandon(claim) => Input::Abandon(claim),
            Input::Turn(claim) => Input::Turn(claim),
            Input::Deliver(from, message) => Input::Deliver(from, message),
            Input::Expire(timer) => Input::Expire(timer),
            Input::Silent(site) => Input::Silent(site),
            Input::Lost(site) => Input::Lost(site),
            Input::Open(site, number) => Input::Open(site, number),
            Input::Closed(site) => Input::Closed(site),
            Input::Opened(site, number) => Input::Opened(site, number),
            Input::DelegationValid(ticket) => Input::DelegationValid(ticket),
            Input::Cleared => Input::Cleared,
        }
    }
}

impl<P: Protocol> Effect<P> {
    /// The same effect, for a protocol with the same messages, grants and timers.
    fn cast<Q>(self) -> Effect<Q>
    where
        Q: Protocol<Message = P::Message, Grant = P::Grant, Timer = P::Timer>,
    {
        match self {
            Effect::Send(to, message) => Effect::Send(to, message),
            Effect::Grant(claim, grant) => Effect::Grant(claim, grant),
            Effect::Lose(claim, why) => Effect::Lose(claim, why),
            Effect::Arm(timer, after) => Effect::Arm(timer, after),
            Effect::Disarm(timer) => Effect::Disarm(timer),
            Effect::Persist(record) => Effect::Persist(record),
            Effect::Regenerated(what) => Effect::Regenerated(what),
            Effect::Contradiction(what) => Effect::Contradiction(what),
            Effect::Ignore(why) => Effect::Ignore(why),
        }
    }
}

/// A name as options spell it: `NoAsking` is `no-asking`, but `E10` is `E10`.
pub(crate) fn dashed(name: &str) -> String {
    if name.bytes().skip(1).all(|byte| byte.is_ascii_digit()) {
        return name.to_owned();
    }
    let mut dashed = String::new();
    for (place, letter) in name.char_indices() {
        if letter.is_uppercase() && place > 0 {
            dashed.push('-');
        }
        dashed.push(letter.to_ascii_lowercase());
    }
    dashed
}
