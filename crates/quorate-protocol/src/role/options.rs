//! The switches of a role lock.

use std::time::Duration;

/// How a role lock behaves where the paper leaves a choice. All are off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Messages may overtake each other or come twice: an arbiter remembers every stage that is
    /// over. Sessions keep the order, and there the memory would refuse a stage that asks again
    /// after its session was lost.
    pub unordered: bool,
    /// A stage that no other group waits for lets latecomers in that stay longer than it would.
    pub extend: bool,
    /// No stage is planned for longer, unless a single request is; who does not fit waits for the
    /// next one.
    pub cap: Option<Duration>,
    /// How long a message takes between two sites, as far as one can tell; the paper's *tc*.
    pub tc: Duration,
    /// What becomes of a member that stays for longer than it said.
    pub overrun: Overrun,
    /// How much longer it may stay.
    pub grace: Duration,
}

/// What becomes of a member that stays for longer than it said. Safety does not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Overrun {
    /// Nothing: the others wait, and nobody new is admitted.
    #[default]
    Tolerate,
    /// Its caller is told to stop.
    Revoke,
}

impl Overrun {
    /// The choices, as they are spelt by people.
    pub const ALL: [(&'static str, Overrun); 2] =
        [("tolerate", Overrun::Tolerate), ("revoke", Overrun::Revoke)];
}

impl Options {
    /// The names of the switches, as options are spelt by people.
    pub const NAMES: [&'static str; 6] = ["unordered", "extend", "cap", "tc", "overrun", "grace"];
}
