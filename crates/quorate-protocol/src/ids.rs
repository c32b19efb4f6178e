//! Numbers of loans, and ranges of fences.

use std::fmt;

use quorate_session::Fence;
use serde::{Deserialize, Serialize};

/// The number of one loan of an arbiter's permission; it grows with every loan.
///
/// One request may hold the same permission twice, and only this number tells the two loans apart
/// (E6 of `docs/protocols/mutex.md`). Its first part is the arbiter's incarnation, so that a
/// restarted arbiter continues above the numbers it has forgotten, without a write to disk.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct GrantNo {
    /// The incarnation in which the arbiter began this chain of loans.
    pub incarnation: u32,
    /// The position in that chain.
    pub count: u64,
}

impl GrantNo {
    /// A number of the first incarnation.
    pub fn new(count: u64) -> Self {
        Self { incarnation: 0, count }
    }

    /// The number of the loan that follows in the same chain.
    pub fn next(self) -> Self {
        self.plus(1)
    }

    /// The number `loans` further on in the same chain.
    pub fn plus(self, loans: u64) -> Self {
        let count = self.count.checked_add(loans);
        Self { count: count.expect("the loans of others stay below 2^62"), ..self }
    }
}

impl fmt::Display for GrantNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.incarnation {
            0 => write!(f, "#{}", self.count),
            incarnation => write!(f, "#{incarnation}:{}", self.count),
        }
    }
}

/// The fences that may be used with a permission: from `floor` on, and below `ceil`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fences {
    /// The lowest one.
    pub floor: Fence,
    /// The first one that may not be used.
    pub ceil: Fence,
}
