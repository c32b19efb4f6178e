//! Kinds of locks, and which grants of one lock conflict.
//!
//! Written from the promises in `docs/guarantees.md`, not with the product's own code: a judge
//! shares no rule with what it judges.

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A kind of lock. Each has one lock, of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Mutex,
    Pool,
    Numbered,
    Group,
    Token,
    Role,
    ReadWrite,
}

/// The units of a pool.
pub(crate) const UNITS: u32 = 4;

impl Kind {
    pub(crate) const ALL: [Kind; 7] = [
        Kind::Mutex,
        Kind::Pool,
        Kind::Numbered,
        Kind::Group,
        Kind::Token,
        Kind::Role,
        Kind::ReadWrite,
    ];

    /// Its name, which is also that of its lock.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Mutex => "mutex",
            Kind::Pool => "pool",
            Kind::Numbered => "numbered",
            Kind::Group => "group",
            Kind::Token => "token",
            Kind::Role => "role",
            Kind::ReadWrite => "read-write",
        }
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = Kind::ALL.map(Kind::name).join(", ");
        let found = Kind::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| format!("there is no kind `{text}`; take some of {all}"))
    }
}

/// What a grant gives to its holder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Share {
    /// A mutex.
    Alone,
    /// So many units of a pool; their numbers, if it is a numbered one.
    Units { count: u32, of: u32, numbers: BTreeSet<u32> },
    /// This group of a group lock.
    Group(String),
    /// Membership of a group of a role lock.
    Member { group: String, exclusive: bool },
    /// Reading.
    Read,
    /// Writing.
    Write,
}

impl Share {
    /// Whether two holders of one lock must not have these at the same time.
    pub(crate) fn conflicts(&self, other: &Share) -> bool {
        match (self, other) {
            (Share::Read, Share::Read) => false,
            (Share::Group(one), Share::Group(two)) => one != two,
            (
                Share::Member { group: one, exclusive: first },
                Share::Member { group: two, exclusive: second },
            ) => one != two || (*first && *second),
            (
                Share::Units { count: one, of, numbers: first },
                Share::Units { count: two, numbers: second, .. },
            ) => one + two > *of || !first.is_disjoint(second),
            _ => true,
        }
    }

    /// The units it takes of a pool, and how many there are.
    pub(crate) fn units(&self) -> Option<(u32, u32)> {
        if let Share::Units { count, of, .. } = self { Some((*count, *of)) } else { None }
    }

    /// The places of the storage that it protects: fences are checked for each by itself.
    pub(crate) fn places(&self, name: &str) -> Vec<String> {
        match self {
            Share::Units { numbers, .. } => {
                numbers.iter().map(|number| format!("{name}/{number}")).collect()
            }
            Share::Member { exclusive: true, .. } => vec![format!("{name}/exclusive")],
            Share::Member { .. } => vec![format!("{name}/shared")],
            _ => vec![name.to_owned()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(group: &str, exclusive: bool) -> Share {
        Share::Member { group: group.into(), exclusive }
    }

    fn units(count: u32, numbers: &[u32]) -> Share {
        Share::Units { count, of: 4, numbers: numbers.iter().copied().collect() }
    }

    #[test]
    fn conflicts_are_those_of_the_guarantees() {
        assert!(Share::Alone.conflicts(&Share::Alone));
        assert!(!Share::Read.conflicts(&Share::Read));
        assert!(Share::Read.conflicts(&Share::Write));
        assert!(Share::Write.conflicts(&Share::Write));
        assert!(Share::Group("a".into()).conflicts(&Share::Group("b".into())));
        assert!(!Share::Group("a".into()).conflicts(&Share::Group("a".into())));
        assert!(!member("a", true).conflicts(&member("a", false)));
        assert!(member("a", true).conflicts(&member("a", true)));
        assert!(member("a", false).conflicts(&member("b", false)));
        assert!(!units(2, &[]).conflicts(&units(2, &[])));
        assert!(units(3, &[]).conflicts(&units(2, &[])));
        assert!(units(1, &[1]).conflicts(&units(1, &[1])));
    }

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        for kind in Kind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert!("semaphore".parse::<Kind>().unwrap_err().contains("mutex, pool"));
    }
}
