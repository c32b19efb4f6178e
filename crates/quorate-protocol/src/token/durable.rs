//! What must survive a restart.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Epoch;

/// How far the ceiling of request numbers is moved on at a time: a request costs no write.
const BLOCK: u64 = 1 << 16;

/// What a site keeps on disk. Never a token, nor who follows, nor that somebody is inside: after a
/// restart the token counts as lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Durable {
    /// All numbers of requests that were used lie below or at this one.
    pub sn_ceil: u64,
    /// The highest epoch known to be real.
    pub valid: Epoch,
    /// The higher epochs promised to others, and not withdrawn.
    pub pending: BTreeSet<Epoch>,
    /// The highest epoch of its own that the site tried to make.
    pub tried: Epoch,
}

impl Durable {
    /// The epoch below which nothing counts any more.
    pub(super) fn floor(&self) -> Epoch {
        self.pending.last().map_or(self.valid, |&pending| pending.max(self.valid))
    }

    /// An epoch is known to be real: lower promises are settled.
    pub(super) fn raise(&mut self, epoch: Epoch) {
        self.valid = self.valid.max(epoch);
        let valid = self.valid;
        self.pending.retain(|&pending| pending > valid);
    }

    /// Makes sure that the request `sn` is not used again after a restart.
    pub(super) fn cover(&mut self, sn: u64) {
        if sn > self.sn_ceil {
            self.sn_ceil = sn + BLOCK;
        }
    }
}
