//! The options of a group lock.

use std::time::Duration;

/// How a group lock behaves where the paper leaves a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// Which of its groups a pivot takes.
    pub choice: Choice,
    /// How long a waiting request may be overtaken: once a request has waited this long at a
    /// manager, weaker requests do not join an occupancy there that it could not join. Without a
    /// limit, compatible requests join until the pivot leaves.
    pub limit: Option<Duration>,
    /// A pivot that has been inside for so long asks every site it reaches for a spare vote;
    /// `None`: never. Not in the paper; a site derives it from the lease.
    pub spares: Option<Duration>,
}

/// Which of its groups a pivot takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Choice {
    /// Any: the first by name.
    #[default]
    Arbitrary,
    /// The one that most waiting requests could join, as far as the votes report them.
    MostWaiting,
}

impl Options {
    /// The names of the options as users write them.
    pub const NAMES: [&'static str; 3] = ["choice", "limit", "spares"];
}

impl Choice {
    /// All choices, with the names users write.
    pub const ALL: [(&'static str, Choice); 2] =
        [("arbitrary", Choice::Arbitrary), ("most-waiting", Choice::MostWaiting)];
}
