//! A run, written down.

use std::fmt::Write as _;

use quorate_protocol::Tick;
use quorate_sim::random::TimedObserver;
use quorate_sim::{Event, Subject};

/// Writes down everything that happens.
#[derive(Default)]
pub(crate) struct Chronicle(pub(crate) String);

impl<P: Subject> TimedObserver<P> for Chronicle {
    fn see(&mut self, now: Tick, depth: usize, event: &Event<'_, P>) {
        writeln!(self.0, "{} {depth} {event}", now.0).expect("a string takes everything");
    }
}
