//! The state that survives a restart.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Epoch;

/// By how much the ceiling of request numbers is raised at a time: most requests cost no write.
const BLOCK: u64 = 1 << 16;

/// What a site keeps on disk (O16). Never a token, its followers, or a grant: after a restart the
/// token counts as lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Durable {
    /// No request number above this one was used.
    pub sn_ceil: u64,
    /// The highest epoch known to be real.
    pub valid: Epoch,
    /// Higher epochs that were promised to others and not withdrawn.
    pub pending: BTreeSet<Epoch>,
    /// The highest of its own epochs that the site tried to make.
    pub tried: Epoch,
}

impl Durable {
    /// The highest epoch in it.
    pub fn highest(&self) -> Epoch {
        self.floor().max(self.tried)
    }

    /// The epoch below which nothing is accepted.
    pub(super) fn floor(&self) -> Epoch {
        self.pending.last().map_or(self.valid, |&pending| pending.max(self.valid))
    }

    /// Takes in the record of another lock, so that this one stands for both: whatever either
    /// forbids, it forbids.
    pub fn fold(&mut self, other: &Durable) {
        self.sn_ceil = self.sn_ceil.max(other.sn_ceil);
        self.tried = self.tried.max(other.tried);
        self.raise(self.floor().max(other.floor()));
    }

    /// Records that an epoch is real, and drops the promises of epochs that are not higher.
    pub(super) fn raise(&mut self, epoch: Epoch) {
        self.valid = self.valid.max(epoch);
        let valid = self.valid;
        self.pending.retain(|&pending| pending > valid);
    }

    /// Raises the ceiling if needed, so that `sn` is not used again after a restart.
    pub(super) fn cover(&mut self, sn: u64) {
        if sn > self.sn_ceil {
            self.sn_ceil = sn + BLOCK;
        }
    }
}
