//! Identifiers, each a type of its own.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

/// A claim: its ordinal among the claims on its resource at its site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClaimId(pub u32);

/// A session of one site at another: its ordinal since the client's start.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct SessionNo(pub u64);

impl SessionNo {
    /// The number of the session that follows.
    pub fn next(self) -> Self {
        Self(self.0.checked_add(1).expect("a client opens fewer than 2^64 sessions"))
    }
}

/// Identity and priority of a request. The lower ticket goes first.
///
/// Never reused, and carried by every message about the request. Shown as `time.site`, which is
/// unique: a site never makes two tickets at one Lamport time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Ticket {
    /// Lamport time at which the request was made.
    pub time: u64,
    /// The site that made it.
    pub site: SiteId,
    /// The claim it serves.
    pub claim: ClaimId,
}

impl fmt::Display for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.time, self.site)
    }
}

/// A fencing token: a number that grows along conflicting grants of one resource.
///
/// The protected storage can refuse a write with a lower fence than the highest it has seen.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Fence(pub u64);

impl Fence {
    /// The fence of the next conflicting grant.
    pub fn next(self) -> Self {
        self.plus(1)
    }

    /// The fence after this many grants.
    pub fn plus(self, grants: u64) -> Self {
        Self(self.0.checked_add(grants).expect("2^64 grants outlast any cluster"))
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A reading of the driver's clock, in nanoseconds since an origin of its own.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Tick(pub u64);

impl Tick {
    /// The origin.
    pub const ZERO: Tick = Tick(0);

    /// The time from `earlier` to this; zero if `earlier` is later.
    pub fn since(self, earlier: Tick) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Tick {
    type Output = Tick;

    fn add(self, time: Duration) -> Tick {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Tick(self.0.saturating_add(ns))
    }
}
