//! What a caller asks a pool for, and what it gets.

use std::collections::BTreeSet;
use std::fmt;

use quorate_session::Units;

use crate::{Fence, Ticket};

/// What a caller asks for. It gets all units at once, or waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    /// How many units, of how many.
    pub units: Units,
    /// Whether it must know which ones.
    pub numbered: bool,
    /// Whether it is denied when it would have to wait.
    pub no_wait: bool,
}

/// What a holder gets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The request that entered.
    pub ticket: Ticket,
    /// How many units it has, of how many.
    pub units: Units,
    /// Which ones, if it asked for that: numbers from 0, held by no other request.
    pub numbers: BTreeSet<u32>,
    /// Its fence: above that of every earlier holder that it could not have been inside with.
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

/// The numbers separated by spaces: `0 2`.
pub(super) fn listed(numbers: &BTreeSet<u32>) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
