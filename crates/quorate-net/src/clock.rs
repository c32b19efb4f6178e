//! A clock that counts while the machine sleeps, and a timer by that clock.
//!
//! One unsafe call: the type system cannot show tokio that a file descriptor stays open while it
//! is watched. Here tokio owns the descriptor, and nothing else has it.

use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::task::{Poll, ready};

use quorate_session::Tick;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use tokio::io::unix::AsyncFd;

/// The time since the machine started, asleep or not.
pub fn now() -> Tick {
    let time = clock_gettime(ClockId::Boottime);
    let part = |value: i64| u64::try_from(value).expect("the machine started before now");
    Tick(part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec))
}

/// A timer by the clock of [`now`]. Tokio's timers stop while the machine sleeps.
#[derive(Debug)]
pub struct Alarm {
    fd: AsyncFd<OwnedFd>,
}

impl Alarm {
    /// An alarm that is not set.
    ///
    /// # Errors
    ///
    /// The system has no such timer, or no more of them.
    pub fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let fd = timerfd_create(TimerfdClockId::Boottime, flags)?;
        // SAFETY: an owned descriptor is open until it is dropped, and `AsyncFd` drops it last.
        #[allow(unsafe_code, reason = "the module explains it")]
        let fd = unsafe { AsyncFd::register(fd)? };
        Ok(Self { fd })
    }

    /// Sets it to `when`, which replaces the time before.
    ///
    /// # Errors
    ///
    /// The timer cannot be set.
    pub fn set(&mut self, when: Tick) -> io::Result<()> {
        let (seconds, nanos) = (when.0 / 1_000_000_000, when.0 % 1_000_000_000);
        let part = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        // Zero would unset it; a time that has passed rings at once.
        let it_value = Timespec { tv_sec: part(seconds), tv_nsec: part(nanos.max(1)) };
        let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
        let times = Itimerspec { it_interval, it_value };
        timerfd_settime(self.fd.get_ref(), TimerfdTimerFlags::ABSTIME, &times)?;
        Ok(())
    }

    /// Waits until it rings.
    ///
    /// # Errors
    ///
    /// The timer cannot be read.
    pub async fn ring(&mut self) -> io::Result<()> {
        poll_fn(|cx| {
            loop {
                let mut ready = ready!(self.fd.poll_read_ready_mut(cx))?;
                let rang = ready.try_io(|fd| {
                    let mut count = [0; 8];
                    rustix::io::read(fd.get_ref(), &mut count).map_err(io::Error::from)
                });
                match rang {
                    Ok(rang) => return Poll::Ready(rang.map(drop)),
                    Err(_would_block) => {}
                }
            }
        })
        .await
    }
}
