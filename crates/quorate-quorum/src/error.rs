//! What can be wrong with a quorum system, or with a question about one.

use std::fmt;

use crate::difference::{ORDER_MAX, is_prime_power, points};
use crate::{Kind, Numbers, PoolError, SITES_MAX, SiteId, SiteSet, VOTES_MAX};

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
    /// A list of numbers in the name of a construction cannot be read.
    BadNumbers(String),
    /// The construction is one of another number of sites.
    OtherSize {
        /// The construction, as people write it.
        kind: String,
        /// How many sites it takes.
        needs: usize,
        /// How many there are.
        n: usize,
    },
    /// There is no projective plane of this order here.
    NoPlane(usize),
    /// This row of a wall, counted from 1, has no site.
    EmptyRow(usize),
    /// A composition needs one group for each site of its outer system.
    OtherGroups {
        /// How many groups were given.
        given: usize,
        /// How many there must be.
        needed: usize,
    },
    /// Sites cannot be divided into so many groups, or groups of so many.
    BadGroups {
        /// How many sites there are.
        n: usize,
        /// What was asked for.
        groups: usize,
    },
    /// Something about the units of a pool, or the quorums for them.
    Pool(PoolError),
    /// Nobody has a vote, so nobody could ever win; give at least one site a vote.
    NoVotes,
    /// The votes add up to more than [`VOTES_MAX`]; divide them all by the same number.
    TooManyVotes(u64),
    /// So few votes to write need not meet each other, or there are fewer.
    BadWrite {
        /// The votes to write.
        write: usize,
        /// The fewest that meet.
        least: usize,
        /// All votes.
        total: usize,
    },
    /// So few votes to read need not meet those to write, or there are fewer.
    BadRead {
        /// The votes to read.
        read: usize,
        /// The votes to write.
        write: usize,
        /// The fewest to read that meet them.
        least: usize,
        /// All votes.
        total: usize,
    },
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
                let known = known.join(", ");
                write!(f, "no quorum system is called `{name}`; known: {known}, ")?;
                f.write_str("wall:1,2,3, weighted:2,1,1, plane:4")
            }
            Self::BadThreshold { n, size } => {
                let least = n / 2 + 1;
                write!(f, "any {size} of {n} sites are no quorums: take {least} to {n}")
            }
            Self::BadNumbers(text) => {
                let most = Numbers::MAX;
                write!(f, "expected numbers such as `1,2,3`, at most {most} of them and each ")?;
                write!(f, "at most {}, found `{text}`", u16::MAX)
            }
            Self::OtherSize { kind, needs, n } => {
                write!(f, "`{kind}` is for {needs} sites, and the cluster has {n}")
            }
            Self::NoPlane(order) => no_plane(f, *order),
            Self::EmptyRow(row) => {
                write!(f, "row {row} of the wall has width 0: give it 1 or more, or leave it out")
            }
            Self::OtherGroups { given, needed } => {
                write!(f, "{given} groups for an outer system of {needed}: give one for each")
            }
            Self::BadGroups { n, groups } => {
                write!(f, "{n} sites cannot be grouped by {groups}: take 1 to {n}")
            }
            Self::Pool(error) => error.fmt(f),
            Self::NoVotes => f.write_str("no site has a vote: give at least one site 1"),
            Self::TooManyVotes(total) => {
                write!(f, "{total} votes are too many: all together may have {VOTES_MAX}")
            }
            Self::BadWrite { write, least, total } => {
                write!(f, "{write} of {total} votes cannot be what writes: take {least} to {total}")
            }
            Self::BadRead { read, write, least, total } => {
                write!(f, "{read} of {total} votes cannot be what reads if {write} write: ")?;
                write!(f, "take {least} to {total}")
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

/// Names the planes next to one that does not exist.
fn no_plane(f: &mut fmt::Formatter<'_>, order: usize) -> fmt::Result {
    let below = (2..order.min(ORDER_MAX + 1)).rev().find(|order| is_prime_power(*order));
    let above = (order.max(1) + 1..=ORDER_MAX).find(|order| is_prime_power(*order));
    let near: Vec<_> = below.into_iter().chain(above).collect();
    let near: Vec<_> =
        near.into_iter().map(|order| format!("{order} ({} sites)", points(order))).collect();
    write!(f, "no projective plane of order {order} is known here: take {}", near.join(" or "))
}
