//! What a protocol asks of its driver.

#[cfg(feature = "mutations")]
mod errata;

use std::collections::VecDeque;
use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::Why;

use crate::token::{Durable, Regeneration};
use crate::{ClaimId, Fence, Protocol};

/// Everything a site can ask of its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<P: Protocol> {
    /// Carry a message to a site, which may be the sender itself.
    Send(SiteId, P::Message),
    /// The claim is inside now.
    Grant(ClaimId, P::Grant),
    /// The grant is over before its holder released it, and why.
    Lose(ClaimId, Why),
    /// Come back with this timer after so long.
    Arm(P::Timer, Duration),
    /// The timer is not needed any more.
    Disarm(P::Timer),
    /// This must be on disk before later effects leave the site; it is all that must be.
    Persist(Record),
    /// For people: a token that was lost has been replaced.
    Regenerated(Regeneration),
    /// Nothing to do, and why. Each reason is reached by a scenario of its own.
    Ignore(&'static str),
}

/// Something that must survive a restart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// All fences this site may have told of lie below this one.
    FenceCeil(Fence),
    /// What a token lock must not forget.
    Token(Durable),
}

/// The effects of a step, in the order in which the driver carries them out.
#[derive(Debug)]
pub struct Out<P: Protocol> {
    effects: VecDeque<Effect<P>>,
}

impl<P: Protocol> Out<P> {
    /// No effects yet.
    pub fn new() -> Self {
        Self { effects: VecDeque::new() }
    }

    /// Asks to carry `message` to `to`.
    pub fn send(&mut self, to: SiteId, message: P::Message) {
        self.effects.push_back(Effect::Send(to, message));
    }

    /// Lets `claim` in.
    pub fn grant(&mut self, claim: ClaimId, grant: P::Grant) {
        self.effects.push_back(Effect::Grant(claim, grant));
    }

    /// Ends a grant before its holder released it.
    pub fn lose(&mut self, claim: ClaimId, why: Why) {
        self.effects.push_back(Effect::Lose(claim, why));
    }

    /// Has something written to disk before any later effect leaves the site.
    pub fn persist(&mut self, record: Record) {
        self.effects.push_back(Effect::Persist(record));
    }

    /// Says why there is nothing to do.
    pub fn ignore(&mut self, why: &'static str) {
        self.effects.push_back(Effect::Ignore(why));
    }

    /// Asks for any effect.
    pub fn push(&mut self, effect: Effect<P>) {
        self.effects.push_back(effect);
    }

    /// The next effect to carry out, without taking it.
    pub fn peek(&self) -> Option<&Effect<P>> {
        self.effects.front()
    }

    /// Takes the next effect to carry out.
    pub fn pop(&mut self) -> Option<Effect<P>> {
        self.effects.pop_front()
    }

    /// Takes all effects, keeping the room they had.
    pub fn drain(&mut self) -> impl Iterator<Item = Effect<P>> + '_ {
        self.effects.drain(..)
    }

    /// Keeps the effects for which `keep` is true.
    pub fn retain(&mut self, keep: impl FnMut(&Effect<P>) -> bool) {
        self.effects.retain(keep);
    }

    /// Whether nothing was asked for.
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }
}

impl<P: Protocol> Default for Out<P> {
    fn default() -> Self {
        Self::new()
    }
}
