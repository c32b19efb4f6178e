//! The quorums of a pool, one family for each number of units.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use quorate_quorum::{Arbiters, QuorumSystem};

use super::Units;
use crate::Violation;

/// The quorums of a pool. They are the same in all states of one run: they tell no two apart.
#[derive(Clone, Debug)]
pub(super) struct Family(Arc<Arbiters>);

impl Family {
    pub(super) fn new(arbiters: &Arc<Arbiters>) -> Self {
        Self(Arc::clone(arbiters))
    }

    /// How many units the pool has; the paper's k.
    pub(super) fn units(&self) -> u32 {
        u32::try_from(self.0.k()).expect("a pool has fewer units than that")
    }

    /// Refuses what no rule of the paper covers: no units, or more than there are.
    pub(super) fn check(&self, units: Units) -> Result<(), Violation> {
        let ours = units.of == self.units();
        if ours && units.is_valid() { Ok(()) } else { Err(Violation::Units(units)) }
    }

    /// The quorums for so many units.
    pub(super) fn of(&self, units: u32) -> &dyn QuorumSystem {
        &**self.0.of(units as usize).expect("the number of units was checked")
    }
}

impl PartialEq for Family {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Family {}

impl Hash for Family {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
