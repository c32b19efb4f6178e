//! The effects of a protocol, which its driver carries out.

#[cfg(feature = "mutations")]
mod mutations;

use std::collections::VecDeque;
use std::time::Duration;

use quorate_quorum::SiteId;
use quorate_session::Why;

use crate::token::{Durable, Regeneration};
use crate::{ClaimId, Fence, Protocol};

/// What a protocol can ask its driver to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<P: Protocol> {
    /// Carry a message to a site, which may be the sender itself.
    Send(SiteId, P::Message),
    /// The claim is inside now.
    Grant(ClaimId, P::Grant),
    /// The grant is over before its holder released it, and why.
    Lose(ClaimId, Why),
    /// Deliver this timer after so long.
    Arm(P::Timer, Duration),
    /// The timer is not needed any more.
    Disarm(P::Timer),
    /// Write this to disk before any later effect leaves the site.
    Persist(Record),
    /// For operators: a lost token has been replaced.
    Regenerated(Regeneration),
    /// What other sites have said cannot all be true: the step went on without part of it. No site
    /// that follows the protocol brings this about.
    Contradiction(&'static str),
    /// Nothing to do, and why. Each reason is reached by a scenario of its own.
    Ignore(&'static str),
}

/// A record that must survive a restart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// All fences this site may have allowed lie below this one.
    FenceCeil(Fence),
    /// The durable state of a token lock.
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

    /// Sends `message` to `to`.
    pub fn send(&mut self, to: SiteId, message: P::Message) {
        self.effects.push_back(Effect::Send(to, message));
    }

    /// Grants `claim`.
    pub fn grant(&mut self, claim: ClaimId, grant: P::Grant) {
        self.effects.push_back(Effect::Grant(claim, grant));
    }

    /// Ends a grant before its holder released it.
    pub fn lose(&mut self, claim: ClaimId, why: Why) {
        self.effects.push_back(Effect::Lose(claim, why));
    }

    /// Writes `record` to disk before any later effect leaves the site.
    pub fn persist(&mut self, record: Record) {
        self.effects.push_back(Effect::Persist(record));
    }

    /// Records why there is nothing to do.
    pub fn ignore(&mut self, why: &'static str) {
        self.effects.push_back(Effect::Ignore(why));
    }

    /// Records that other sites contradict each other.
    pub fn contradiction(&mut self, what: &'static str) {
        self.effects.push_back(Effect::Contradiction(what));
    }

    /// Adds any effect.
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

    /// Takes all effects, and keeps the capacity.
    pub fn drain(&mut self) -> impl Iterator<Item = Effect<P>> + '_ {
        self.effects.drain(..)
    }

    /// Keeps the effects for which `keep` is true.
    pub fn retain(&mut self, keep: impl FnMut(&Effect<P>) -> bool) {
        self.effects.retain(keep);
    }

    /// Whether there are no effects.
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty()
    }
}

impl<P: Protocol> Default for Out<P> {
    fn default() -> Self {
        Self::new()
    }
}
