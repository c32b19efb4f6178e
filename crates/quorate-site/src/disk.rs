//! What survives a restart: one small record of the site, and one of each lock that keeps one.

use std::collections::BTreeMap;

use quorate_protocol::Fence;
use quorate_session::Name;
use quorate_session::session::Durable;
use serde::{Deserialize, Serialize};

use crate::identity::IdentityRecord;
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
}

impl Past {
    /// The number of the latest write.
    pub(crate) fn writes(&self) -> u64 {
        let locks = self.tokens.values().map(|kept| kept.write);
        locks.fold(self.disk.identity.writes, u64::max)
    }
}

impl From<Disk> for Past {
    /// A past without records of locks.
    fn from(disk: Disk) -> Self {
        Self { disk, tokens: BTreeMap::new() }
    }
}

/// The most locks with a record that a site keeps. Records are never forgotten.
pub const TOKENS_MAX: usize = 1 << 16;

/// By how much the Lamport ceiling is raised at a time.
pub(crate) const CLOCK_BLOCK: u64 = 1_000_000;

/// The Lamport ceiling is raised when the clock is this close to it.
pub(crate) const CLOCK_MARGIN: u64 = 100_000;
