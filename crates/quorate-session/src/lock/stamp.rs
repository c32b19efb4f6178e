//! Epochs and rounds: the order of tokens and of their occupancies.

use std::fmt;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::Fence;

/// How many bits of a fence count rounds; the rest counts epochs.
const ROUND_BITS: u32 = 32;

/// The number of a token. A lost token is replaced by one of a higher epoch.
///
/// Each epoch has one owner, the only site that can make its token: epoch e belongs to the site at
/// place e mod n in the cluster's list.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Epoch(pub u64);

impl Epoch {
    /// The lowest epoch above this one that belongs to `site`, in a cluster of `n`.
    pub fn next_of(self, site: SiteId, n: usize) -> Self {
        let (n, place) = (n as u64, site.index() as u64);
        let start = self.0.checked_add(1).expect("epochs stay below 2^32");
        Self(start + (n + place - start % n) % n)
    }

    /// The site that can make its token.
    pub fn owner(self, n: usize) -> SiteId {
        SiteId::new(usize::try_from(self.0 % n as u64).expect("a place in the cluster"))
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A round of a token: the fence of all grants of its occupancy, and the age of the token.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Stamp {
    /// The token's epoch.
    pub epoch: Epoch,
    /// The round. It grows when an occupancy starts and when a token is declined.
    pub round: u64,
}

impl Stamp {
    /// The last round of an epoch. A token that comes near it is dropped, and the next one has a
    /// higher epoch.
    pub const LAST: u64 = (1 << ROUND_BITS) - 1;

    /// The next round of the same epoch.
    pub fn next(self) -> Self {
        Self { round: self.round.checked_add(1).expect("rounds stay below 2^32"), ..self }
    }

    /// Whether so few rounds are left that a token is dropped instead of passed on.
    pub fn is_near_last(self) -> bool {
        self.round >= Self::LAST - 2
    }

    /// Both as one number, in the same order: 32 bits of epoch above 32 bits of round.
    pub fn fence(self) -> Fence {
        assert!(self.round <= Self::LAST, "a token is dropped before its rounds run out");
        assert!(self.epoch.0 < 1 << (64 - ROUND_BITS), "2^32 epochs outlast any lock");
        Fence((self.epoch.0 << ROUND_BITS) | self.round)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_epoch_has_one_owner_and_numbers_only_grow() {
        for n in 1..6 {
            for site in SiteId::all(n) {
                for epoch in 0..20 {
                    let next = Epoch(epoch).next_of(site, n);
                    assert!(next > Epoch(epoch) && next.0 <= epoch + n as u64);
                    assert_eq!(next.owner(n), site);
                }
            }
        }
    }

    #[test]
    fn fences_are_in_the_order_of_epochs_and_rounds() {
        let stamp = |epoch, round| Stamp { epoch: Epoch(epoch), round };
        let order = [stamp(0, 1), stamp(0, 2), stamp(0, Stamp::LAST), stamp(1, 0), stamp(7, 3)];
        assert!(order.iter().zip(&order[1..]).all(|(one, next)| one.fence() < next.fence()));
        assert_eq!(stamp(1, 2).fence(), Fence((1 << 32) + 2));
    }
}
