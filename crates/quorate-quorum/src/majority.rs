//! Majority: any more than half of the sites.

use crate::measure::{self, LoadBounds, ratio};
use crate::price::{Prices, from_site, nearest};
use crate::weighted::{Coalitions, reach};
use crate::{QuorumError, QuorumSystem, SiteId, SiteSet, check_sites};

/// More than half of the sites, whichever they are.
///
/// The best there is against failures while sites are more often up than down. For even n one site
/// with two votes does better: [`Weighted`](crate::Weighted).
///
/// ```
/// use quorate_quorum::{Majority, QuorumSystem};
/// let system = Majority::new(5)?;
/// assert_eq!((system.min_size(), system.resilience()?), (3, 2));
/// assert_eq!(system.quorums().count(), 10);
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Majority {
    n: usize,
}

impl Majority {
    /// The majorities of `n` sites.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX).
    pub fn new(n: usize) -> Result<Self, QuorumError> {
        check_sites(n)?;
        Ok(Self { n })
    }

    fn size(&self) -> usize {
        self.n / 2 + 1
    }
}

impl QuorumSystem for Majority {
    fn name(&self) -> String {
        format!("majority of {}", self.n)
    }

    fn n(&self) -> usize {
        self.n
    }

    fn is_quorum(&self, set: &SiteSet) -> bool {
        set.iter().take_while(|site| site.index() < self.n).count() >= self.size()
    }

    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        Box::new(Coalitions::new(&vec![1; self.n]))
    }

    fn min_size(&self) -> usize {
        self.size()
    }

    fn max_size(&self) -> usize {
        self.size()
    }

    fn pick(&self, live: &SiteSet, prefer: &[SiteId]) -> Option<SiteSet> {
        let sites = Prices::new(self.n, live, prefer).cheapest();
        Some(sites.get(..self.size())?.iter().copied().collect())
    }

    /// `site` and those that follow it in a circle.
    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
        if site.index() >= self.n {
            return None;
        }
        nearest(self, site, from_site(site, self.n).take(self.size()).collect(), live)
    }

    fn resilience(&self) -> Result<usize, QuorumError> {
        Ok((self.n - 1) / 2)
    }

    fn availability(&self, up: &[f64]) -> Result<f64, QuorumError> {
        measure::check_probabilities(self.n, up)?;
        Ok(reach(self.size(), up.iter().map(|up| (1, *up))))
    }

    fn load_bounds(&self) -> LoadBounds {
        LoadBounds::exactly(ratio(self.size(), self.n))
    }
}
