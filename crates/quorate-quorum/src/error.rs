//! What can be wrong with a quorum system, or with a question about one.

use std::fmt;

use crate::{Kind, SITES_MAX, SiteId, SiteSet, UNITS_MAX, VOTES_MAX};

/// Why a quorum system was refused, or a question about it has no answer.
///
/// Nothing is built or changed when one of these is returned.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum QuorumError {
    /// A cluster needs at least one site.
    NoSites,
    /// The cluster is larger than [`SITES_MAX`].
    TooManySites(usize),
    /// No construction has this name; the message lists those that exist.
    UnknownKind(String),
    /// Fewer than a majority, which need not meet, or more than there are.
    BadThreshold {
        /// How many sites there are.
        n: usize,
        /// How many of them were to be a quorum.
        size: usize,
    },
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
    UnitsWithoutQuorum {
        /// The number of units that has none.
        h: usize,
        /// How many there are.
        k: usize,
    },
    /// A quorum for this many units has no member.
    EmptyForUnits(usize),
    /// Quorums for more units than there are, and no site in all of them: all would be let in.
    NoCommonSite {
        /// The units of the pool.
        k: usize,
        /// Numbers of units, each with a quorum for it.
        quorums: Vec<(usize, SiteSet)>,
    },
    /// Nobody has a vote, so nobody could ever win; give at least one site a vote.
    NoVotes,
    /// The votes add up to more than [`VOTES_MAX`]; divide them all by the same number.
    TooManyVotes(u64),
    /// A listed system in which no site has a quorum.
    NoQuorum,
    /// This site's quorum has no member; leave the site out instead.
    EmptyQuorum(SiteId),
    /// A quorum names a site that the cluster does not have.
    UnknownSite {
        /// The site that is not there.
        site: SiteId,
        /// How many sites there are.
        n: usize,
    },
    /// Two quorums without a common site: their owners could hold the same lock at once.
    DoNotMeet {
        /// One owner and its quorum.
        one: (SiteId, SiteSet),
        /// Another owner and its quorum.
        other: (SiteId, SiteSet),
    },
    /// A line of a quorum file that cannot be read.
    Line {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// There must be one probability for each site.
    UpLength {
        /// How many were given.
        given: usize,
        /// How many sites there are.
        n: usize,
    },
    /// A probability lies between 0 and 1.
    NotAProbability {
        /// Whose it is.
        site: SiteId,
        /// What was given.
        up: f64,
    },
    /// The exact answer would take longer than anybody waits; a smaller system can be asked.
    TooLarge {
        /// What was asked for.
        what: &'static str,
        /// How far the exact method goes.
        limit: String,
    },
}

impl std::error::Error for QuorumError {}

impl fmt::Display for QuorumError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSites => f.write_str("a cluster needs at least 1 site"),
            Self::TooManySites(n) => {
                write!(f, "{n} sites are too many: a cluster has 1 to {SITES_MAX}")
            }
            Self::UnknownKind(name) => {
                let known: Vec<_> = Kind::all().iter().map(|kind| kind.name()).collect();
                write!(f, "no quorum system is called `{name}`; known: {}", known.join(", "))
            }
            Self::BadThreshold { n, size } => {
                let least = n / 2 + 1;
                write!(f, "any {size} of {n} sites are no quorums: take {least} to {n}")
            }
            Self::NoUnits => f.write_str("a pool needs at least 1 unit"),
            Self::TooManyUnits(k) => {
                write!(f, "{k} units are too many: a pool has 1 to {UNITS_MAX}")
            }
            Self::BadUnits { h, k } => write!(f, "invalid units: {h} of {k}: ask for 1 to {k}"),
            Self::UnitsWithoutQuorum { h, k } => {
                write!(f, "no quorum for h={h}: list one for each h from 1 to {k}")
            }
            Self::EmptyForUnits(h) => {
                write!(f, "a quorum for h={h} is empty: name its members, or leave it out")
            }
            Self::NoCommonSite { k, quorums } => no_common_site(f, *k, quorums),
            Self::NoVotes => f.write_str("no site has a vote: give at least one site 1"),
            Self::TooManyVotes(total) => {
                write!(f, "{total} votes are too many: all together may have {VOTES_MAX}")
            }
            Self::NoQuorum => f.write_str("no site has a quorum: list at least one"),
            Self::EmptyQuorum(site) => {
                write!(f, "the quorum of site {site} is empty: name its members, or leave it out")
            }
            Self::UnknownSite { site, n } => {
                write!(f, "there is no site {site}: the cluster has sites 1 to {n}")
            }
            Self::DoNotMeet { one, other } => {
                let (a, b) = (&one, &other);
                write!(f, "{} of site {} and {} of site {} do not meet", a.1, a.0, b.1, b.0)
            }
            Self::Line { line, message } => write!(f, "line {line}: {message}"),
            Self::UpLength { given, n } => {
                write!(f, "{given} probabilities for {n} sites: give one for each site")
            }
            Self::NotAProbability { site, up } => {
                write!(f, "site {site} cannot be up with probability {up}: it lies in 0 to 1")
            }
            Self::TooLarge { what, limit } => write!(f, "{what} is computed only {limit}"),
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
