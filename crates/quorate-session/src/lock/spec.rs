//! What is known of a kind of lock without its protocol.

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::time::Duration;

use super::{Granted, Kind, LockSpec, Role, Share};
use crate::claim::Denial;

/// What a caller wants of one kind of lock. Its `Display` says it to people.
pub(super) trait KindSpec: Display {
    /// The kind of lock.
    fn kind(&self) -> Kind;

    /// Whether anybody can ever have it; why not.
    fn check(&self) -> Result<(), Denial> {
        Ok(())
    }

    /// About how many bytes it takes.
    fn bytes(&self) -> usize;

    /// The part of the lock that a grant takes, which decides what it conflicts with.
    fn share(&self, granted: &Granted) -> Share;

    /// What is asked for, and what is granted if it is, for views.
    fn details<'a>(&'a self, granted: Option<&'a Granted>) -> Details<'a>;

    /// The same as the end of a sentence that says that somebody holds the lock.
    fn phrase(&self, _granted: Option<&Granted>) -> String {
        self.to_string()
    }

    /// The same in a column of a table.
    fn cell(&self, granted: Option<&Granted>) -> String {
        self.phrase(granted)
    }
}

/// The words for a kind of lock.
#[derive(Debug)]
pub(super) struct KindWords {
    /// Its name.
    pub(super) name: &'static str,
    /// The head of the column that [`LockSpec::cell`] fills, if there is one.
    pub(super) column: Option<&'static str>,
    /// What makes a request for several callers, if something does.
    pub(super) joint_request: Option<&'static str>,
}

/// What a caller asked for and has, in terms that all kinds of lock share. What a kind does not
/// have is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details<'a> {
    /// How many units of a pool it asked for.
    pub units: Option<u32>,
    /// Which of them it has, if it asked.
    pub numbers: Option<&'a BTreeSet<u32>>,
    /// The groups it asked for, any of which will do.
    pub groups: Option<Vec<&'a str>>,
    /// The group it has.
    pub group: Option<&'a str>,
    /// `read` or `write`, as it asked.
    pub access: Option<&'static str>,
    /// The role it has.
    pub role: Option<Role>,
    /// How long it said that it would stay.
    pub declared: Option<Duration>,
}

impl Kind {
    /// How many units there are, if it is a pool.
    pub fn units(&self) -> Option<u32> {
        if let Kind::Pool(units) = self { Some(*units) } else { None }
    }

    /// The head of the column that [`LockSpec::cell`] fills; `None` if there is nothing to show.
    pub fn column(&self) -> Option<&'static str> {
        self.words().column
    }

    /// What makes a request for several callers, a request whose claim has number 0; `None` if
    /// every request is a caller's.
    pub fn joint_request(&self) -> Option<&'static str> {
        self.words().joint_request
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words().name)?;
        if let Some(units) = self.units() { write!(f, " of {units}") } else { Ok(()) }
    }
}

impl LockSpec {
    /// The kind of lock that it asks for.
    pub fn kind(&self) -> Kind {
        self.of_kind().kind()
    }

    /// Checks its numbers and names.
    ///
    /// # Errors
    ///
    /// Why nobody can ever have it.
    pub fn check(&self) -> Result<(), Denial> {
        self.of_kind().check()
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.of_kind().bytes()
    }

    /// The part of the lock that a grant takes, which decides what it conflicts with.
    pub fn share(&self, granted: &Granted) -> Share {
        self.of_kind().share(granted)
    }

    /// What is asked for, and what is granted if it is, field by field.
    pub fn details<'a>(&'a self, granted: Option<&'a Granted>) -> Details<'a> {
        self.of_kind().details(granted)
    }

    /// The same in a few words, as in "it is held *with group v2*"; empty for a mutex.
    pub fn phrase(&self, granted: Option<&Granted>) -> String {
        self.of_kind().phrase(granted)
    }

    /// The same in a column of a table, under [`Kind::column`].
    pub fn cell(&self, granted: Option<&Granted>) -> String {
        self.of_kind().cell(granted)
    }
}

impl Display for LockSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.of_kind().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Access, Group, GroupSpec, PoolSpec, RoleSpec, Units};
    use super::*;

    #[test]
    fn what_a_caller_asked_for_and_got_is_put_into_words() {
        let units = Units { count: 2, of: 8 };
        let pool = LockSpec::Pool(PoolSpec { units, numbered: true });
        let group = LockSpec::Group(GroupSpec(["a", "b"].map(Group::new).into_iter().collect()));
        let groups = [(Group::new("a"), Role::Shared)].into();
        let role = LockSpec::Role(RoleSpec { groups, time: Duration::from_secs(9) });
        let write = LockSpec::Access(Access::Write);
        let waiting = [&LockSpec::Mutex, &pool, &group, &role, &write]
            .map(|spec| [spec.phrase(None), spec.cell(None), spec.kind().to_string()]);
        assert_eq!(waiting[0], ["", "", "mutex"]);
        assert_eq!(waiting[1], ["2 of 8", "2 of 8", "pool of 8"]);
        assert_eq!(waiting[2], ["with group a or b", "a or b", "group lock"]);
        assert_eq!(waiting[3], ["shared in a for 9s", "shared in a for 9s", "role lock"]);
        assert_eq!(waiting[4], ["to write", "write", "read-write lock"]);
        let numbers = Granted::Pool([3, 5].into());
        assert_eq!(pool.phrase(Some(&numbers)), "2 of 8: 3 5");
        assert_eq!(group.phrase(Some(&Granted::Group(Group::new("b")))), "with group b");
        let member = Granted::Role(Group::new("a"), Role::Shared);
        assert_eq!(role.phrase(Some(&member)), "as shared member of a");
        assert_eq!(role.cell(Some(&member)), "shared in a");
    }
}
