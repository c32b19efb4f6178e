//! Units of a pool.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Some units of a pool: `3 of 8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Units {
    /// How many are meant; the paper's h.
    pub count: u32,
    /// How many there are; the paper's k.
    pub of: u32,
}

impl Units {
    /// Whether somebody can have so many: no rule covers none at all, or more than there are.
    pub fn is_valid(self) -> bool {
        (1..=self.of).contains(&self.count)
    }
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.count, self.of)
    }
}
