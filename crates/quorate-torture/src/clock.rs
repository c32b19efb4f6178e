//! True time: one clock for all processes, though no two of their own clocks agree.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A time in nanoseconds since the machine started, by the torturer's clock.
pub(crate) type Time = u64;

/// The clock of a process. Its time namespace adds a known offset to the clock of the machine, so
/// subtracting the offset gives the time of all others, exactly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    offset: Duration,
}

impl Clock {
    /// The clock of a process whose time namespace adds `offset`.
    pub(crate) fn with_offset(offset: Duration) -> Self {
        Self { offset }
    }

    /// The clock of the torturer.
    pub(crate) fn of_machine() -> Self {
        Self::with_offset(Duration::ZERO)
    }

    /// The true time.
    pub(crate) fn now(self) -> Time {
        nanos(own_time().saturating_sub(self.offset))
    }
}

/// The time that this process sees.
pub(crate) fn own_time() -> Duration {
    let time = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// A duration in nanoseconds.
pub(crate) fn nanos(time: Duration) -> Time {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
