//! Nothing is left over: when nobody is inside or waits and nothing is under way, every arbiter
//! is free and every queue is empty.
//!
//! A lost permission shows here at once, and not only when the next claim waits for ever.

use super::WorldCounts;

pub(super) const NAME: &str = "vacancy";

pub(super) fn monitor(counts: &WorldCounts) -> Result<(), String> {
    match counts {
        WorldCounts {
            in_flight: 0,
            armed: 0,
            inside: 0,
            waiting: 0,
            occupied: occupied @ 1..,
            ..
        } => Err(format!("all is quiet, but {occupied} sites still remember a request")),
        _ => Ok(()),
    }
}
