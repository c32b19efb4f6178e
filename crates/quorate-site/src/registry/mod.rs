//! The kinds of lock there are. This is the one place where the site layer knows protocols by name.
//!
//! A new kind adds an arm to each enum here, says in `language` how its protocol speaks, and
//! whether that takes one claim at a time (then it stands behind a `Front`) or each caller as a
//! claim of its own (a `Crowd`), and is done.

mod language;
#[cfg(feature = "mutations")]
mod mutations;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use quorate_protocol::group::{self, GroupLock};
use quorate_protocol::mutex::{self, Mutex};
use quorate_protocol::pool::{self, Pool};
use quorate_protocol::role::{self, RoleLock};
use quorate_protocol::token::{self, Durable, TokenLock};
use quorate_protocol::{ClaimId, Tick, Ticket};
use quorate_quorum::{Arbiters, SiteId};
use quorate_session::session::Terms;
use quorate_session::{Kind, Name, UNITS_MAX};
use serde::{Deserialize, Serialize};

use crate::Config;
use crate::resource::{Crowd, Front, Part, Party};

pub(crate) use self::language::{Granted, Registered, Spoken, Wanted};
#[cfg(feature = "mutations")]
pub use self::mutations::Mutation;

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
