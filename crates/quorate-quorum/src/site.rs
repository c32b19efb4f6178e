//! Sites and sets of sites.

use std::fmt;

use fixedbitset::FixedBitSet;

/// A site's place in the cluster's list.
///
/// In memory the first site is 0, as an index; text counts from 1, and so does
/// [`Display`](fmt::Display).
///
/// ```
/// use quorate_quorum::SiteId;
/// assert_eq!(SiteId::new(0).to_string(), "1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SiteId(u32);

impl SiteId {
    /// The site at `index`, counted from 0.
    pub fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("a cluster has fewer than 2^32 sites"))
    }

    /// Its place, counted from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// All sites of a cluster of `n`, in order.
    pub fn all(n: usize) -> impl DoubleEndedIterator<Item = SiteId> + ExactSizeIterator {
        (0..n).map(SiteId::new)
    }
}

impl fmt::Display for SiteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&(u64::from(self.0) + 1), f)
    }
}

/// A set of sites of one cluster.
///
/// ```
/// use quorate_quorum::{SiteId, SiteSet};
/// let set: SiteSet = [0, 2].map(SiteId::new).into_iter().collect();
/// assert_eq!(set.to_string(), "{1 3}");
/// ```
#[derive(Clone, Debug, Default)]
pub struct SiteSet(FixedBitSet);

impl SiteSet {
    /// The empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// All sites of a cluster of `n`.
    pub fn full(n: usize) -> Self {
        let mut bits = FixedBitSet::with_capacity(n);
        bits.insert_range(..);
        Self(bits)
    }

    /// Adds `site`; false if it was there already.
    pub fn insert(&mut self, site: SiteId) -> bool {
        self.0.grow(site.index() + 1);
        !self.0.put(site.index())
    }

    /// Takes `site` out; false if it was not there.
    pub fn remove(&mut self, site: SiteId) -> bool {
        let was = self.contains(site);
        if was {
            self.0.remove(site.index());
        }
        was
    }

    /// Whether `site` is in the set.
    pub fn contains(&self, site: SiteId) -> bool {
        self.0.contains(site.index())
    }

    /// Whether all sites at these places are in the set.
    pub(crate) fn contains_range(&self, places: std::ops::Range<usize>) -> bool {
        places.end <= self.0.len() && self.0.contains_all_in_range(places)
    }

    /// How many sites it has.
    pub fn len(&self) -> usize {
        self.0.count_ones(..)
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_clear()
    }

    /// Its sites, in order.
    pub fn iter(&self) -> impl Iterator<Item = SiteId> + '_ {
        self.0.ones().map(SiteId::new)
    }

    /// Whether all its sites are in `other`.
    pub fn is_subset(&self, other: &SiteSet) -> bool {
        self.0.is_subset(&other.0)
    }

    /// Whether it has no site in common with `other`.
    pub fn is_disjoint(&self, other: &SiteSet) -> bool {
        self.0.is_disjoint(&other.0)
    }

    /// The sites that it has in common with `other`.
    pub fn intersection(&self, other: &SiteSet) -> SiteSet {
        let mut common = self.0.clone();
        common.intersect_with(&other.0);
        SiteSet(common)
    }

    /// Adds all sites of `other`.
    pub fn extend_from(&mut self, other: &SiteSet) {
        self.0.union_with(&other.0);
    }
}

// The backing bits may be longer than the last site needs; only the members count.
impl PartialEq for SiteSet {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for SiteSet {}

impl std::hash::Hash for SiteSet {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        for site in self.iter() {
            site.hash(state);
        }
    }
}

impl FromIterator<SiteId> for SiteSet {
    fn from_iter<I: IntoIterator<Item = SiteId>>(sites: I) -> Self {
        let mut set = Self::new();
        for site in sites {
            set.insert(site);
        }
        set
    }
}

impl fmt::Display for SiteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (place, site) in self.iter().enumerate() {
            let gap = if place == 0 { "" } else { " " };
            write!(f, "{gap}{site}")?;
        }
        f.write_str("}")
    }
}
