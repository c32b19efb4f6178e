//! Mutants of the role lock: the repair of one erratum undone at a time.
//!
//! For tests and scenarios that show why each repair is needed. A mutant changes inputs, effects
//! and state around the production transitions, which are not aware of it.

mod mutate;

use std::fmt;

use quorate_quorum::SiteSet;
use strum::{EnumIter, IntoEnumIterator};

use super::{Options, RoleLock};
use crate::mutations::MutantProtocol;
use crate::{Input, Out, Protocol, Shared, Tick, Ticket, Violation};

/// A repair that can be undone. Errata of the paper have their number in
/// `docs/protocols/role.md`; the other repairs have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter)]
pub enum Mutation {
    /// An arbiter forgets a stage that gives the lock back.
    A1,
    /// Stages with equal Lamport times have no order.
    A2,
    /// Messages between stages and arbiters do not update the Lamport clock.
    A3,
    /// A stage that is over answers Rel-Group, and the arbiter does not check who holds the lock.
    A4,
    /// An arbiter inquires for every better request, and a stage answers every inquiry.
    A5,
    /// An exclusive request that is accepted late is admitted at once.
    A6,
    /// The next exclusive request is admitted whenever a member leaves.
    A7,
    /// An exclusive request is admitted only when a member leaves.
    A7Late,
    /// A stage ignores an inquiry about a loan that has not arrived.
    A8Ignored,
    /// A loan that was given back before it arrived counts when it arrives.
    A8Blind,
    /// Rel-Process names a site, not a request.
    A8Process,
    /// A stage passes its locks to the next stage of its group.
    A10,
    /// The acceptance test counts elapsed time of exclusive members.
    A13,
    /// The cost of a request does not include the round trip.
    A14,
    /// Maekawa's rule without its FAIL message: a stage never gives a lock back.
    A19,
    /// An admission that no process waits for is not returned.
    NoRefusal,
    /// A repeated admission is returned.
    RepeatRefused,
    /// The lock of a stage whose host is lost is not taken back.
    HolderKept,
    /// A session lost by stages and processes counts as closed for the arbiter too.
    BothHalves,
    /// A stage keeps its members without a quorum.
    StageKept,
    /// A restarted arbiter lends its lock at once.
    NoQuarantine,
    /// A lock is taken back without skipping the fences its holder may have used.
    FloorKept,
    /// Fence ceilings are not on disk.
    CeilVolatile,
    /// A stage that waits for a fence does not try again when a session is lost.
    NoRecheck,
    /// All exclusive members of a stage have the same fence.
    SharedFence,
    /// A stage with members queues like any other when it replaces an arbiter. Breaks nothing, but
    /// more grants are lost.
    HeldInOrder,
    /// A stage that stays asks for no spare locks. Only whole sites show it.
    NoSpares,
}

impl Mutation {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Mutation> {
        Self::iter()
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = crate::mutations::dashed(&format!("{self:?}"));
        // `A8Blind` is printed as `A8-blind`.
        f.write_str(&name.replace("a7", "A7").replace("a8", "A8"))
    }
}

/// A role lock with one repair undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mutant {
    undone: Mutation,
    lock: RoleLock,
}

impl Mutant {
    /// A site in its initial state, with the repair `undone`.
    pub fn new(mut options: Options, undone: Mutation) -> Self {
        if undone == Mutation::A14 {
            options.tc = std::time::Duration::ZERO;
        }
        Self { undone, lock: RoleLock::new(options) }
    }

    /// As [`RoleLock::leads`].
    pub fn leads(&self) -> impl Iterator<Item = (Ticket, SiteSet)> + '_ {
        self.lock.leads()
    }
}

impl MutantProtocol for Mutant {
    type Lock = RoleLock;

    fn lock(&self) -> &RoleLock {
        &self.lock
    }

    fn faulty_step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<RoleLock>,
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        let clock = site.clock;
        let (keeps_clock, admits) = (self.keeps_clock(&input), self.misadmitting_group(&input));
        if let Some(input) = self.mutate(site, now, input, out) {
            self.lock.step(site, now, input, out)?;
        }
        if keeps_clock {
            site.clock = clock;
        }
        self.mutate_outcome(now, admits, out);
        Ok(())
    }
}
