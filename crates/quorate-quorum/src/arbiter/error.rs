//! Errors of arbiters, and of questions about them.

use super::{ArbiterKind, UNITS_MAX};
use crate::SiteSet;

/// Why arbiters of a pool were refused, or a number of units has no quorums.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// A pool needs at least one unit.
    #[error("a pool needs at least 1 unit")]
    NoUnits,
    /// The pool is larger than [`UNITS_MAX`].
    #[error("{0} units are too many: a pool has 1 to {UNITS_MAX}")]
    TooManyUnits(usize),
    /// The pool cannot lend this many units.
    #[error("invalid units: {h} of {k}: ask for 1 to {k}")]
    BadUnits {
        /// How many were asked for.
        h: usize,
        /// How many there are.
        k: usize,
    },
    /// There must be quorums for each number of units that can be asked for.
    #[error("no quorum for h={h}: list one for each h from 1 to {k}")]
    NoQuorum {
        /// The number of units that has none.
        h: usize,
        /// How many there are.
        k: usize,
    },
    /// No family of arbiters has this name; the message lists those that exist.
    #[error("no arbiters are called `{0}`; known: {known}", known = known_kinds())]
    UnknownKind(String),
    /// No blocks are known whose rotations serve so many units.
    #[error(
        "no cyclic blocks for {n} sites and {k} units; known for {known}; `space` and `improved` \
         take others"
    )]
    NoBlocks {
        /// How many sites there are.
        n: usize,
        /// The units of the pool.
        k: usize,
        /// For which numbers they are known.
        known: String,
    },
    /// A quorum for this many units has no member.
    #[error("a quorum for h={0} is empty: name its members, or leave it out")]
    EmptyQuorum(usize),
    /// Quorums for more units than there are, with no common site: all would be granted.
    #[error("{}", no_common_site(*k, quorums))]
    NoCommonSite {
        /// The units of the pool.
        k: usize,
        /// Numbers of units, each with a quorum for it.
        quorums: Vec<(usize, SiteSet)>,
    },
}

/// The names of all families.
fn known_kinds() -> String {
    let names: Vec<_> = ArbiterKind::all().iter().map(|kind| kind.name()).collect();
    names.join(", ")
}

/// Quorums that could all be collected at once, and how much too much that is.
fn no_common_site(k: usize, quorums: &[(usize, SiteSet)]) -> String {
    let listed: Vec<_> = quorums.iter().map(|(h, quorum)| format!("{quorum} for {h}")).collect();
    let sum: usize = quorums.iter().map(|(h, _)| h).sum();
    let listed = listed.join(", ");
    format!("{listed}: no site is in all, so {sum} units of {k} could be out at once")
}
