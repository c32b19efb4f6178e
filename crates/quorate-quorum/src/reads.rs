//! Quorums of readers, which need to meet those of writers only.

use crate::{Prices, QuorumError, QuorumSystem, SiteSet};

/// A quorum system with smaller quorums for readers.
///
/// Every read quorum meets every quorum of the system; two read quorums need not meet, so these are
/// for callers that do not exclude each other.
pub trait Reads: QuorumSystem {
    /// Whether `set` contains a read quorum.
    fn is_read_quorum(&self, set: &SiteSet) -> bool;

    /// The read quorums in minimal form, lazily.
    fn read_quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_>;

    /// The size of the smallest read quorum.
    fn read_size(&self) -> usize;

    /// The read quorum that costs least; `None` if none is live.
    fn pick_read(&self, prices: &Prices) -> Option<SiteSet>;

    /// The probability that a read quorum is live when each site is up with its own probability.
    ///
    /// # Errors
    ///
    /// `up` is not one probability for each site.
    fn read_availability(&self, up: &[f64]) -> Result<f64, QuorumError>;
}
