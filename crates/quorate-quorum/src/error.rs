//! Errors of quorum systems, and of questions about them.

#[cfg(feature = "analysis")]
use crate::analysis::AnalysisError;
use crate::difference::{ORDER_MAX, is_prime_power, points};
use crate::{Kind, Numbers, PoolError, SITES_MAX, SiteId, SiteSet, VOTES_MAX};

/// Why a quorum system was refused, or a question about it has no answer.
///
/// Nothing is built or changed when one of these is returned.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum QuorumError {
    /// A cluster needs at least one site.
    #[error("a cluster needs at least 1 site")]
    NoSites,
    /// The cluster is larger than [`SITES_MAX`].
    #[error("{0} sites are too many: a cluster has 1 to {SITES_MAX}")]
    TooManySites(usize),
    /// No construction has this name; the message lists those that exist.
    #[error("no quorum system is called `{0}`; known: {known}", known = known_kinds())]
    UnknownKind(String),
    /// Fewer than a majority, which need not meet, or more than there are.
    #[error("any {size} of {n} sites are no quorums: take {} to {n}", n / 2 + 1)]
    BadThreshold {
        /// How many sites there are.
        n: usize,
        /// How many of them were to be a quorum.
        size: usize,
    },
    /// A list of numbers in the name of a construction cannot be read.
    #[error(
        "expected numbers such as `1,2,3`, at most {most} of them and each at most {top}, \
         found `{0}`",
        most = Numbers::MAX,
        top = u16::MAX
    )]
    BadNumbers(String),
    /// The construction is one of another number of sites.
    #[error("`{kind}` is for {needs} sites, and the cluster has {n}")]
    OtherSize {
        /// The construction, as written.
        kind: String,
        /// How many sites it takes.
        needs: usize,
        /// How many there are.
        n: usize,
    },
    /// There is no projective plane of this order here.
    #[error("no projective plane of order {0} is known here: take {near}", near = planes_near(*.0))]
    NoPlane(usize),
    /// This row of a wall, counted from 1, has no site.
    #[error("row {0} of the wall has width 0: give it 1 or more, or leave it out")]
    EmptyRow(usize),
    /// A composition needs one group for each site of its outer system.
    #[error("{given} groups for an outer system of {needed}: give one for each")]
    OtherGroups {
        /// How many groups were given.
        given: usize,
        /// How many there must be.
        needed: usize,
    },
    /// Sites cannot be divided into so many groups, or groups of so many.
    #[error("{n} sites cannot be grouped by {groups}: take 1 to {n}")]
    BadGroups {
        /// How many sites there are.
        n: usize,
        /// What was asked for.
        groups: usize,
    },
    /// Something about the units of a pool, or the quorums for them.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// No site has a vote, so no set could win; give at least one site a vote.
    #[error("no site has a vote: give at least one site 1")]
    NoVotes,
    /// The votes add up to more than [`VOTES_MAX`]; divide them all by the same number.
    #[error("{0} votes are too many: all together may have {VOTES_MAX}")]
    TooManyVotes(u64),
    /// So few votes to write need not meet each other, or there are fewer.
    #[error("{write} of {total} votes cannot be what writes: take {least} to {total}")]
    BadWrite {
        /// The votes to write.
        write: usize,
        /// The fewest that meet.
        least: usize,
        /// All votes.
        total: usize,
    },
    /// So few votes to read need not meet those to write, or there are fewer.
    #[error(
        "{read} of {total} votes cannot be what reads if {write} write: take {least} to {total}"
    )]
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
    #[error("no site has a quorum: list at least one")]
    NoQuorum,
    /// This site's quorum has no member; leave the site out instead.
    #[error("the quorum of site {0} is empty: name its members, or leave it out")]
    EmptyQuorum(SiteId),
    /// A quorum names a site that the cluster does not have.
    #[error("there is no site {site}: the cluster has sites 1 to {n}")]
    UnknownSite {
        /// The site that is not there.
        site: SiteId,
        /// How many sites there are.
        n: usize,
    },
    /// Two quorums without a common site: their owners could hold the same lock at once.
    #[error("{} of site {} and {} of site {} do not meet", .one.1, .one.0, .other.1, .other.0)]
    DoNotMeet {
        /// One owner and its quorum.
        one: (SiteId, SiteSet),
        /// Another owner and its quorum.
        other: (SiteId, SiteSet),
    },
    /// A line of a quorum file that cannot be read.
    #[error("line {line}: {message}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong, and what was expected.
        message: String,
    },
    /// There must be one probability for each site.
    #[error("{given} probabilities for {n} sites: give one for each site")]
    UpLength {
        /// How many were given.
        given: usize,
        /// How many sites there are.
        n: usize,
    },
    /// A probability lies between 0 and 1.
    #[error("site {site} cannot be up with probability {up}: it lies in 0 to 1")]
    NotAProbability {
        /// Whose it is.
        site: SiteId,
        /// What was given.
        up: f64,
    },
    /// A question of the analysis that has no answer.
    #[cfg(feature = "analysis")]
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The exact answer would take too long; ask about a smaller system.
    #[error("{what} is computed only {limit}")]
    TooLarge {
        /// What was asked for.
        what: &'static str,
        /// How far the exact method goes.
        limit: String,
    },
}

/// The names of all kinds, with examples of those that take numbers.
fn known_kinds() -> String {
    let names: Vec<_> = Kind::all().iter().map(|kind| kind.name()).collect();
    format!("{}, wall:1,2,3, weighted:2,1,1, plane:4", names.join(", "))
}

/// The orders of the planes next to one that does not exist.
fn planes_near(order: usize) -> String {
    let below = (2..order.min(ORDER_MAX + 1)).rev().find(|order| is_prime_power(*order));
    let above = (order.max(1) + 1..=ORDER_MAX).find(|order| is_prime_power(*order));
    let near = below.into_iter().chain(above);
    let near: Vec<_> = near.map(|order| format!("{order} ({} sites)", points(order))).collect();
    near.join(" or ")
}
