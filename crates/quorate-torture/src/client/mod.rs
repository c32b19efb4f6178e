//! Programs that use locks, and say what they believe.

pub(crate) mod claims;
pub(crate) mod command;
pub(crate) mod storage;
pub(crate) mod thin;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::clock::{Clock, Time};
use crate::history::{self, Event, What};

/// The voice of a client process: it prints events, each with the true time.
#[derive(Debug)]
pub(crate) struct Voice {
    who: String,
    clock: Clock,
    next: AtomicU64,
}

impl Voice {
    pub(crate) fn new(who: String, clock: Clock) -> Self {
        Self { who, clock, next: AtomicU64::new(0) }
    }

    /// A number for a claim.
    pub(crate) fn next_id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Says that something happened at `at`.
    pub(crate) fn say_at(&self, at: Time, what: What) {
        println!("{}", history::line(&Event { at, who: self.who.clone(), what }));
    }

    /// Says that something happens now.
    pub(crate) fn say(&self, what: What) {
        self.say_at(self.now(), what);
    }
}
