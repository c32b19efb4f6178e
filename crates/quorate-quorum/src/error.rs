//! What can be wrong with a quorum system, or with a question about one.

use std::fmt;

use crate::{Kind, SITES_MAX, SiteId, SiteSet, VOTES_MAX};

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
    /// There must be one delay for each site.
    DelaysLength {
        /// How many were given.
        given: usize,
        /// How many sites there are.
        n: usize,
    },
    /// A share of the accesses lies between 0 and 1.
    NotAShare(f64),
    /// A speed is positive, a delay at least not negative.
    NotPositive {
        /// What was given: a speed or a delay.
        what: &'static str,
        /// Whose it is.
        site: SiteId,
        /// What was given.
        value: f64,
    },
    /// No strategy keeps the load below this; the least load can be reached.
    LoadLimit {
        /// The load asked for.
        limit: f64,
        /// The least there is.
        least: f64,
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
            Self::DelaysLength { given, n } => {
                write!(f, "{given} delays for {n} sites: give one for each site")
            }
            Self::NotAShare(share) => {
                write!(f, "{share} is no share of the accesses: it lies in 0 to 1")
            }
            Self::NotPositive { what, site, value } => {
                write!(f, "the {what} of site {site} cannot be {value}: give a positive number")
            }
            Self::LoadLimit { limit, least } => {
                write!(f, "no choice of quorums keeps the load at {limit}: the least is {least:.4}")
            }
            Self::TooLarge { what, limit } => write!(f, "{what} is computed only {limit}"),
        }
    }
}
