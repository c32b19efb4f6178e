//! Thresholds: any so many of the sites; majorities first of all.

use crate::coalitions::{Coalitions, reach};
use crate::measure::{self, LoadBounds, ratio};
use crate::price::from_site;
use crate::{Prices, QuorumError, QuorumSystem, SiteId, SiteSet, check_sites};

/// Any `size` of the sites, whichever they are, where that is more than half.
///
/// With just more than half this is the majority: the best there is against failures while sites
/// are more often up than down. For even n one site with two votes does better:
/// [`Weighted`](crate::Weighted). Larger sizes serve where more than two quorums have to meet:
/// [`Arbiters`](crate::Arbiters).
///
/// ```
/// use quorate_quorum::{QuorumSystem, Threshold};
/// let system = Threshold::majority(5)?;
/// assert_eq!((system.min_size(), system.resilience()?), (3, 2));
/// assert_eq!(system.quorums().count(), 10);
///
/// let error = Threshold::new(6, 3).unwrap_err();
/// assert_eq!(error.to_string(), "any 3 of 6 sites are no quorums: take 4 to 6");
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threshold {
    n: usize,
    size: usize,
}

impl Threshold {
    /// Any `size` of `n` sites.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX), or `size` is not more than half of it or
    /// above it.
    pub fn new(n: usize, size: usize) -> Result<Self, QuorumError> {
        check_sites(n)?;
        if size <= n / 2 || size > n {
            return Err(QuorumError::BadThreshold { n, size });
        }
        Ok(Self { n, size })
    }

    /// The majorities of `n` sites.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX).
    pub fn majority(n: usize) -> Result<Self, QuorumError> {
        Self::new(n, n / 2 + 1)
    }
}

impl QuorumSystem for Threshold {
    fn name(&self) -> String {
        if self.size == self.n / 2 + 1 {
            return format!("majority of {}", self.n);
        }
        format!("any {} of {}", self.size, self.n)
    }

    fn n(&self) -> usize {
        self.n
    }

    fn is_quorum(&self, set: &SiteSet) -> bool {
        set.iter().take_while(|site| site.index() < self.n).count() >= self.size
    }

    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        Box::new(Coalitions::new(&vec![1; self.n], self.size))
    }

    fn min_size(&self) -> usize {
        self.size
    }

    fn max_size(&self) -> usize {
        self.size
    }

    fn cheapest(&self, prices: &Prices) -> Option<SiteSet> {
        let sites = prices.sorted(SiteId::all(self.n));
        Some(sites.get(..self.size)?.iter().copied().collect())
    }

    /// The first live ones of `site` and those that follow it in a circle.
    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
        if site.index() >= self.n {
            return None;
        }
        let live = from_site(site, self.n).filter(|site| live.contains(*site));
        let quorum: SiteSet = live.take(self.size).collect();
        (quorum.len() == self.size).then_some(quorum)
    }

    fn heaviest(&self, weights: &[u64]) -> u64 {
        let mut weights = weights.to_vec();
        weights.sort_unstable_by(|a, b| b.cmp(a));
        weights[..self.size].iter().sum()
    }

    /// One site more than can be spared.
    fn transversal(&self, costs: &[u64]) -> Result<u64, QuorumError> {
        let mut costs = costs.to_vec();
        costs.sort_unstable();
        Ok(costs[..=self.n - self.size].iter().sum())
    }

    fn availability(&self, up: &[f64]) -> Result<f64, QuorumError> {
        measure::check_probabilities(self.n, up)?;
        Ok(reach(self.size, up.iter().map(|up| (1, *up))))
    }

    fn load_bounds(&self) -> LoadBounds {
        LoadBounds::exactly(ratio(self.size, self.n))
    }
}
