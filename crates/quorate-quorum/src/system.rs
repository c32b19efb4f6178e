//! What every quorum system offers.

use std::fmt::Debug;

use crate::{SiteId, SiteSet};

/// A quorum system over the sites `0..n`: sets of sites of which any two meet.
///
/// Any set that one of the `pick`s returns is a quorum of the *whole* cluster, chosen with an eye
/// to who is up. Two sites with different suspicions therefore still pick sets that meet.
pub trait QuorumSystem: Debug + Send + Sync {
    /// The construction and its size, for people: `majority of 5`.
    fn name(&self) -> String;

    /// How many sites the cluster has.
    fn n(&self) -> usize;

    /// Whether `set` contains a quorum.
    fn is_quorum(&self, set: &SiteSet) -> bool;

    /// The quorums in minimal form: none twice, none that contains another.
    ///
    /// Lazy, because there may be very many of them.
    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_>;

    /// The size of the smallest quorum.
    fn min_size(&self) -> usize;

    /// The size of the largest quorum of the minimal form.
    fn max_size(&self) -> usize;

    /// A quorum of sites in `live`, the cheapest if sites of `prefer` are cheaper the earlier they
    /// stand and the rest come last; `None` if `live` contains no quorum.
    fn pick(&self, live: &SiteSet, prefer: &[SiteId]) -> Option<SiteSet>;

    /// The quorum of `site`: its own when all are up, the nearest live one otherwise.
    ///
    /// Deterministic; with all sites up it contains `site` wherever the construction allows.
    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet>;
}
