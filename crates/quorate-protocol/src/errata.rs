//! What all locks with a repair undone have in common.

use std::fmt::Debug;
use std::hash::Hash;

use quorate_quorum::{QuorumSystem, SiteId};

use crate::{Basis, ClaimId, Effect, Input, Out, Protocol, Shared, Tick, Ticket, View, Violation};

/// A wrapper around a lock that makes it go wrong.
///
/// It takes the steps of the lock, and bends what comes in and what goes out. It speaks the lock's
/// language, and whatever else it is asked is for the lock to answer.
pub trait Wrapper: Clone + Debug + Eq + Hash {
    /// What is wrapped.
    type Lock: Protocol;

    /// What is wrapped.
    fn lock(&self) -> &Self::Lock;

    /// Handles one input, wrongly.
    ///
    /// # Errors
    ///
    /// As [`Protocol::step`]; what is in `out` then is forgotten.
    fn misstep(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Self::Lock>,
        out: &mut Out<Self::Lock>,
    ) -> Result<(), Violation>;
}

impl<W: Wrapper> Protocol for W {
    type Message = <W::Lock as Protocol>::Message;
    type Claim = <W::Lock as Protocol>::Claim;
    type Grant = <W::Lock as Protocol>::Grant;
    type Timer = <W::Lock as Protocol>::Timer;

    const SEVERAL: bool = W::Lock::SEVERAL;

    fn step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Self>,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        let mut inner = Out::new();
        self.misstep(site, now, input.of(), &mut inner)?;
        for effect in inner.drain() {
            out.push(effect.of());
        }
        Ok(())
    }

    fn rests_on(&self, claim: ClaimId) -> Basis {
        self.lock().rests_on(claim)
    }

    fn words(&self) -> Vec<(SiteId, Ticket)> {
        self.lock().words()
    }

    fn word_on(&self, about: Ticket) -> Basis {
        self.lock().word_on(about)
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
    /// The same input of a protocol that speaks the same language.
    fn of<Q>(self) -> Input<Q>
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
            Input::Assured(ticket) => Input::Assured(ticket),
            Input::Cleared => Input::Cleared,
        }
    }
}

impl<P: Protocol> Effect<P> {
    /// The same effect of a protocol that speaks the same language.
    fn of<Q>(self) -> Effect<Q>
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
            Effect::Ignore(why) => Effect::Ignore(why),
        }
    }
}

/// A name as it is spelt in options: `NoAsking` is `no-asking`, but `E10` is `E10`.
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
