//! The options of a role lock.

use std::time::Duration;

/// How a role lock behaves where the paper leaves a choice. All options are off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Messages may be reordered or duplicated: an arbiter remembers every stage that is over.
    /// Sessions keep the order; with them it only costs memory.
    pub unordered: bool,
    /// A stage that no other group waits for is extended for latecomers that stay longer.
    pub extend: bool,
    /// The longest planned stage, unless a single request takes longer. Requests that do not fit
    /// wait for the next stage.
    pub cap: Option<Duration>,
    /// The estimated one-way delay between two sites; the paper's *tc*.
    pub tc: Duration,
    /// What happens to a member that exceeds its declared time.
    pub overrun: Overrun,
    /// By how much a member may exceed its declared time.
    pub grace: Duration,
    /// A stage that has been in the critical section for so long asks every site it reaches for a
    /// spare lock; `None`: never. Not in the paper; a site derives it from the lease.
    pub spares: Option<Duration>,
}

/// What happens to a member that exceeds its declared time. Safety does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overrun {
    /// Nothing: others wait, and no new member is admitted.
    #[default]
    Tolerate,
    /// Its caller is told to stop.
    Revoke,
}

impl Overrun {
    /// All choices, with the names users write.
    pub const ALL: [(&'static str, Overrun); 2] =
        [("tolerate", Overrun::Tolerate), ("revoke", Overrun::Revoke)];
}

impl Options {
    /// The names of the options as users write them.
    pub const NAMES: [&'static str; 7] =
        ["unordered", "extend", "cap", "tc", "overrun", "grace", "spares"];
}
