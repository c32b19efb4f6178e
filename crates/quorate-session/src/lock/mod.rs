//! The vocabulary of locks: names, kinds, what callers want and what they get.
//!
//! One file per kind says what is known of it without its protocol (a [`KindSpec`]). This file
//! lists the kinds.

mod group;
mod groups;
mod mutex;
mod name;
mod pool;
mod read_write;
mod role;
mod share;
mod spec;
mod stamp;
mod token;
mod why;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use self::group::GroupSpec;
pub use self::groups::{Group, Groups};
pub use self::name::Name;
pub use self::pool::{PoolSpec, Units};
pub use self::read_write::Access;
pub use self::role::{Role, RoleSpec};
pub use self::share::Share;
pub use self::spec::Details;
pub use self::stamp::{Epoch, Stamp};
pub use self::token::TokenSpec;
pub use self::why::Why;

use self::spec::{KindSpec, KindWords};

/// The kind of a lock, with its parameters. Exclusion is promised for each name and kind: a name is
/// in use for one kind at a time. The order of the variants is part of the wire format.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// One holder at a time.
    Mutex,
    /// This many units, held by many at a time.
    Pool(u32),
    /// Many holders at a time, all of one group.
    Group,
    /// Many readers at a time, or one writer.
    ReadWrite,
    /// Members of one group at a time, of which one may be exclusive.
    Role,
    /// Many holders at a time, all of one group; a token goes round.
    Token,
}

/// What a caller wants of a lock. The order of the variants is part of the wire format.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LockSpec {
    /// A mutex.
    Mutex,
    /// Units of a pool.
    Pool(PoolSpec),
    /// A group lock, with any one of some groups.
    Group(GroupSpec),
    /// A read-write lock.
    Access(Access),
    /// Membership in any one of some groups of a role lock.
    Role(RoleSpec),
    /// A group lock by token, with any one of some groups.
    Token(TokenSpec),
}

/// What a holder has besides its fence. The order of the variants is part of the wire format.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Granted {
    /// A mutex.
    Mutex,
    /// These units of a pool, if it asked which.
    Pool(BTreeSet<u32>),
    /// This group of a group lock, by token or not. The group of a writer is its own, and its name
    /// means nothing.
    Group(Group),
    /// This role in this group.
    Role(Group, Role),
}

impl Granted {
    /// The most bytes it takes in a message.
    pub fn bytes(&self) -> usize {
        match self {
            Granted::Mutex => 8,
            Granted::Pool(numbers) => 8 + 5 * numbers.len(),
            Granted::Group(group) | Granted::Role(group, _) => 8 + group.name().len(),
        }
    }
}

impl Kind {
    fn words(&self) -> &'static KindWords {
        match self {
            Kind::Mutex => &mutex::WORDS,
            Kind::Pool(_) => &pool::WORDS,
            Kind::Group => &group::WORDS,
            Kind::ReadWrite => &read_write::WORDS,
            Kind::Role => &role::WORDS,
            Kind::Token => &token::WORDS,
        }
    }
}

impl LockSpec {
    fn of_kind(&self) -> &dyn KindSpec {
        match self {
            LockSpec::Mutex => &mutex::MutexSpec,
            LockSpec::Pool(spec) => spec,
            LockSpec::Group(spec) => spec,
            LockSpec::Access(access) => access,
            LockSpec::Role(spec) => spec,
            LockSpec::Token(spec) => spec,
        }
    }
}
