//! Concurrency inside, and waiting times.

use std::collections::BTreeMap;

use quorate_protocol::{ClaimId, SiteId, Tick};
use quorate_sim::random::TimedObserver;
use quorate_sim::{Caller, Event};

use super::{in_t, share};

/// Measures concurrency and waiting times over several runs.
#[derive(Debug, Default)]
pub(in crate::experiment) struct ConcurrencyMeter {
    inside: u64,
    since: Tick,
    /// Time with at least one holder inside, and the sum of the times of all holders.
    busy: u64,
    filled: u64,
    entries: u64,
    /// Entries while another holder was inside.
    joined: u64,
    asked: BTreeMap<(SiteId, ClaimId), Tick>,
    /// From claim to entry, in ticks, in the order of entries.
    pub(in crate::experiment) waits: Vec<u64>,
}

impl ConcurrencyMeter {
    /// The mean number of holders inside, while there is any.
    pub(in crate::experiment) fn concurrency(&self) -> f64 {
        share(self.filled, self.busy)
    }

    /// The share of entries while another holder was inside.
    pub(in crate::experiment) fn joined(&self) -> f64 {
        share(self.joined, self.entries)
    }

    /// How often a caller entered while no holder was inside.
    pub(in crate::experiment) fn occupancies(&self) -> u64 {
        self.entries - self.joined
    }

    /// The mean time from claim to entry, in T.
    pub(in crate::experiment) fn wait(&self) -> f64 {
        in_t(self.waits.iter().sum()) / self.waits.len().max(1) as f64
    }

    /// The longest time from claim to entry, in ticks.
    pub(in crate::experiment) fn longest_wait(&self) -> u64 {
        self.waits.iter().copied().max().unwrap_or(0)
    }

    /// The run is over, and the next one begins at the first tick again.
    pub(in crate::experiment) fn rest(&mut self) {
        self.since = Tick::ZERO;
    }

    fn advance_to(&mut self, now: Tick) {
        let ticks = now.0.saturating_sub(self.since.0);
        self.busy += if self.inside > 0 { ticks } else { 0 };
        self.filled += self.inside * ticks;
        self.since = now;
    }

    fn enter(&mut self, now: Tick, who: (SiteId, ClaimId)) {
        self.advance_to(now);
        self.entries += 1;
        self.joined += u64::from(self.inside > 0);
        self.inside += 1;
        let asked = self.asked.remove(&who).unwrap_or(now);
        self.waits.push(now.0 - asked.0);
    }
}

impl TimedObserver for ConcurrencyMeter {
    fn see(&mut self, now: Tick, _: usize, event: &Event<'_>) {
        match *event {
            Event::Acquires(Caller { site, claim, .. }) => {
                self.asked.insert((site, claim), now);
            }
            Event::Enters(Caller { site, claim, .. }, _) => self.enter(now, (site, claim)),
            Event::Releases(..) => {
                self.advance_to(now);
                self.inside -= 1;
            }
            _ => {}
        }
    }
}
