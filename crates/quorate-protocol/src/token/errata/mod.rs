//! The algorithm as printed, and mutants of the repaired one: one repair undone at a time.
//!
//! For tests and scenarios that show what the repairs are for. What is undone is undone around the
//! transitions, by bending what comes in and what goes out; no production transition knows of it.

mod bend;

use std::fmt;

use quorate_quorum::{SiteId, SiteSet};

use super::{Durable, Leased, Options, Token, TokenLock};
use crate::errata::Wrapper;
use crate::{Input, Out, Protocol, Shared, Tick, Violation};

/// A repair that can be undone, or an error that can be made: by its number in
/// `docs/protocols/token.md`, or by a name where the paper has nothing to repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Erratum {
    /// Sessions are numbered only where an idle holder opens one.
    E1,
    /// The token does not say which requests were served.
    E3,
    /// A site that does not have the token forgets what it is asked for. T1 never runs out, so
    /// that one sees who waits.
    E4,
    /// A holder does not tell those that do not know of it. T1 never runs out.
    E5,
    /// A captain that is first in the queue sends the token to itself, and it is refused. T1 never
    /// runs out.
    E7,
    /// A captain counts those it lets in beside knowing who they are.
    E8,
    /// An idle holder that is asked for a new token sends the one it has, and keeps it.
    E9,
    /// A captain that has left does not note whom it lets in when it is asked for a new token.
    E10,
    /// A start does not say which request it is for.
    E11,
    /// Starts, questions and answers do not say of which request they speak.
    E12,
    /// T2 is armed only once.
    E13,
    /// A waiting site has the last holder send its copy of the token again, and a holder takes it.
    E14,
    /// A token can only be made from a copy, and nobody has one.
    E16,
    /// T1 never runs out: nothing else is wrong.
    NoT1,
    /// An attempt to make a token goes on with the number that its request had.
    OldNumber,
    /// Nothing is on disk.
    Forgetful,
    /// A restarted site promises and answers at once.
    NoQuarantine,
    /// A follower is not told until when its captain vouches for it.
    Unbound,
    /// A token that nobody waits for is passed on as if its request still waited.
    Unmarked,
    /// A new token counts its leases from when the last promise came.
    LateToken,
    /// A token is handed on however little is left of its lease.
    Restless,
    /// Who passes the token on asks only the first of each entry of its queue. T1 never runs out.
    Firsts,
    /// Who asks for an epoch of its own takes nothing of a lower one any more.
    OwnFloor,
}

impl Erratum {
    /// All of them.
    pub const ALL: [Erratum; 23] = [
        Erratum::E1,
        Erratum::E3,
        Erratum::E4,
        Erratum::E5,
        Erratum::E7,
        Erratum::E8,
        Erratum::E9,
        Erratum::E10,
        Erratum::E11,
        Erratum::E12,
        Erratum::E13,
        Erratum::E14,
        Erratum::E16,
        Erratum::NoT1,
        Erratum::OldNumber,
        Erratum::Forgetful,
        Erratum::NoQuarantine,
        Erratum::Unbound,
        Erratum::Unmarked,
        Erratum::LateToken,
        Erratum::Restless,
        Erratum::Firsts,
        Erratum::OwnFloor,
    ];

    /// Whether a request waits for ever, so that one sees what only T1 would find.
    fn is_patient(self) -> bool {
        use Erratum::{E4, E5, E7, Firsts, NoT1};
        matches!(self, E4 | E5 | E7 | Firsts | NoT1)
    }
}

impl fmt::Display for Erratum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::errata::dashed(&format!("{self:?}")))
    }
}

/// A token lock with one repair undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unrepaired {
    undone: Erratum,
    lock: TokenLock,
    /// The token as it was last sent from here (`old_token`).
    copy: Option<Token>,
    /// How many were let in and have not left, by count (`token.followers`), and who has.
    count: u32,
    left: SiteSet,
}

impl Unrepaired {
    /// A site at which nothing has happened yet, without the repair of `undone`.
    pub fn new(me: SiteId, n: usize, options: Options, undone: Erratum) -> Self {
        Self::of(TokenLock::new(me, n, options), undone)
    }

    /// A site that has restarted with what was on its disk.
    pub fn restarted(
        (me, n): (SiteId, usize),
        options: Options,
        undone: Erratum,
        durable: Durable,
    ) -> Self {
        let mut lock = TokenLock::restarted(me, n, options, durable);
        lock.waking = undone != Erratum::NoQuarantine;
        Self::of(lock, undone)
    }

    fn of(lock: TokenLock, undone: Erratum) -> Self {
        Self { undone, lock, copy: None, count: 0, left: SiteSet::new() }
    }

    /// What is left of the lock.
    pub fn lock(&self) -> &TokenLock {
        &self.lock
    }
}

impl Leased for Unrepaired {
    fn leased(&self) -> &TokenLock {
        &self.lock
    }
}

impl Wrapper for Unrepaired {
    type Lock = TokenLock;

    fn lock(&self) -> &TokenLock {
        &self.lock
    }

    fn misstep(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<TokenLock>,
        out: &mut Out<TokenLock>,
    ) -> Result<(), Violation> {
        let expired = if let Input::Expire(timer) = &input { Some(*timer) } else { None };
        let message = if let Input::Deliver(from, message) = &input {
            Some((*from, message.clone()))
        } else {
            None
        };
        let (number, before) = (self.lock.sn, self.lock.clone());
        if let Some(input) = self.bend(now, input, out) {
            self.lock.step(site, now, input, out)?;
        }
        self.err_since(before, message.as_ref(), out);
        self.err(expired, number, out);
        Ok(())
    }
}
