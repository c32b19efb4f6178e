//! The ledger pool with one rule undone, to see the damage.
//!
//! The transitions of the pool know nothing of this module. A wrapper undoes one rule from outside:
//! it changes an input before the step, or the state and the effects after it. Only tests and the
//! laboratory use it.

mod after;
mod before;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use quorate_quorum::SiteId;
use strum::IntoEnumIterator;

use super::{LedgerPool, Options};
use crate::mutations::MutantProtocol;
use crate::{ClaimId, Fence, Input, Out, Protocol, Shared, Tick, Ticket, Violation};

/// A rule that can be undone; `docs/protocols/ledger.md` lists them with the damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumIter)]
pub enum Mutation {
    /// L1: a permission does not carry the ledger.
    NoLedger,
    /// L1: what one arbiter says of a session that ended holds for all ledgers in hand.
    MergedLedgers,
    /// L1: the ledger of a permission that is not in hand any more still counts.
    KnowledgeKept,
    /// L1: a borrower is not told that a caller has left.
    LeftUntold,
    /// L2: the permission goes back in one message, and the callers register in another.
    SplitEnter,
    /// L3: a caller inside does not notice that a session has ended, as if `Closed` came first.
    LossUnnoticed,
    /// L4: a registration counts before it is acknowledged.
    EarlyCounted,
    /// L4: a registration is acknowledged without telling the borrower.
    AckUntold,
    /// L4: the borrower is told, but the acknowledgement does not wait for its answer.
    AckAtOnce,
    /// L4: the borrower's answer does not say which registration it means.
    AckUnnamed,
    /// L4: an arbiter in quarantine acknowledges at once.
    QuarantineAcks,
    /// L4: a caller that stays inside does not register with more sites.
    NoSpares,
    /// L5: a caller leaves only where its registration was acknowledged.
    LeftAcked,
    /// L6: a request without a quorum within reach keeps what it has.
    NoWithdrawal,
    /// L6: messages do not say which try they are about.
    NoTry,
    /// L6: open inquires are forgotten when the quorum is complete.
    InquiriesCleared,
    /// L6: a request at the door does not yield.
    DoorDeaf,
    /// L7: the callers of a site stay registered when its session ends.
    LedgerKept,
    /// L7: when a session ends, all callers are forgotten.
    LedgerForgotten,
    /// L7: a borrower is given up without skipping the fences it may have used.
    FloorKept,
    /// L7: a restarted arbiter lends at once.
    NoQuarantine,
    /// L8: a caller hands its units to the next one of its site, past the door.
    LocalTurn,
    /// L8: fence ceilings are not on disk.
    CeilVolatile,
    /// A reply does not carry the arbiter's clock.
    ClockUntold,
}

impl Mutation {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Mutation> {
        Self::iter()
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::mutations::dashed(&format!("{self:?}")))
    }
}

/// The entries of one ledger.
type Entries = BTreeMap<Ticket, BTreeSet<u32>>;

/// A ledger pool with one rule undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mutant {
    undone: Mutation,
    pool: LedgerPool,
    /// The ledgers that still count although they should not (`KnowledgeKept`).
    kept: BTreeMap<SiteId, Entries>,
    /// The fences of the callers inside (`LocalTurn`).
    fences: BTreeMap<ClaimId, Fence>,
}

impl Mutant {
    /// A site in its initial state, without the rule `undone`.
    pub fn new(units: u32, options: Options, undone: Mutation) -> Self {
        let pool = LedgerPool::new(units, options);
        Self { undone, pool, kept: BTreeMap::new(), fences: BTreeMap::new() }
    }
}

impl MutantProtocol for Mutant {
    type Lock = LedgerPool;

    fn lock(&self) -> &LedgerPool {
        &self.pool
    }

    fn faulty_step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<LedgerPool>,
        out: &mut Out<LedgerPool>,
    ) -> Result<(), Violation> {
        if let Some(input) = self.mutate(site, input, out) {
            let before = self.pool.clone();
            self.pool.step(site, now, input.clone(), out)?;
            self.mutate_after(site, &before, &input, out);
        }
        self.mutate_effects(out);
        Ok(())
    }
}
