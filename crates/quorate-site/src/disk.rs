//! What survives a restart: one small record of the site, and one of each lock that keeps one.

use std::collections::BTreeMap;

use quorate_protocol::Fence;
use quorate_session::Name;
use quorate_session::session::Durable;
use serde::{Deserialize, Serialize};

use crate::kinds::LockRecord;

/// The record of a site; the default on a new disk. Its fields only grow, so a later record
/// replaces an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Disk {
    /// The incarnation and the longest lease.
    pub sessions: Durable,
    /// No ticket of this site has a later Lamport time.
    pub clock: u64,
    /// All fences that this site has used lie below this one.
    pub ceil: Fence,
}

/// All that a site finds on disk when it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// Its own record.
    pub disk: Disk,
    /// The [records of locks](crate::Effect::Keep), by name.
    pub tokens: BTreeMap<Name, LockRecord>,
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
