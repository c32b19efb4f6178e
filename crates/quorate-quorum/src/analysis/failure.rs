//! How often no quorum is live.

use super::sample::{Draws, sampled_failure};
use crate::{QuorumError, QuorumSystem};

/// Below this the exact probability of failing drowns in the rounding of the availability.
pub(super) const ROUNDING: f64 = 1e-13;

/// The probability that no quorum is live: exact, or between two numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure {
    /// Exactly this, up to rounding.
    Exact(f64),
    /// Below this number: too small to distinguish from rounding errors.
    Below(f64),
    /// Sampled: the interval covers the truth in 95 of 100 cases.
    Sampled {
        /// The lower end of the interval.
        low: f64,
        /// The share seen.
        seen: f64,
        /// The upper end of the interval.
        high: f64,
        /// How many samples were drawn.
        samples: u32,
    },
}

impl Failure {
    /// The number to sort and plot by.
    pub fn about(self) -> f64 {
        match self {
            Failure::Exact(fails) | Failure::Below(fails) => fails,
            Failure::Sampled { seen, .. } => seen,
        }
    }
}

/// The probability that no quorum is live when each site is up with its own probability in `up`:
/// exact where the construction has a way to it or there are up to 24 sites, sampled otherwise.
///
/// # Errors
///
/// `up` is not one probability for each site.
pub fn failure(system: &dyn QuorumSystem, up: &[f64]) -> Result<Failure, QuorumError> {
    match system.availability(up) {
        Ok(available) if 1.0 - available < ROUNDING && up.iter().all(|up| *up < 1.0) => {
            Ok(Failure::Below(ROUNDING))
        }
        Ok(available) => Ok(Failure::Exact(1.0 - available)),
        Err(QuorumError::TooLarge { .. }) => sampled_failure(system, up, Draws::usual(system)),
        Err(error) => Err(error),
    }
}
