//! How long a lease lasts, by two clocks that do not run at the same rate.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::SiteError;
use crate::Tick;

/// The length D of a lease.
///
/// ```
/// use std::time::Duration;
/// use quorate_session::session::Lease;
/// assert_eq!(Lease::default().length(), Duration::from_secs(3));
/// assert!(Lease::new(Duration::from_millis(199)).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Duration", into = "Duration")]
pub struct Lease(Duration);

impl Lease {
    /// The shortest lease.
    pub const MIN: Duration = Duration::from_millis(200);
    /// The longest lease.
    pub const MAX: Duration = Duration::from_mins(1);

    /// A lease of this length.
    ///
    /// # Errors
    ///
    /// [`SiteError::LeaseOutOfRange`] if it is shorter than [`Lease::MIN`] or longer than
    /// [`Lease::MAX`].
    pub fn new(length: Duration) -> Result<Self, SiteError> {
        let fits = (Self::MIN..=Self::MAX).contains(&length);
        if fits { Ok(Self(length)) } else { Err(SiteError::LeaseOutOfRange(length)) }
    }

    /// Its length D, by the server's clock.
    pub fn length(self) -> Duration {
        self.0
    }

    /// How often the client renews it: every D/3.
    pub fn renew_interval(self) -> Duration {
        self.0 / 3
    }

    /// How old the last acknowledged renewal may be before the server counts as silent: D/2.
    pub fn silence_timeout(self) -> Duration {
        self.0 / 2
    }

    /// A deadline that moved by this much is sent to callers at once: D/6.
    pub fn sixth(self) -> Duration {
        self.0 / 6
    }

    /// A deadline that moved by this much is sent to delegates at once: D/24. Two more hops follow,
    /// and it must not be old when it arrives.
    pub fn twenty_fourth(self) -> Duration {
        self.0 / 24
    }
}

impl TryFrom<Duration> for Lease {
    type Error = SiteError;

    fn try_from(length: Duration) -> Result<Self, SiteError> {
        Self::new(length)
    }
}

impl From<Lease> for Duration {
    fn from(lease: Lease) -> Duration {
        lease.0
    }
}

impl Default for Lease {
    fn default() -> Self {
        Self(Duration::from_secs(3))
    }
}

/// By how much the rates of two clocks may differ, in parts per thousand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Drift(u16);

impl Drift {
    /// The largest allowance: with more, a lease would end before silence is noticed.
    pub const MAX: u16 = 400;

    /// An allowance of `parts` per thousand.
    ///
    /// # Errors
    ///
    /// [`SiteError::DriftOutOfRange`] if it is more than [`Drift::MAX`].
    pub fn new(parts: u16) -> Result<Self, SiteError> {
        if parts <= Self::MAX { Ok(Self(parts)) } else { Err(SiteError::DriftOutOfRange(parts)) }
    }

    /// The allowance, in parts per thousand.
    pub fn parts(self) -> u16 {
        self.0
    }

    /// `time` (1 - drift), rounded down: at most `time` by any clock within the allowance.
    pub fn shorten(self, time: Duration) -> Duration {
        from_nanos(time.as_nanos() * u128::from(1000 - self.0) / 1000)
    }

    /// `time` (1 + drift), rounded up: at least `time` by any clock within the allowance.
    pub fn lengthen(self, time: Duration) -> Duration {
        from_nanos((time.as_nanos() * u128::from(1000 + self.0)).div_ceil(1000))
    }
}

impl Default for Drift {
    /// One per cent.
    fn default() -> Self {
        Self(10)
    }
}

fn from_nanos(nanos: u128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// The time from `earlier` to `later`; zero if `earlier` is the later one.
pub fn between(earlier: Tick, later: Tick) -> Duration {
    Duration::from_nanos(later.0.saturating_sub(earlier.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_lasts_from_a_fifth_of_a_second_to_a_minute() {
        for (length, fits) in [(199, false), (200, true), (60_000, true), (60_001, false)] {
            let length = Duration::from_millis(length);
            let wrong = SiteError::LeaseOutOfRange(length);
            assert_eq!(Lease::new(length).err(), (!fits).then_some(wrong));
        }
        assert_eq!(Drift::new(401), Err(SiteError::DriftOutOfRange(401)));
    }

    #[test]
    fn the_client_rounds_down_and_the_quarantine_up() {
        let drift = Drift::new(10).unwrap();
        assert_eq!(drift.shorten(Duration::from_nanos(101)), Duration::from_nanos(99));
        assert_eq!(drift.lengthen(Duration::from_nanos(101)), Duration::from_nanos(103));
        assert_eq!(drift.shorten(Duration::from_secs(3)), Duration::from_millis(2970));
    }
}
