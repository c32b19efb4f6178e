//! The switches of a token lock.

use std::time::Duration;

/// How long a token lock waits, and what it does then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// T1: how long a request waits before its site suspects that the token is lost. It should
    /// not be less than `2 t_m + (min(n, m) + 1)(3 t_m + 2 t_c)`, for n sites, m groups, messages
    /// that take `t_m` and callers that stay for `t_c` (E19).
    pub t1: Duration,
    /// T2: how often a captain asks its followers whether they are still inside; also how long a
    /// request that was sent again waits for an answer.
    pub t2: Duration,
    /// Whether a request is sent again, to all, before its site prepares an epoch.
    pub resend: bool,
    /// The length of a lease. Without leases only fences tell an old token from a new one.
    pub lease: Option<Duration>,
    /// How many times T1 is doubled at most.
    pub back_off: u32,
    /// By how much clock rates may differ, in parts per thousand: a holder counts on that much less
    /// of a lease.
    pub drift_permille: u16,
    /// How many times an idle holder renews its lease before it drops the token. No site then holds
    /// a token at the start, and a requester without a running voter lease makes one at once. With
    /// `None` an idle token is kept for ever, and the first site holds it at the start.
    pub idle: Option<u32>,
}

impl Options {
    /// The names of the switches in scripts and on the command line.
    pub const NAMES: [&'static str; 4] = ["t1", "t2", "resend", "lease"];

    /// The length of T1 after so many expiries. It grows, and differs between sites so that they do
    /// not fail each other's attempts for ever.
    pub(super) fn timeout(&self, place: usize, t1_expiries: u32) -> Duration {
        let spread = u32::try_from(place % 8).expect("less than 8") + t1_expiries % 3;
        self.t1 * (1 << t1_expiries.min(self.back_off)) + self.t1 * spread / 8
    }

    /// How much of a voter's lease a holder counts on: never more than the length of its own,
    /// because its quarantine after a restart is no longer than that.
    pub(super) fn counted(&self, lease: Duration) -> Duration {
        let lease = self.lease.map_or(lease, |own| lease.min(own));
        lease * (1000 - u32::from(self.drift_permille)) / 1000
    }
}

impl Default for Options {
    fn default() -> Self {
        let (t1, t2) = (Duration::from_millis(100), Duration::from_millis(20));
        let (lease, idle) = (None, None);
        Self { t1, t2, resend: false, lease, back_off: 4, drift_permille: 10, idle }
    }
}
