//! The interface of every quorum system.

use std::fmt::Debug;

use crate::measure::{self, LoadBounds};
use crate::{Prices, QuorumError, Shape, SiteId, SiteSet};

/// A quorum system over the sites `0..n`: sets of sites of which any two meet.
///
/// Any set that a `pick` method returns is a quorum of the *whole* cluster, chosen among the live
/// ones. Two sites with different suspicions therefore still pick sets that meet.
///
/// ```
/// use quorate_quorum::{QuorumSystem, SiteId, SiteSet, Threshold};
/// let system = Threshold::majority(5)?;
/// let mut live = SiteSet::full(5);
/// live.remove(SiteId::new(3));
/// let quorum = system.pick_for(SiteId::new(2), &live).expect("4 of 5 are up");
/// assert_eq!(quorum.to_string(), "{1 3 5}");
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
pub trait QuorumSystem: Debug + Send + Sync {
    /// The construction and its size, as text: `majority of 5`.
    fn name(&self) -> String;

    /// How many sites the cluster has.
    fn n(&self) -> usize;

    /// Whether `set` contains a quorum.
    fn is_quorum(&self, set: &SiteSet) -> bool;

    /// Whether `set` is a cover: it shares a site with every quorum, so the rest contains none.
    ///
    /// What the sites of a cover do not know of, no quorum has decided.
    fn is_cover(&self, set: &SiteSet) -> bool {
        let others = SiteId::all(self.n()).filter(|site| !set.contains(*site)).collect();
        !self.is_quorum(&others)
    }

    /// The quorums in minimal form: none twice, none that contains another.
    ///
    /// Lazy, because there may be very many of them.
    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_>;

    /// The size of the smallest quorum.
    fn min_size(&self) -> usize;

    /// The size of the largest quorum of the minimal form.
    fn max_size(&self) -> usize;

    /// The cheapest quorum of sites in `live`, where `prefer` lists cheap sites first and the rest
    /// cost most; `None` if `live` contains no quorum.
    ///
    /// A site costs its place in `prefer`, counted from 1, any other site one more than the last of
    /// them, and a quorum the sum of its members: with an empty `prefer` the smallest live quorum
    /// wins. ([`Weighted`](crate::Weighted) votes are picked greedily; see there.)
    /// The same question always gets the same answer. Sites the cluster does not have are
    /// passed over.
    fn pick(&self, live: &SiteSet, prefer: &[SiteId]) -> Option<SiteSet> {
        self.cheapest(&Prices::by_preference(self.n(), live, prefer))
    }

    /// The quorum whose members together cost least; `None` if no quorum is live.
    fn cheapest(&self, prices: &Prices) -> Option<SiteSet>;

    /// The quorum of `site`: its own when all are up, the nearest live one otherwise.
    ///
    /// Deterministic; with all sites up it contains `site` in every construction that is built from
    /// a number of sites. Where no quorum of the minimal form contains `site`, it is one of them
    /// and `site` itself, which costs no message. `None` if `live` contains no quorum, if the
    /// cluster has no such site, or if a [`Listed`](crate::Listed) system gives it none.
    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet>;

    /// How many failures are always survived, whichever sites fail.
    ///
    /// # Errors
    ///
    /// [`QuorumError::TooLarge`] where there is no formula and the search for the smallest set that
    /// hits every quorum would take too long.
    fn resilience(&self) -> Result<usize, QuorumError> {
        let fewest = self.transversal(&vec![1; self.n()])?;
        Ok(usize::try_from(fewest).expect("at most all sites") - 1)
    }

    /// The cost of the cheapest set of sites that hits every quorum: without these sites the system
    /// stops. There is one cost for each site, and none is 0.
    ///
    /// # Errors
    ///
    /// [`QuorumError::TooLarge`] where there is no formula and the search would take too long.
    fn transversal(&self, costs: &[u64]) -> Result<u64, QuorumError> {
        measure::transversal_by_search(self, costs)
    }

    /// What the heaviest quorum of the minimal form weighs, given a weight for each site.
    ///
    /// Looks at all quorums where there is no formula.
    fn heaviest(&self, weights: &[u64]) -> u64 {
        let weight = |quorum: SiteSet| quorum.iter().map(|site| weights[site.index()]).sum();
        self.quorums().map(weight).max().unwrap_or(0)
    }

    /// The probability that a quorum is live when each site is up with its own probability in `up`,
    /// independently of the others.
    ///
    /// # Errors
    ///
    /// `up` is not one probability for each site, or the exact answer would take too long
    /// ([`QuorumError::TooLarge`]): without a formula it is found up to 24 sites.
    fn availability(&self, up: &[f64]) -> Result<f64, QuorumError> {
        measure::availability_by_branching(self, up)
    }

    /// Bounds of the load: the share of all accesses that must reach the busiest site.
    ///
    /// Equal where a closed form is known. Otherwise with c the smallest quorum's size the lower
    /// bound is max(1/c, c/N), and the upper one the load when every site uses its own quorum
    /// equally often.
    fn load_bounds(&self) -> LoadBounds {
        measure::load_by_size(self)
    }

    /// How the construction lays out its sites; each of them stands in it once.
    fn shape(&self) -> Shape {
        Shape::group(SiteId::all(self.n()))
    }
}
