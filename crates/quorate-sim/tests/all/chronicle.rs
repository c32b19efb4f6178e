//! A run, written down.

use std::fmt::Write as _;

use quorate_protocol::Tick;
use quorate_sim::Event;
use quorate_sim::random::TimedObserver;

/// Writes down everything that happens.
#[derive(Default)]
pub(crate) struct Chronicle(pub(crate) String);

impl TimedObserver for Chronicle {
    fn see(&mut self, now: Tick, depth: usize, event: &Event<'_>) {
        writeln!(self.0, "{} {depth} {event}", now.0).expect("a string takes everything");
    }
}
