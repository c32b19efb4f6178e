//! What sites cost a caller, and the nearest quorum when one's own is not live.

use crate::{QuorumSystem, SiteId, SiteSet};

/// The price of each live site under a caller's preference: its place, counted from 1; all sites
/// that are not named cost one more than the last. Dead sites have no price.
pub(crate) struct Prices(Vec<Option<u64>>);

impl Prices {
    pub(crate) fn new(n: usize, live: &SiteSet, prefer: &[SiteId]) -> Self {
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

    /// The price of `site`; `None` if it is dead or unknown.
    pub(crate) fn of(&self, site: SiteId) -> Option<u64> {
        self.0.get(site.index()).copied().flatten()
    }

    /// What all of `sites` cost together; `None` if one of them is dead.
    pub(crate) fn total(&self, sites: impl IntoIterator<Item = SiteId>) -> Option<u64> {
        sites.into_iter().map(|site| self.of(site)).sum()
    }

    /// The live sites, cheapest first.
    pub(crate) fn cheapest(&self) -> Vec<SiteId> {
        let mut sites: Vec<_> =
            SiteId::all(self.0.len()).filter(|site| self.of(*site).is_some()).collect();
        sites.sort_by_key(|site| (self.of(*site), *site));
        sites
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
    let n = system.n();
    let (mut prefer, rest): (Vec<_>, Vec<_>) =
        from_site(site, n).partition(|other| own.contains(*other));
    prefer.extend(rest);
    system.pick(live, &prefer)
}
