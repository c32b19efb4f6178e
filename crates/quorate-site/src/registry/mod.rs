//! The kinds of lock there are. This is the one place where the site layer knows protocols by name.
//!
//! A new kind adds an arm to each enum here, says in `language` how its protocol speaks, and
//! whether that takes one claim at a time (then it stands behind a `Front`) or each caller as a
//! claim of its own (a `Crowd`), and is done.

mod language;
#[cfg(feature = "mutations")]
mod mutations;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::group::{self, Access, Group, GroupLock, Groups};
use quorate_protocol::mutex::{self, Mutex};
use quorate_protocol::pool::{self, Pool, Units};
use quorate_protocol::role::{self, Role, RoleLock};
use quorate_protocol::token::{self, Durable, TokenLock};
use quorate_protocol::{ClaimId, Tick, Ticket};
use quorate_quorum::{Arbiters, SiteId};
use serde::{Deserialize, Serialize};

use crate::claim::Denial;
use crate::resource::{Crowd, Front, Part, Party};
use crate::session::Terms;
use crate::{Config, Name};

pub(crate) use self::language::{Granted, Registered, Spoken, Wanted};
#[cfg(feature = "mutations")]
pub use self::mutations::Mutation;

/// What kind of lock a resource is, with its parameters. Exclusion is promised for each name and
/// kind: one name is one kind at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// One holder at a time.
    Mutex,
    /// So many units, lent to many holders at a time.
    Pool(u32),
    /// Many holders at a time, if they are of one group.
    Group,
    /// Many readers at a time, or one writer.
    ReadWrite,
    /// Members of one group at a time, of which one may be exclusive.
    Role,
    /// Many holders at a time, if they are of one group; a token goes round.
    Token,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Mutex => f.write_str("mutex"),
            Kind::Pool(units) => write!(f, "pool of {units}"),
            Kind::Group => f.write_str("group lock"),
            Kind::ReadWrite => f.write_str("read-write lock"),
            Kind::Role => f.write_str("role lock"),
            Kind::Token => f.write_str("group lock by token"),
        }
    }
}

/// What a caller wants of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Want {
    /// The lock.
    Mutex,
    /// Units of a pool.
    Pool {
        /// How many, of how many.
        units: Units,
        /// Whether the caller must know which ones.
        numbered: bool,
    },
    /// To be inside with any one of these groups.
    Group(Groups),
    /// To read together with others, or to write alone.
    Access(Access),
    /// To be a member of any one of these groups.
    Role {
        /// The groups, and the role in each.
        groups: BTreeMap<Group, Role>,
        /// For how long, as far as the caller can tell.
        time: Duration,
    },
    /// To be inside with any one of these groups, of a lock whose token goes round.
    Token(Groups),
}

impl Want {
    /// The kind of lock it can be had of.
    pub fn kind(&self) -> Kind {
        match self {
            Want::Mutex => Kind::Mutex,
            Want::Pool { units, .. } => Kind::Pool(units.of),
            Want::Group(_) => Kind::Group,
            Want::Access(_) => Kind::ReadWrite,
            Want::Role { .. } => Kind::Role,
            Want::Token(_) => Kind::Token,
        }
    }

    /// Whether it can be had of anything; why not.
    pub(crate) fn check(&self) -> Result<(), Denial> {
        match self {
            Want::Mutex | Want::Access(_) => Ok(()),
            Want::Group(groups) | Want::Token(groups) => check_groups(groups.iter()),
            Want::Role { time, .. } if *time > TIME_MAX => Err(Denial::Time(*time)),
            Want::Role { groups, .. } => check_groups(groups.keys()),
            Want::Pool { units, .. } if units.is_valid() && units.of <= UNITS_MAX => Ok(()),
            Want::Pool { units, .. } => Err(Denial::Units(*units)),
        }
    }
}

impl fmt::Display for Want {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Want::Mutex => f.write_str("the lock"),
            Want::Pool { units, .. } => units.fmt(f),
            Want::Group(groups) | Want::Token(groups) => {
                let names: Vec<&str> = groups.iter().map(Group::name).collect();
                write!(f, "group {}", names.join(" or "))
            }
            Want::Access(access) => access.fmt(f),
            Want::Role { groups, time } => {
                let all: Vec<String> =
                    groups.iter().map(|(group, role)| format!("{role} in {group}")).collect();
                write!(f, "{} for {time:?}", all.join(" or "))
            }
        }
    }
}

/// Whether anybody can be inside with one of these groups; why not.
fn check_groups<'a>(groups: impl Iterator<Item = &'a Group>) -> Result<(), Denial> {
    let groups: Vec<&Group> = groups.collect();
    let problem = if groups.is_empty() {
        "there is none".to_owned()
    } else if groups.len() > GROUPS_MAX {
        format!("there are more than {GROUPS_MAX}")
    } else if let Some(Err(why)) =
        groups.iter().map(|group| group.name().parse::<Name>()).find(Result::is_err)
    {
        format!("of one, {why}")
    } else {
        return Ok(());
    };
    Err(Denial::Groups(problem.into()))
}

/// The most groups that a caller may name.
pub const GROUPS_MAX: usize = 32;

/// The longest time that a caller may declare: a year.
pub const TIME_MAX: Duration = Duration::from_hours(365 * 24);

/// The most units a pool may have.
pub const UNITS_MAX: u32 = 1 << 16;

/// What a holder has besides its fence.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Got {
    /// The lock.
    Mutex,
    /// These units of a pool, if it asked which.
    Pool(BTreeSet<u32>),
    /// This group. A writer is one by itself, whose name means nothing.
    Group(Group),
    /// This role in this group.
    Role(Group, Role),
}

/// What the protocols of two sites say to each other about one resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Speech {
    /// Of a mutex.
    Mutex(mutex::Message),
    /// Of a pool.
    Pool(pool::Message),
    /// Of a group lock.
    Group(group::Message),
    /// Of a role lock.
    Role(role::Message),
    /// Of a group lock by token.
    Token(token::Message),
}

impl Speech {
    /// Whether the arbiter half is spoken to.
    pub fn is_for_arbiter(&self) -> bool {
        match self {
            Speech::Mutex(message) => message.is_for_arbiter(),
            Speech::Pool(message) => message.is_for_arbiter(),
            Speech::Group(message) => message.is_for_manager(),
            Speech::Role(message) => message.is_asked(),
            Speech::Token(message) => message.is_asked(),
        }
    }

    /// The request of `from` that wants to be queued, if this is what it says.
    pub(crate) fn request(&self, from: SiteId) -> Option<Ticket> {
        match self {
            Speech::Mutex(mutex::Message::Request { ticket, .. })
            | Speech::Pool(pool::Message::Request { ticket, .. })
            | Speech::Group(group::Message::Request { ticket, .. })
            | Speech::Role(
                role::Message::ReqProcess { ticket, .. }
                | role::Message::ReqGroup { pr: ticket, .. },
            ) => Some(*ticket),
            Speech::Token(
                token::Message::Request { sn, .. } | token::Message::Prepare { sn, .. },
            ) => Some(Ticket { time: *sn, site: from, claim: ClaimId(0) }),
            _ => None,
        }
    }

    /// The request of which this says that it is inside, or may come in, for as long as the site
    /// that says so can tell.
    pub(crate) fn word(&self) -> Option<Ticket> {
        match self {
            Speech::Group(
                group::Message::Lock { ticket, .. } | group::Message::Enter { ticket, .. },
            )
            | Speech::Role(role::Message::RepProcess { ticket, .. }) => Some(*ticket),
            _ => None,
        }
    }

    /// Whether it only renews the lease of a token, or answers that.
    pub(crate) fn is_renewal(&self) -> bool {
        matches!(
            self,
            Speech::Token(token::Message::Register { .. } | token::Message::Registered { .. })
        )
    }

    /// Whether it is of a kind that carries a deadline.
    pub(crate) fn is_timed(&self) -> bool {
        matches!(self, Speech::Token(message) if message.is_timed())
    }

    /// The deadline it carries, by the clock of who says it; `None` if it is of a kind that has
    /// none.
    pub(crate) fn deadline_mut(&mut self) -> Option<&mut Option<Tick>> {
        if let Speech::Token(message) = self { message.deadline_mut() } else { None }
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Speech::Mutex(_) | Speech::Pool(_) => 64,
            Speech::Group(message) => 96 + message.groups_bytes(),
            Speech::Role(_) => 96 + Name::MAX_BYTES,
            Speech::Token(message) => 96 + message.bytes(),
        }
    }
}

impl fmt::Display for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Speech::Mutex(message) => message.fmt(f),
            Speech::Pool(message) => message.fmt(f),
            Speech::Group(message) => message.fmt(f),
            Speech::Role(message) => message.fmt(f),
            Speech::Token(message) => message.fmt(f),
        }
    }
}

/// The switches of the protocols. Group locks by token have none: their times follow from the
/// lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Of the mutex.
    pub mutex: mutex::Options,
    /// Of pools.
    pub pool: pool::Options,
    /// Of group locks.
    pub group: group::Options,
    /// Of role locks.
    pub role: role::Options,
    /// The repair that is undone.
    #[cfg(feature = "mutations")]
    pub mutation: Option<Mutation>,
}

/// The part of a site in one resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Engine {
    Mutex(Front<Mutex>),
    Pool(Crowd<Pool>),
    Group(Crowd<GroupLock>),
    Role(Crowd<RoleLock>),
    /// Boxed, because it is large, and most locks are of other kinds.
    Token(Box<Party<TokenLock>>),
    /// Boxed, so that whole locks are no larger beside it.
    #[cfg(feature = "mutations")]
    Mutated(Box<mutations::Mutated>),
}

impl Engine {
    pub(crate) fn part(&self) -> &dyn Part {
        match self {
            Engine::Mutex(front) => front,
            Engine::Pool(crowd) => crowd,
            Engine::Group(crowd) => crowd,
            Engine::Role(crowd) => crowd,
            Engine::Token(party) => &**party,
            #[cfg(feature = "mutations")]
            Engine::Mutated(mutated) => mutated.part(),
        }
    }

    pub(crate) fn part_mut(&mut self) -> &mut dyn Part {
        match self {
            Engine::Mutex(front) => front,
            Engine::Pool(crowd) => crowd,
            Engine::Group(crowd) => crowd,
            Engine::Role(crowd) => crowd,
            Engine::Token(party) => &mut **party,
            #[cfg(feature = "mutations")]
            Engine::Mutated(mutated) => mutated.part_mut(),
        }
    }
}

/// The times of group locks by token, in parts of a lease D.
///
/// Voters vouch for D. A request that is not answered for D/2 is repeated, and D/6 later a token is
/// made; a holder that is well answers in between. If that fails, it is tried again, after 2 D at
/// most. A captain asks its followers every D/6, so that their time is renewed well before it is
/// over. An idle token is let go after four leases.
fn token_options(terms: &Terms) -> token::Options {
    let length = terms.lease.length();
    token::Options {
        t1: length / 2,
        t2: length / 6,
        resend: true,
        back_off: 2,
        lease: Some(length),
        drift_permille: terms.drift.parts(),
        idle: Some(4 * 3),
    }
}

/// Makes the parts of a site in its resources.
#[derive(Clone, Debug)]
pub(crate) struct Factory {
    settings: Settings,
    me: SiteId,
    sites: usize,
    token: token::Options,
    /// The quorums of pools by their size: many pools are of one size.
    arbiters: BTreeMap<u32, Arc<Arbiters>>,
}

/// The most sizes of pools whose quorums are kept at hand.
const SIZES_KEPT: usize = 64;

impl Factory {
    pub(crate) fn new(config: &Config) -> Self {
        let Config { site, settings, terms, .. } = config;
        let (me, sites, token) = (*site, config.quorums.n(), token_options(terms));
        Self { settings: *settings, me, sites, token, arbiters: BTreeMap::new() }
    }

    /// A resource of this kind of which nothing is known but what is on disk; `None` if there can
    /// be none.
    pub(crate) fn make(&mut self, kind: &Kind, disk: Durable) -> Option<Engine> {
        #[cfg(feature = "mutations")]
        if let Some(mutated) = self.mutated(kind, &disk) {
            return Some(Engine::Mutated(Box::new(mutated)));
        }
        let Settings { mutex, pool, group, role, .. } = self.settings;
        Some(match *kind {
            Kind::Mutex => Engine::Mutex(Front::new(Mutex::new(mutex))),
            Kind::Group | Kind::ReadWrite => Engine::Group(Crowd::new(GroupLock::new(group))),
            Kind::Role => Engine::Role(Crowd::new(RoleLock::new(role))),
            Kind::Token => {
                let lock = TokenLock::restarted(self.me, self.sites, self.token, disk);
                Engine::Token(Box::new(Party::new(lock)))
            }
            Kind::Pool(units) => Engine::Pool(Crowd::new(Pool::new(self.arbiters(units)?, pool))),
        })
    }

    fn arbiters(&mut self, units: u32) -> Option<&Arc<Arbiters>> {
        if self.arbiters.len() >= SIZES_KEPT && !self.arbiters.contains_key(&units) {
            self.arbiters.clear();
        }
        if (1..=UNITS_MAX).contains(&units) && !self.arbiters.contains_key(&units) {
            let arbiters = Arbiters::improved(self.sites, units as usize).ok()?;
            self.arbiters.insert(units, Arc::new(arbiters));
        }
        self.arbiters.get(&units)
    }
}
