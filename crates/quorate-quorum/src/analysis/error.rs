//! Errors of questions of the analysis.

use crate::SiteId;

/// Why a question about loads or delays has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// There must be one delay for each site.
    #[error("{given} delays for {n} sites: give one for each site")]
    DelaysLength {
        /// How many were given.
        given: usize,
        /// How many sites there are.
        n: usize,
    },
    /// A share of the accesses lies between 0 and 1.
    #[error("{0} is no share: it lies in 0 to 1")]
    NotAShare(f64),
    /// A speed is positive, a delay at least not negative.
    #[error("the {what} of site {site} cannot be {value}: give a positive number")]
    NotPositive {
        /// What was given: a speed or a delay.
        what: &'static str,
        /// Whose it is.
        site: SiteId,
        /// What was given.
        value: f64,
    },
    /// No strategy keeps the load below this; the least load can be reached.
    #[error("no choice of quorums keeps the load at {limit}: the least is {least:.4}")]
    LoadLimit {
        /// The load asked for.
        limit: f64,
        /// The least there is.
        least: f64,
    },
}
