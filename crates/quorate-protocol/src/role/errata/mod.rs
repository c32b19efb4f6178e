//! The algorithm as printed, and mutants of the repaired one: one repair undone at a time.
//!
//! For tests and scenarios that show what the repairs are for. What is undone is undone around the
//! transitions, by bending what comes in and what goes out; no production transition knows of it.

mod bend;

use std::fmt;

use quorate_quorum::SiteSet;

use super::{Options, RoleLock};
use crate::errata::Wrapper;
use crate::{Input, Out, Protocol, Shared, Tick, Ticket, Violation};

/// A repair that can be undone, or an error that can be made: by its number in
/// `docs/protocols/role.md`, or by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Erratum {
    /// A stage that gives a lock back is forgotten by its arbiter.
    A1,
    /// Stages of one Lamport time have no order.
    A2,
    /// Stages and arbiters do not tell each other the time.
    A3,
    /// A stage that is over gives back what it is asked for, and the arbiter believes it.
    A4,
    /// Every better request makes the arbiter ask again, and every question is answered.
    A5,
    /// An exclusive request that is accepted late is admitted at once.
    A6,
    /// Whoever leaves, the next exclusive request is admitted.
    A7,
    /// An exclusive request is admitted only when somebody leaves.
    A7Late,
    /// A question about a loan that has not come yet is not answered.
    A8Ignored,
    /// A loan that was given back before it came counts when it comes.
    A8Blind,
    /// A release names a site, not a request.
    A8Process,
    /// A stage hands its locks to the next one of its group.
    A10,
    /// Exclusive requests are weighed with what has gone by of them.
    A13,
    /// The way there and back is not reckoned with.
    A14,
    /// A stage gives back only what it knows it cannot use, and it is told nothing.
    A19,
    /// An admission that nobody waits for is kept.
    NoRefusal,
    /// An admission that comes twice is given back.
    RepeatRefused,
    /// Nothing is done about a stage whose host is lost.
    HolderKept,
    /// A session that a requester loses is over for the other half of its site too.
    BothHalves,
    /// A stage with members goes on without a quorum.
    StageKept,
    /// A restarted arbiter lends at once.
    NoQuarantine,
    /// A holder is given up without skipping the fences it may have used.
    FloorKept,
    /// Fence ceilings are not on disk.
    CeilVolatile,
    /// A stage that waits for a fence does not look again when a session is lost.
    NoRecheck,
    /// All exclusive members of a stage have its fence.
    SharedFence,
    /// A stage with members waits its turn like any other when it replaces an arbiter.
    HeldInOrder,
}

impl Erratum {
    /// Those of the paper, in order.
    pub const PAPER: [Erratum; 15] = [
        Erratum::A1,
        Erratum::A2,
        Erratum::A3,
        Erratum::A4,
        Erratum::A5,
        Erratum::A6,
        Erratum::A7,
        Erratum::A7Late,
        Erratum::A8Ignored,
        Erratum::A8Blind,
        Erratum::A8Process,
        Erratum::A10,
        Erratum::A13,
        Erratum::A14,
        Erratum::A19,
    ];

    /// Those of the table for processes, which the paper does not have.
    pub const PROCESS: [Erratum; 2] = [Erratum::NoRefusal, Erratum::RepeatRefused];

    /// Those of sessions that end, and of fences.
    pub const SESSIONS: [Erratum; 8] = [
        Erratum::HolderKept,
        Erratum::BothHalves,
        Erratum::StageKept,
        Erratum::NoQuarantine,
        Erratum::FloorKept,
        Erratum::CeilVolatile,
        Erratum::NoRecheck,
        Erratum::SharedFence,
    ];

    /// Those without which nothing breaks, but more grants are lost.
    pub const SURVIVAL: [Erratum; 1] = [Erratum::HeldInOrder];

    /// All of them.
    pub fn all() -> impl Iterator<Item = Erratum> {
        let paper = Self::PAPER.into_iter().chain(Self::PROCESS);
        paper.chain(Self::SESSIONS).chain(Self::SURVIVAL)
    }
}

impl fmt::Display for Erratum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = crate::errata::dashed(&format!("{self:?}"));
        // `A8Blind` is spelt `A8-blind`.
        f.write_str(&name.replace("a7", "A7").replace("a8", "A8"))
    }
}

/// A role lock with the repair of one erratum undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unrepaired {
    undone: Erratum,
    lock: RoleLock,
}

impl Unrepaired {
    /// A site at which nothing has happened yet, without the repair of `undone`.
    pub fn new(mut options: Options, undone: Erratum) -> Self {
        if undone == Erratum::A14 {
            options.tc = std::time::Duration::ZERO;
        }
        Self { undone, lock: RoleLock::new(options) }
    }

    /// As [`RoleLock::leads`].
    pub fn leads(&self) -> impl Iterator<Item = (Ticket, SiteSet)> + '_ {
        self.lock.leads()
    }
}

impl Wrapper for Unrepaired {
    type Lock = RoleLock;

    fn lock(&self) -> &RoleLock {
        &self.lock
    }

    fn misstep(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<RoleLock>,
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        let clock = site.clock;
        let (told, admits) = (self.is_told_the_time(&input), self.admits_wrongly(&input));
        if let Some(input) = self.bend(site, now, input, out) {
            self.lock.step(site, now, input, out)?;
        }
        if told {
            site.clock = clock;
        }
        self.err(now, admits, out);
        Ok(())
    }
}
