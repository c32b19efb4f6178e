//! The cost of sites to a caller, and the nearest quorum when a site's own is not live.

use crate::{QuorumSystem, SiteId, SiteSet};

/// The cost of a dead site: more than all live sites together, and low enough that a line of them
/// does not overflow.
pub(crate) const DEAD: u64 = 1 << 50;

/// The cost of each site to a caller; dead sites have no price.
///
/// ```
/// use quorate_quorum::{Prices, QuorumSystem, Threshold};
/// let prices = Prices::of_each([Some(20), None, Some(5), Some(7), Some(9)]);
/// let cheapest = Threshold::majority(5)?.cheapest(&prices).expect("4 of 5 are up");
/// assert_eq!(cheapest.to_string(), "{3 4 5}");
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices(Vec<Option<u64>>);

impl Prices {
    /// A price for each site, from the first on; `None` for those that are dead.
    pub fn of_each(prices: impl IntoIterator<Item = Option<u32>>) -> Self {
        // 32 bits each, so that no sum of them overflows.
        Self(prices.into_iter().map(|price| price.map(u64::from)).collect())
    }

    /// A price for each site, all of them live.
    pub(crate) fn of_all(costs: &[u64]) -> Self {
        Self(costs.iter().copied().map(Some).collect())
    }

    /// The prices of groups of sites, from those of their members.
    pub(crate) fn of_groups(prices: impl IntoIterator<Item = Option<u64>>) -> Self {
        Self(prices.into_iter().collect())
    }

    /// The prices of a caller's preference: its place, counted from 1; all live sites that are not
    /// named cost one more than the last.
    pub(crate) fn by_preference(n: usize, live: &SiteSet, prefer: &[SiteId]) -> Self {
        let rest = prefer.len() as u64 + 1;
        let mut prices: Vec<_> =
            SiteId::all(n).map(|site| live.contains(site).then_some(rest)).collect();
        // Backwards, so that of a site named twice the first place counts.
        for (place, site) in prefer.iter().enumerate().rev() {
            if let Some(Some(price)) = prices.get_mut(site.index()) {
                *price = place as u64 + 1;
            }
        }
        Self(prices)
    }

    /// The prices of a site that would keep its own quorum, and else depart from it to sites that
    /// follow it in a circle: places in that order, counted from 1.
    fn by_distance(n: usize, site: SiteId, own: &SiteSet, live: &SiteSet) -> Self {
        let mut prices = vec![None; n];
        let (mut kept, mut others) = (0, own.len() as u64);
        for other in from_site(site, n) {
            let place = if own.contains(other) { &mut kept } else { &mut others };
            *place += 1;
            prices[other.index()] = live.contains(other).then_some(*place);
        }
        Self(prices)
    }

    /// The price of `site`; `None` if it is dead or unknown.
    pub fn of(&self, site: SiteId) -> Option<u64> {
        self.0.get(site.index()).copied().flatten()
    }

    /// What all of `sites` cost together; `None` if one of them is dead.
    pub fn total(&self, sites: impl IntoIterator<Item = SiteId>) -> Option<u64> {
        sites.into_iter().map(|site| self.of(site)).sum()
    }

    /// The prices of some sites in a row, as those of a cluster of their own.
    pub(crate) fn part(&self, sites: std::ops::Range<usize>) -> Self {
        Self(sites.map(|at| self.of(SiteId::new(at))).collect())
    }

    /// The live ones of `sites`, cheapest first.
    pub(crate) fn sorted(&self, sites: impl IntoIterator<Item = SiteId>) -> Vec<SiteId> {
        let mut sites: Vec<_> = sites.into_iter().filter(|site| self.of(*site).is_some()).collect();
        sites.sort_by_key(|site| (self.of(*site), *site));
        sites
    }

    /// The cheapest live one of `sites`, and what it costs.
    pub(crate) fn least(&self, sites: impl IntoIterator<Item = SiteId>) -> Option<(u64, SiteId)> {
        sites.into_iter().filter_map(|site| Some((self.of(site)?, site))).min()
    }
}

/// The sites of a cluster of `n` in a circle, from `site` on.
pub(crate) fn from_site(site: SiteId, n: usize) -> impl Iterator<Item = SiteId> {
    (site.index()..n).chain(0..site.index()).map(SiteId::new)
}

/// The own quorum of `site` if it is live; else the live one that keeps most of it, and departs
/// from it to sites close after `site`, so that different sites fall back on different sites.
pub(crate) fn nearest<S: QuorumSystem + ?Sized>(
    system: &S,
    site: SiteId,
    own: SiteSet,
    live: &SiteSet,
) -> Option<SiteSet> {
    if own.is_subset(live) {
        return Some(own);
    }
    system.cheapest(&Prices::by_distance(system.n(), site, &own, live))
}

/// The live sites in the order in which `site` would have them: its own quorum, then all others.
pub(crate) fn by_distance<'a>(
    n: usize,
    site: SiteId,
    own: &'a SiteSet,
    live: &'a SiteSet,
) -> impl Iterator<Item = SiteId> + 'a {
    let of = move |is_own: bool| {
        from_site(site, n)
            .filter(move |other| own.contains(*other) == is_own && live.contains(*other))
    };
    of(true).chain(of(false))
}
