//! What survives a restart: one small record, written whole.

use quorate_protocol::Fence;
use serde::{Deserialize, Serialize};

use crate::session::Durable;

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

/// How far the Lamport ceiling is moved on at a time.
pub(crate) const CLOCK_BLOCK: u64 = 1_000_000;

/// It is moved on early, when the clock is this near.
pub(crate) const CLOCK_MARGIN: u64 = 100_000;
