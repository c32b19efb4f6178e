//! What survives a restart: one small record, written whole, and one for each token.

use std::collections::BTreeMap;

use quorate_protocol::{Fence, token};
use quorate_session::Name;
use quorate_session::session::Durable;
use serde::{Deserialize, Serialize};

/// What a site keeps on disk; empty on a new disk. Each part only grows, so a later record says
/// all that an earlier one said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Disk {
    /// Incarnation and longest lease.
    pub sessions: Durable,
    /// No ticket this site has made has a later Lamport time.
    pub clock: u64,
    /// All fences this site has told of lie below this one.
    pub ceil: Fence,
}

/// All that a site finds when it starts: its record, and what it promised of each token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Past {
    /// The record.
    pub disk: Disk,
    /// What it has [kept](crate::Effect::Keep), by the names of the locks.
    pub tokens: BTreeMap<Name, token::Durable>,
}

impl From<Disk> for Past {
    /// A past without tokens.
    fn from(disk: Disk) -> Self {
        Self { disk, tokens: BTreeMap::new() }
    }
}

/// The most group locks by token that a site knows of: what it promised is never forgotten.
pub const TOKENS_MAX: usize = 1 << 16;

/// How far the Lamport ceiling is moved on at a time.
pub(crate) const CLOCK_BLOCK: u64 = 1_000_000;

/// It is moved on early, when the clock is this near.
pub(crate) const CLOCK_MARGIN: u64 = 100_000;
