//! What can be wrong with arbiters, or with a question about them.

use std::fmt;

use super::{ArbiterKind, UNITS_MAX};
use crate::{QuorumError, SiteSet};

/// Why arbiters of a pool were refused, or a number of units has no quorums.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PoolError {
    /// A pool needs at least one unit.
    NoUnits,
    /// The pool is larger than [`UNITS_MAX`].
    TooManyUnits(usize),
    /// Nobody can ask for this many units of the pool.
    BadUnits {
        /// How many were asked for.
        h: usize,
        /// How many there are.
        k: usize,
    },
    /// There must be quorums for each number of units that can be asked for.
    NoQuorum {
        /// The number of units that has none.
        h: usize,
        /// How many there are.
        k: usize,
    },
    /// No family of arbiters has this name; the message lists those that exist.
    UnknownKind(String),
    /// No blocks are known whose rotations serve so many units.
    NoBlocks {
        /// How many sites there are.
        n: usize,
        /// The units of the pool.
        k: usize,
        /// For which numbers they are known.
        known: String,
    },
    /// A quorum for this many units has no member.
    EmptyQuorum(usize),
    /// Quorums for more units than there are, and no site in all of them: all would be let in.
    NoCommonSite {
        /// The units of the pool.
        k: usize,
        /// Numbers of units, each with a quorum for it.
        quorums: Vec<(usize, SiteSet)>,
    },
}

impl From<PoolError> for QuorumError {
    fn from(error: PoolError) -> Self {
        Self::Pool(error)
    }
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoUnits => f.write_str("a pool needs at least 1 unit"),
            Self::TooManyUnits(k) => {
                write!(f, "{k} units are too many: a pool has 1 to {UNITS_MAX}")
            }
            Self::BadUnits { h, k } => write!(f, "invalid units: {h} of {k}: ask for 1 to {k}"),
            Self::NoQuorum { h, k } => {
                write!(f, "no quorum for h={h}: list one for each h from 1 to {k}")
            }
            Self::UnknownKind(name) => {
                let known: Vec<_> = ArbiterKind::all().iter().map(|kind| kind.name()).collect();
                write!(f, "no arbiters are called `{name}`; known: {}", known.join(", "))
            }
            Self::NoBlocks { n, k, known } => {
                write!(f, "no cyclic blocks for {n} sites and {k} units; known for {known}; ")?;
                f.write_str("`space` and `improved` take others")
            }
            Self::EmptyQuorum(h) => {
                write!(f, "a quorum for h={h} is empty: name its members, or leave it out")
            }
            Self::NoCommonSite { k, quorums } => no_common_site(f, *k, quorums),
        }
    }
}

/// Names quorums that would all be won at once, and how much too much that is.
fn no_common_site(
    f: &mut fmt::Formatter<'_>,
    k: usize,
    quorums: &[(usize, SiteSet)],
) -> fmt::Result {
    for (place, (h, quorum)) in quorums.iter().enumerate() {
        let gap = if place == 0 { "" } else { ", " };
        write!(f, "{gap}{quorum} for {h}")?;
    }
    let sum: usize = quorums.iter().map(|(h, _)| h).sum();
    write!(f, ": no site is in all, so {sum} units of {k} could be out at once")
}
