//! The switches of a group lock.

use std::time::Duration;

/// How a group lock behaves where the paper leaves a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Which of its groups a pivot takes.
    pub choice: Choice,
    /// How long a request may be overtaken: once one has waited for so long at a manager, weaker
    /// ones do not join a session there that it could not join. Without a limit it waits until the
    /// pivot leaves, however many join meanwhile.
    pub limit: Option<Duration>,
}

/// Which of its groups a pivot takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Any: the first by name.
    #[default]
    Arbitrary,
    /// The one most of those who wait could join, as far as its managers told it with their votes.
    MostWaiting,
}

impl Options {
    /// The names of the switches, as options are spelt by people.
    pub const NAMES: [&'static str; 2] = ["choice", "limit"];
}

impl Choice {
    /// The choices, as they are spelt by people.
    pub const ALL: [(&'static str, Choice); 2] =
        [("arbitrary", Choice::Arbitrary), ("most-waiting", Choice::MostWaiting)];
}
