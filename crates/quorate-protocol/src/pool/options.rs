//! The switches of a pool.

use std::time::Duration;

/// How a pool behaves where the paper leaves a choice; by default all are off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Messages may overtake each other or arrive twice, so an arbiter remembers every request that
    /// is over. Must be off with sessions: they keep the order, and a request that asks again after
    /// its session was lost would be refused.
    pub unordered: bool,
    /// A request that fits may overtake one that does not, if both are in the prefix. If off, units
    /// that come back are kept for the first in the queue.
    pub bypass: bool,
    /// A request that has been inside for so long asks every site it reaches for a spare
    /// permission; `None`: never. Not in the paper; a site derives it from the lease.
    pub spares: Option<Duration>,
}

impl Options {
    /// The names of the options: two switches, and a time.
    pub const NAMES: [&'static str; 3] = ["unordered", "bypass", "spares"];

    /// Turns the switch called `name` on or off; false if there is no such switch.
    pub fn set(&mut self, name: &str, on: bool) -> bool {
        let switch = match name {
            "unordered" => &mut self.unordered,
            "bypass" => &mut self.bypass,
            _ => return false,
        };
        *switch = on;
        true
    }
}
