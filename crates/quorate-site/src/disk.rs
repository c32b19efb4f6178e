//! What survives a restart: one small record of the site, and one of each lock that keeps one.

use std::collections::BTreeMap;

use quorate_protocol::token::EPOCH_MAX;
use quorate_protocol::{Fence, NUMBER_MAX};
use quorate_session::Name;
use quorate_session::session::{Durable, Lease};
use serde::{Deserialize, Serialize};

use crate::identity::{IdentityRecord, StartError};
use crate::kinds::LockRecord;

/// The record of a site; the default on a new disk. A later record replaces an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Disk {
    /// The incarnation and the longest lease.
    pub sessions: Durable,
    /// No ticket of this site has a later Lamport time.
    pub clock: u64,
    /// All fences that this site has used lie below this one.
    pub ceil: Fence,
    /// Who the site is, and who the others are.
    pub identity: IdentityRecord,
}

/// The record of a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Kept {
    /// The number of the write.
    pub write: u64,
    /// The record.
    pub record: LockRecord,
}

/// All that a site finds on disk when it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// Its own record.
    pub disk: Disk,
    /// The [records of locks](crate::Effect::Keep), by name.
    pub tokens: BTreeMap<Name, Kept>,
    /// The [record](crate::Effect::Fold) of all locks that have none of their own.
    pub folded: Kept,
}

impl Past {
    /// The number of the latest write.
    pub(crate) fn writes(&self) -> u64 {
        let locks = self.records().map(|kept| kept.write);
        locks.fold(self.disk.identity.writes, u64::max)
    }
}

impl Past {
    /// All records of locks.
    fn records(&self) -> impl Iterator<Item = &Kept> {
        self.tokens.values().chain([&self.folded])
    }

    /// Writes the folded record in place of those of `names`, all at once.
    pub fn fold(&mut self, folded: Kept, names: &[Name]) {
        self.folded = folded;
        for name in names {
            self.tokens.remove(name);
        }
    }

    /// Whether a site can have written these numbers.
    pub(crate) fn check(&self) -> Result<(), StartError> {
        let check = |field, number: u64, most: u64| {
            if number <= most { Ok(()) } else { Err(StartError::Implausible { field, number }) }
        };
        let Disk { sessions, clock, ceil, identity } = &self.disk;
        // One is added at the start.
        check("incarnation", sessions.incarnation.0, INCARNATION_MAX - 1)?;
        check("longest lease in seconds", sessions.lease_max.as_secs(), Lease::MAX.as_secs())?;
        check("Lamport time", *clock, WRITTEN_MAX)?;
        check("fence", ceil.0, WRITTEN_MAX)?;
        check("write", identity.writes, WRITES_MAX)?;
        for known in identity.known.values() {
            check("incarnation of another site", known.life.incarnation.0, INCARNATION_MAX)?;
            check("write of another site", known.writes, WRITES_MAX)?;
        }
        for Kept { write, record } in self.records() {
            check("write", *write, WRITES_MAX)?;
            check("request number", record.sn_ceil, WRITTEN_MAX)?;
            check("epoch", record.highest().0, EPOCH_MAX + u64::from(u16::MAX))?;
        }
        Ok(())
    }
}

impl From<Disk> for Past {
    /// A past without records of locks.
    fn from(disk: Disk) -> Self {
        Self { disk, ..Self::default() }
    }
}

/// No incarnation is above this one: it is a part of the numbers of loans.
pub(crate) const INCARNATION_MAX: u64 = u32::MAX as u64;

/// No site writes more often.
pub(crate) const WRITES_MAX: u64 = 1 << 52;

/// No number on disk is above this one. Ceilings are written ahead of the numbers that are used.
const WRITTEN_MAX: u64 = 2 * NUMBER_MAX;

/// By how much the Lamport ceiling is raised at a time.
pub(crate) const CLOCK_BLOCK: u64 = 1_000_000;

/// The Lamport ceiling is raised when the clock is this close to it.
pub(crate) const CLOCK_MARGIN: u64 = 100_000;
