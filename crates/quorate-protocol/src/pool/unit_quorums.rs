//! The quorums of a pool, a set of them for each number of units.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use quorate_quorum::{Arbiters, QuorumSystem};

use super::Units;
use crate::Violation;

/// The quorums of a pool for each number of units. They are constant in a run, so all values are
/// equal.
#[derive(Clone, Debug)]
pub(super) struct UnitQuorums(Arc<Arbiters>);

impl UnitQuorums {
    pub(super) fn new(arbiters: &Arc<Arbiters>) -> Self {
        Self(Arc::clone(arbiters))
    }

    /// How many units the pool has; the paper's k.
    pub(super) fn units(&self) -> u32 {
        u32::try_from(self.0.k()).expect("a pool has fewer units than that")
    }

    /// Refuses zero units and more units than there are: no rule of the paper covers them.
    pub(super) fn check(&self, units: Units) -> Result<(), Violation> {
        let same_pool = units.of == self.units();
        if same_pool && units.is_valid() { Ok(()) } else { Err(Violation::Units(units)) }
    }

    /// The quorums for so many units.
    pub(super) fn of(&self, units: u32) -> &dyn QuorumSystem {
        &**self.0.of(units as usize).expect("the number of units was checked")
    }
}

impl PartialEq for UnitQuorums {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for UnitQuorums {}

impl Hash for UnitQuorums {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
