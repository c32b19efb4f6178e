//! The timers of one lock's protocol.

use std::collections::BTreeMap;

use quorate_protocol::Tick;

/// The armed timers, and when each expires.
#[derive(Clone, Debug)]
pub(super) struct Timers<T>(BTreeMap<T, Tick>);

impl<T> Default for Timers<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Copy + Ord> Timers<T> {
    /// Arms a timer, or moves it if it is armed.
    pub(super) fn arm(&mut self, timer: T, when: Tick) {
        self.0.insert(timer, when);
    }

    pub(super) fn disarm(&mut self, timer: T) {
        self.0.remove(&timer);
    }

    /// When the next one expires.
    pub(super) fn next(&self) -> Option<Tick> {
        self.0.values().copied().min()
    }

    /// Takes one that has expired: the earliest, and among equals the first by name.
    pub(super) fn pop_expired(&mut self, now: Tick) -> Option<T> {
        let due = self.0.iter().filter(|(_, when)| **when <= now);
        let (&timer, _) = due.min_by_key(|&(timer, when)| (*when, *timer))?;
        self.0.remove(&timer);
        Some(timer)
    }
}
