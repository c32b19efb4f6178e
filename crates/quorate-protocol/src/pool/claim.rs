//! What a caller asks of a pool, and what it gets.

use std::collections::BTreeSet;
use std::fmt;

use quorate_session::Units;

use crate::{Fence, Ticket};

/// What a caller asks for: all of these units at once, or it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// How many units, of how many.
    pub units: Units,
    /// Whether it must know which ones.
    pub numbered: bool,
    /// Whether it must know when it has to wait.
    pub hasty: bool,
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
