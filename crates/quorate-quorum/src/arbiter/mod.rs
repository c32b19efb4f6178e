//! Quorums for pools: a request for h of k units needs one of the quorums for h.

mod blocks;
mod condition;
mod cube;
mod error;
mod families;
mod kind;
mod pattern;
mod sizes;
mod space;
mod text;

use std::sync::Arc;

pub use condition::check_arbiters;
pub use error::PoolError;
pub use kind::ArbiterKind;
pub use pattern::critical_patterns;

use crate::{Listed, QuorumError, QuorumSystem, SiteSet, Threshold, check_sites};

/// The most units a pool may have here.
pub const UNITS_MAX: usize = 1 << 16;

/// An (h,k)-arbiter: for each number h of k units a quorum system, such that requests for more than
/// k units together always meet at one site (Manabe & Tajima).
///
/// Each site lends at most k units. Requests that conflict share a site, which cannot serve them
/// all; so never more than k units are out. The more units are asked for, the fewer requests fit
/// beside each other, and the smaller the quorums may be.
///
/// ```
/// use quorate_quorum::{Arbiters, SiteId, SiteSet};
/// let pool = Arbiters::improved(9, 3)?;
/// let sizes: Vec<_> = (1..=3).map(|h| pool.of(h).unwrap().min_size()).collect();
/// assert_eq!(sizes, [7, 5, 5]);
///
/// let quorum = pool.of(2)?.pick_for(SiteId::new(6), &SiteSet::full(9)).expect("all are up");
/// assert_eq!(quorum.to_string(), "{1 2 7 8 9}");
/// assert_eq!(pool.of(4).unwrap_err().to_string(), "invalid units: 4 of 3: ask for 1 to 3");
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Arbiters {
    name: &'static str,
    /// How many units there are.
    k: usize,
    /// The quorums for 1, 2, … units; equal ones once, with the lowest number of units that they
    /// are for. A large pool has few different ones.
    of: Vec<(usize, Arc<dyn QuorumSystem>)>,
}

impl Arbiters {
    /// The paper's thresholds: any k·n div (k + h) + 1 sites for h units.
    ///
    /// # Errors
    ///
    /// There are no sites or no units, or too many of either.
    pub fn uniform(n: usize, k: usize) -> Result<Self, QuorumError> {
        check(n, k)?;
        Self::of_runs("uniform", n, k, &sizes::uniform_runs(n, k))
    }

    /// Thresholds that are smaller than the [`uniform`](Self::uniform) ones wherever they can be
    /// without any being larger; large requests gain first.
    ///
    /// Above 64 units the search for them would be felt, and the uniform ones are returned.
    ///
    /// # Errors
    ///
    /// There are no sites or no units, or too many of either.
    pub fn improved(n: usize, k: usize) -> Result<Self, QuorumError> {
        check(n, k)?;
        if k > sizes::UNITS_RAISED_MAX {
            return Self::of_runs("improved", n, k, &sizes::uniform_runs(n, k));
        }
        Self::of_sizes("improved", n, &sizes::improved(n, k))
    }

    /// Custom thresholds for each number of units: any `sizes[h - 1]` sites for h.
    ///
    /// # Errors
    ///
    /// There are no sites or no units, or too many of either; a threshold is not above half or is
    /// beyond `n`; or some requests for more than k units would have no common site
    /// ([`PoolError::NoCommonSite`]).
    pub fn thresholds(n: usize, sizes: &[usize]) -> Result<Self, QuorumError> {
        check(n, sizes.len())?;
        let thresholds = Self::of_sizes("thresholds", n, sizes)?;
        sizes::check(n, sizes)?;
        Ok(thresholds)
    }

    /// The plain k-arbiter of thresholds: the quorums for one unit serve every request.
    ///
    /// # Errors
    ///
    /// There are no sites or no units, or too many of either.
    pub fn plain(n: usize, k: usize) -> Result<Self, QuorumError> {
        check(n, k)?;
        Self::of_runs("plain", n, k, &sizes::uniform_runs(n, k)[..1])
    }

    /// Custom quorums: `sets[h - 1]` are those for h units.
    ///
    /// A site uses a quorum with itself in it where there is one, and different sites use different
    /// ones as far as they go.
    ///
    /// # Errors
    ///
    /// There are no sites or no units, or too many of either; no quorum for some number of units,
    /// an empty one, or one with a site beyond `n`; or some requests for more than k units would
    /// have no common site ([`PoolError::NoCommonSite`]).
    pub fn listed(n: usize, sets: &[Vec<SiteSet>]) -> Result<Self, QuorumError> {
        check(n, sets.len())?;
        check_arbiters(n, sets)?;
        let spread = |sets: &Vec<SiteSet>| Arc::new(Listed::spread(n, sets)) as _;
        Ok(Self::of_all("listed", sets.iter().map(spread).collect()))
    }

    /// The quorums for 1, 2, … units.
    fn of_all(name: &'static str, of: Vec<Arc<dyn QuorumSystem>>) -> Self {
        Self { name, k: of.len(), of: (1..).zip(of).collect() }
    }

    /// Thresholds for 1, 2, … units that are known to meet.
    fn of_sizes(name: &'static str, n: usize, sizes: &[usize]) -> Result<Self, QuorumError> {
        let mut runs: Vec<(usize, usize)> = (1..).zip(sizes.iter().copied()).collect();
        runs.dedup_by_key(|(_, size)| *size);
        Self::of_runs(name, n, sizes.len(), &runs)
    }

    /// The same for `k` units, each threshold once: the lowest number of units, and the threshold.
    fn of_runs(
        name: &'static str,
        n: usize,
        k: usize,
        runs: &[(usize, usize)],
    ) -> Result<Self, QuorumError> {
        let mut of: Vec<(usize, Arc<dyn QuorumSystem>)> = Vec::with_capacity(runs.len());
        for (h, size) in runs {
            of.push((*h, Arc::new(Threshold::new(n, *size)?)));
        }
        Ok(Self { name, k, of })
    }

    /// The construction and its size, as text: `improved arbiters of 9, k=3`.
    pub fn name(&self) -> String {
        format!("{} arbiters of {}, k={}", self.name, self.n(), self.k())
    }

    /// How many sites the cluster has.
    pub fn n(&self) -> usize {
        self.of[0].1.n()
    }

    /// How many units the pool has.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The quorums for `h` units. Any two meet, as those of a lock do.
    ///
    /// # Errors
    ///
    /// `h` is 0 or above k.
    pub fn of(&self, h: usize) -> Result<&Arc<dyn QuorumSystem>, QuorumError> {
        if !(1..=self.k).contains(&h) {
            return Err(PoolError::BadUnits { h, k: self.k }.into());
        }
        let place = self.of.partition_point(|(lowest, _)| *lowest <= h) - 1;
        Ok(&self.of[place].1)
    }
}

fn check(n: usize, k: usize) -> Result<(), QuorumError> {
    check_sites(n)?;
    match k {
        0 => Err(PoolError::NoUnits.into()),
        1..=UNITS_MAX => Ok(()),
        _ => Err(PoolError::TooManyUnits(k).into()),
    }
}
