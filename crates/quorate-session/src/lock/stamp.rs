//! The numbers that order tokens and what is done with them.

use std::fmt;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::Fence;

/// How many bits of a fence count sessions; the rest counts epochs.
const SESSION_BITS: u32 = 32;

/// The life of one token. A token that is lost is replaced by one of a higher epoch.
///
/// Each epoch has one owner, the only site that can make its token: epoch e belongs to the site
/// that has place e mod n in the cluster's list.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Epoch(pub u64);

impl Epoch {
    /// The lowest epoch above this one that belongs to `site`, in a cluster of `n`.
    pub fn next_of(self, site: SiteId, n: usize) -> Self {
        let (n, place) = (n as u64, site.index() as u64);
        let start = self.0 + 1;
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

/// A session of a token: the fence of all who are inside in it, and the age of a token.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Stamp {
    /// The token's epoch.
    pub epoch: Epoch,
    /// The how-manieth session of that epoch; it grows also when a token is declined.
    pub session: u64,
}

impl Stamp {
    /// The last session of an epoch. A token that has reached it is let go, and the next has a
    /// higher epoch.
    pub const LAST: u64 = (1 << SESSION_BITS) - 1;

    /// The next session of the same epoch.
    pub fn next(self) -> Self {
        Self { session: self.session + 1, ..self }
    }

    /// One number for both, in the same order: 32 bits of epoch above 32 of session.
    pub fn fence(self) -> Fence {
        assert!(self.session <= Self::LAST, "a token is let go before its sessions run out");
        assert!(self.epoch.0 < 1 << (64 - SESSION_BITS), "2^32 epochs outlast any lock");
        Fence((self.epoch.0 << SESSION_BITS) | self.session)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.epoch, self.session)
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
    fn fences_are_in_the_order_of_epochs_and_sessions() {
        let stamp = |epoch, session| Stamp { epoch: Epoch(epoch), session };
        let order = [stamp(0, 1), stamp(0, 2), stamp(0, Stamp::LAST), stamp(1, 0), stamp(7, 3)];
        assert!(order.iter().zip(&order[1..]).all(|(one, next)| one.fence() < next.fence()));
        assert_eq!(stamp(1, 2).fence(), Fence((1 << 32) + 2));
    }
}
