//! What can be wrong with a question of the analysis.

use std::fmt;

use crate::{QuorumError, SiteId};

/// Why a question about loads or delays has no answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum AnalysisError {
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
}

impl std::error::Error for AnalysisError {}

impl From<AnalysisError> for QuorumError {
    fn from(error: AnalysisError) -> Self {
        Self::Analysis(error)
    }
}

impl fmt::Display for AnalysisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DelaysLength { given, n } => {
                write!(f, "{given} delays for {n} sites: give one for each site")
            }
            Self::NotAShare(share) => write!(f, "{share} is no share: it lies in 0 to 1"),
            Self::NotPositive { what, site, value } => {
                write!(f, "the {what} of site {site} cannot be {value}: give a positive number")
            }
            Self::LoadLimit { limit, least } => {
                write!(f, "no choice of quorums keeps the load at {limit}: the least is {least:.4}")
            }
        }
    }
}
