//! Sets for tests.

use quorate_quorum::{QuorumSystem, SiteId, SiteSet};

/// The set of these sites, counted from 0.
pub(crate) fn set<const K: usize>(sites: [usize; K]) -> SiteSet {
    sites.into_iter().map(SiteId::new).collect()
}

/// The set whose bits are set in `mask`.
pub(crate) fn from_mask(mask: u64) -> SiteSet {
    SiteId::all(64).filter(|site| mask >> site.index() & 1 == 1).collect()
}

/// Fixed pseudo-random numbers (splitmix64): the same in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("below a usize")
    }

    /// A number from 0 up to 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).expect("32 bits")) / 2_f64.powi(32)
    }

    /// All sites in some order.
    pub(crate) fn order(&mut self, n: usize) -> Vec<SiteId> {
        let mut sites: Vec<_> = SiteId::all(n).collect();
        for place in (1..n).rev() {
            sites.swap(place, self.below(place + 1));
        }
        sites
    }
}

/// All sets of sites if there are few, otherwise some of each density.
pub(crate) fn some_sets(n: usize) -> Vec<SiteSet> {
    if n <= 10 {
        return (0..1 << n).map(from_mask).collect();
    }
    let mut numbers = Numbers(n as u64);
    let density = |numbers: &mut Numbers, each: usize| {
        SiteId::all(n).filter(|_| numbers.below(20) < each).collect()
    };
    (0..200).map(|round| density(&mut numbers, round % 20 + 1)).collect()
}

/// Whether exactly one of every set and its complement contains a quorum.
pub(crate) fn is_non_dominated(system: &dyn QuorumSystem) -> bool {
    let all = (1 << system.n()) - 1;
    (0..=all).all(|mask: u64| {
        system.is_quorum(&from_mask(mask)) != system.is_quorum(&from_mask(all & !mask))
    })
}
