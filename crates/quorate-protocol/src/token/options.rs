//! The switches of a token lock.

use std::time::Duration;

/// How long a token lock waits, and what it does then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// T1: how long a request waits before its site suspects that the token is lost. It should
    /// not be less than `2 t_m + (min(n, m) + 1)(3 t_m + 2 t_c)`, for n sites, m groups, messages
    /// that take `t_m` and callers that stay for `t_c` (E19).
    pub t1: Duration,
    /// T2: how long a captain waits before it asks its followers whether they are still inside;
    /// also for how long a request that was sent again waits for an answer.
    pub t2: Duration,
    /// Whether a request is sent again, to all, before a new token is made.
    pub resend: bool,
    /// How long voters vouch for a token, if they do. Without, only fences tell tokens apart.
    pub lease: Option<Duration>,
    /// How often the wait for T1 is doubled.
    pub back_off: u32,
    /// By how much the rates of clocks may differ, in parts per thousand: a holder counts on so
    /// much less of a lease.
    pub drift_permille: u16,
    /// How often an idle holder has its lease renewed before it lets the token go. Then whoever
    /// wants it and vouches for none makes another at once, and no site has one from the start.
    /// `None` if a token is kept for ever; then the first site has it at the beginning.
    pub idle: Option<u32>,
}

impl Options {
    /// The names of the switches, as options are spelt by people.
    pub const NAMES: [&'static str; 4] = ["t1", "t2", "resend", "lease"];

    /// How long to wait for T1 after so many attempts: longer each time, and at no two sites
    /// equally long, so that they do not spoil each other's attempts for ever.
    pub(super) fn patience(&self, place: usize, tries: u32) -> Duration {
        let spread = u32::try_from(place % 8).expect("less than 8") + tries % 3;
        self.t1 * (1 << tries.min(self.back_off)) + self.t1 * spread / 8
    }

    /// The part of a voter's lease that its holder counts on. A lease longer than our own is not
    /// counted on to its end: after a restart we keep quiet only for as long as ours.
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
