//! Families for tests.

use quorate_quorum::{Arbiters, SiteSet};

/// The sizes of the smallest quorums for 1, 2, … units.
pub(crate) fn sizes(arbiters: &Arbiters) -> Vec<usize> {
    (1..=arbiters.k()).map(|h| arbiters.of(h).unwrap().min_size()).collect()
}

/// The sizes of the largest quorums for 1, 2, … units.
pub(crate) fn largest(arbiters: &Arbiters) -> Vec<usize> {
    (1..=arbiters.k()).map(|h| arbiters.of(h).unwrap().max_size()).collect()
}

/// All quorums for 1, 2, … units.
pub(crate) fn list(arbiters: &Arbiters) -> Vec<Vec<SiteSet>> {
    (1..=arbiters.k()).map(|h| arbiters.of(h).unwrap().quorums().collect()).collect()
}
