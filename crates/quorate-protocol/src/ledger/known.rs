//! A ledger: who is inside, as one arbiter has it registered.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Ticket;

/// The callers that are registered with one arbiter, and their units: at the arbiter itself, and
/// at the requesters that know it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Ledger {
    pub(super) entries: BTreeMap<Ticket, BTreeSet<u32>>,
    /// How many changes the arbiter has counted; it counts only while its ledger is long.
    pub(super) version: u64,
}

/// One change of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Change {
    /// A caller is registered with these units.
    Join(Ticket, BTreeSet<u32>),
    /// A caller is not registered any more.
    Leave(Ticket),
}

/// What a borrower must do to its copy of a ledger, so that it is as the arbiter's.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Update {
    /// Whether the copy starts again from an empty ledger.
    pub whole: bool,
    /// The changes, in order.
    pub changes: Vec<Change>,
    /// The version that the copy has when all parts of the update are in.
    pub version: u64,
}

impl Ledger {
    /// Applies one change. Any later change of the same ticket makes up for an earlier one, so a
    /// change may be applied again together with all that follow it.
    pub(super) fn apply(&mut self, change: Change) {
        match change {
            Change::Join(ticket, numbers) => {
                self.entries.insert(ticket, numbers);
            }
            Change::Leave(ticket) => {
                self.entries.remove(&ticket);
            }
        }
    }

    /// Applies an update, or a part of one.
    pub(super) fn update(&mut self, update: Update) {
        if update.whole {
            self.entries.clear();
        }
        for change in update.changes {
            self.apply(change);
        }
        self.version = update.version;
    }
}

impl Change {
    /// The caller that joins or leaves.
    pub fn ticket(&self) -> Ticket {
        match *self {
            Change::Join(ticket, _) | Change::Leave(ticket) => ticket,
        }
    }

    /// About how much of a message it takes.
    pub(super) fn weight(&self) -> usize {
        match self {
            Change::Join(_, numbers) => 4 + numbers.len(),
            Change::Leave(_) => 4,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Join(ticket, numbers) => write!(f, "{ticket} has {}", listed(numbers)),
            Change::Leave(ticket) => write!(f, "{ticket} left"),
        }
    }
}

impl fmt::Display for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.whole {
            write!(f, "changes to {}", self.version)?;
        }
        for (place, change) in self.changes.iter().enumerate() {
            write!(f, "{}{change}", if place == 0 && self.whole { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Display for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (ticket, numbers)) in self.entries.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{ticket} has {}", listed(numbers))?;
        }
        Ok(())
    }
}

/// The numbers separated by spaces: `0 2`.
pub(super) fn listed(numbers: &BTreeSet<u32>) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
