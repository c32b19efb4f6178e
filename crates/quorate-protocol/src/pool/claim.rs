//! What a caller asks of a pool, and what it gets.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Fence, Ticket};

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

/// What a caller asks for: all of these units at once, or it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// How many units, of how many.
    pub units: Units,
    /// Whether it must know which ones.
    pub numbered: bool,
}

/// What a holder has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The request that was let in.
    pub ticket: Ticket,
    /// How many units it has, of how many.
    pub units: Units,
    /// Which ones, if it asked for that: numbers from 0, and nobody else has any of them.
    pub numbers: BTreeSet<u32>,
    /// Its fence: above that of every holder before it which left too few units for it.
    pub fence: Fence,
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with {}, {}", self.ticket, self.units)?;
        if !self.numbers.is_empty() {
            write!(f, " ({})", listed(&self.numbers))?;
        }
        write!(f, ", fence {}", self.fence)
    }
}

/// Numbers in a row: `0 2`.
pub(super) fn listed(numbers: &BTreeSet<u32>) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
