//! The algorithm as printed, and mutants of the repaired one: one repair undone at a time.
//!
//! Tests and scenarios use them to show what each repair prevents. A mutant changes inputs before a
//! transition and effects or state after it; no production transition knows of mutations.

mod mutate;

use std::fmt;

use quorate_quorum::{SiteId, SiteSet};
use strum::VariantArray;

use super::{Durable, Leased, Message, Options, Token, TokenLock};
use crate::mutations::MutantProtocol;
use crate::{Input, Out, Protocol, Sessions, Shared, Tick, Violation};

/// A repair that can be undone. E1 to E16 undo the repair of that erratum, the others a rule that
/// the paper does not have; `docs/protocols/token.md` lists both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, VariantArray)]
pub enum Mutation {
    /// The round grows only at an idle holder.
    E1,
    /// The token does not say which requests were served.
    E3,
    /// A site without the token does not record requests. T1 never expires, so that the waiting
    /// shows.
    E4,
    /// Hints are ignored. T1 never expires.
    E5,
    /// A captain that is first in the queue sends the token to itself, and it is refused. T1 never
    /// expires.
    E7,
    /// A captain has a counter of followers beside the set of them.
    E8,
    /// An idle holder answers a prepare with a copy of its token, and keeps the token.
    E9,
    /// A captain that has left does not record a follower that it admits because of a prepare.
    E10,
    /// A start does not name its request.
    E11,
    /// `complete` and `is_complete` do not name their request.
    E12,
    /// T2 is armed only once.
    E13,
    /// When T1 expires a site sends its saved copy of the token again, and a holder accepts it.
    E14,
    /// There is no regeneration: it needs a copy of the token, and nobody has one.
    E16,
    /// T1 never expires; everything else is as it should be.
    NoT1,
    /// O1: an attempt keeps the number that its request had.
    OldNumber,
    /// O16: nothing is persisted.
    Forgetful,
    /// O17: a restarted site promises and answers at once.
    NoQuarantine,
    /// O18: followers get no deadline.
    Unbound,
    /// O4: a declined token is not marked as served.
    Unmarked,
    /// O2: the lease of a new token runs from the last promise.
    LateToken,
    /// O9: a token is passed on however little of its lease is left.
    Restless,
    /// O11: a site that passes the token on asks only the first of each entry. T1 never expires.
    Firsts,
    /// O6: a site that attempts an epoch accepts nothing of a lower one.
    OwnFloor,
    /// O19: a site that has promised an epoch refuses others for good, its own attempt too.
    FinalRefusal,
    /// O20: a site acts as if it reached all others.
    OutOfReach,
    /// O21: a holder does not hear that a voter will never register for its token.
    RefusalUnheard,
    /// O22: an attempt that was refused as too low waits for T1 before the next one.
    NoRetry,
}

impl Mutation {
    /// All mutations.
    pub const ALL: &'static [Mutation] = Mutation::VARIANTS;

    /// Whether T1 is disabled, because it would repair the damage.
    fn waits_for_timeout(self) -> bool {
        use Mutation::{E4, E5, E7, Firsts, NoT1};
        matches!(self, E4 | E5 | E7 | Firsts | NoT1)
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::mutations::dashed(&format!("{self:?}")))
    }
}

/// The message that a step handles.
struct Delivered {
    from: SiteId,
    message: Message,
}

/// A token lock with one repair undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mutant {
    undone: Mutation,
    lock: TokenLock,
    /// The token as it was last sent from here (`old_token`).
    copy: Option<Token>,
    /// The number of followers (*token.followers*).
    count: u32,
    /// The followers that have left.
    left: SiteSet,
}

impl Mutant {
    /// A site at which nothing has happened yet, with the repair `undone` undone.
    pub fn new(me: SiteId, n: usize, options: Options, undone: Mutation) -> Self {
        Self::of(TokenLock::new(me, n, options), undone)
    }

    /// A site that has restarted with what was on its disk.
    pub fn restarted(
        me: SiteId,
        n: usize,
        options: Options,
        undone: Mutation,
        durable: Durable,
    ) -> Self {
        let mut lock = TokenLock::restarted(me, n, options, durable);
        lock.before_first_step = undone != Mutation::NoQuarantine;
        Self::of(lock, undone)
    }

    fn of(lock: TokenLock, undone: Mutation) -> Self {
        Self { undone, lock, copy: None, count: 0, left: SiteSet::new() }
    }

    /// The lock that is wrapped.
    pub fn lock(&self) -> &TokenLock {
        &self.lock
    }
}

impl Leased for Mutant {
    fn token_lock(&self) -> &TokenLock {
        &self.lock
    }
}

impl MutantProtocol for Mutant {
    type Lock = TokenLock;

    fn lock(&self) -> &TokenLock {
        &self.lock
    }

    fn faulty_step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<TokenLock>,
        out: &mut Out<TokenLock>,
    ) -> Result<(), Violation> {
        let (mut expired, mut delivered) = (None, None);
        match &input {
            Input::Expire(timer) => expired = Some(*timer),
            Input::Deliver(from, message) => {
                delivered = Some(Delivered { from: *from, message: message.clone() });
            }
            _ => {}
        }
        let (number, before) = (self.lock.sn, self.lock.clone());
        if let Some(input) = self.mutate_input(now, input, out) {
            let sessions = site.sessions.clone();
            if self.undone == Mutation::OutOfReach {
                site.sessions = Sessions::default(); // all are open
            }
            let result = self.lock.step(site, now, input, out);
            site.sessions = sessions;
            result?;
            self.lose_unsent(site, out);
        }
        self.mutate_transition(before, delivered.as_ref(), out);
        self.mutate_output(expired, number, out);
        Ok(())
    }
}
