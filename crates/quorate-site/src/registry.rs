//! The kinds of lock there are. This is the one place where the site layer knows protocols by name.
//!
//! A new kind adds an arm to each enum here, says whether its protocol takes one claim at a time
//! (then it stands behind a `Front`) or each caller as a claim of its own (a `Crowd`), and is done.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use quorate_protocol::mutex::errata::{Erratum, Unrepaired};
use quorate_protocol::mutex::{self, Mutex};
use quorate_protocol::pool::{self, Pool, Units};
use quorate_protocol::{Fence, Protocol, Ticket};
use quorate_quorum::Arbiters;
use serde::{Deserialize, Serialize};

use crate::claim::Denial;
use crate::resource::{Crowd, Front, Part};

/// What kind of lock a resource is, with its parameters. Exclusion is promised for each name and
/// kind: one name is one kind at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// One holder at a time.
    Mutex,
    /// So many units, lent to many holders at a time.
    Pool(u32),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Mutex => f.write_str("mutex"),
            Kind::Pool(units) => write!(f, "pool of {units}"),
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
}

impl Want {
    /// The kind of lock it can be had of.
    pub fn kind(&self) -> Kind {
        match self {
            Want::Mutex => Kind::Mutex,
            Want::Pool { units, .. } => Kind::Pool(units.of),
        }
    }

    /// Whether it can be had of anything; why not.
    pub(crate) fn check(&self) -> Result<(), Denial> {
        match self {
            Want::Mutex => Ok(()),
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
        }
    }
}

/// The most units a pool may have.
pub const UNITS_MAX: u32 = 1 << 16;

/// What a holder has besides its fence.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Got {
    /// The lock.
    Mutex,
    /// These units of a pool, if it asked which.
    Pool(BTreeSet<u32>),
}

/// What the protocols of two sites say to each other about one resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Speech {
    /// Of a mutex.
    Mutex(mutex::Message),
    /// Of a pool.
    Pool(pool::Message),
}

impl Speech {
    /// Whether the arbiter half is spoken to.
    pub fn is_for_arbiter(&self) -> bool {
        match self {
            Speech::Mutex(message) => message.is_for_arbiter(),
            Speech::Pool(message) => message.is_for_arbiter(),
        }
    }

    /// The request that wants to be queued, if this is what it says.
    pub(crate) fn request(&self) -> Option<Ticket> {
        match self {
            Speech::Mutex(mutex::Message::Request { ticket, .. })
            | Speech::Pool(pool::Message::Request { ticket, .. }) => Some(*ticket),
            Speech::Mutex(_) | Speech::Pool(_) => None,
        }
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Speech::Mutex(_) | Speech::Pool(_) => 64,
        }
    }
}

impl fmt::Display for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Speech::Mutex(message) => message.fmt(f),
            Speech::Pool(message) => message.fmt(f),
        }
    }
}

/// The switches of the protocols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Of the mutex.
    pub mutex: mutex::Options,
    /// The repair of the mutex that is undone; `None` outside tests.
    pub undone: Option<Erratum>,
    /// Of pools.
    pub pool: pool::Options,
    /// The repair of pools that is undone; `None` outside tests.
    pub pool_undone: Option<pool::errata::Erratum>,
}

/// A protocol as the site layer drives it.
pub(crate) trait Registered: Protocol {
    fn speech(message: Self::Message) -> Speech;
    fn message(speech: Speech) -> Option<Self::Message>;
    fn claim(want: &Want, hasty: bool) -> Option<Self::Claim>;
    fn fence(grant: &Self::Grant) -> Fence;
    fn got(grant: &Self::Grant) -> Got;
}

impl Registered for Mutex {
    fn speech(message: mutex::Message) -> Speech {
        Speech::Mutex(message)
    }

    fn message(speech: Speech) -> Option<mutex::Message> {
        match speech {
            Speech::Mutex(message) => Some(message),
            Speech::Pool(_) => None,
        }
    }

    fn claim(want: &Want, _: bool) -> Option<()> {
        (*want == Want::Mutex).then_some(())
    }

    fn fence(grant: &mutex::Grant) -> Fence {
        grant.fence
    }

    fn got(_: &mutex::Grant) -> Got {
        Got::Mutex
    }
}

impl Registered for Unrepaired {
    fn speech(message: mutex::Message) -> Speech {
        Mutex::speech(message)
    }

    fn message(speech: Speech) -> Option<mutex::Message> {
        Mutex::message(speech)
    }

    fn claim(want: &Want, hasty: bool) -> Option<()> {
        Mutex::claim(want, hasty)
    }

    fn fence(grant: &mutex::Grant) -> Fence {
        Mutex::fence(grant)
    }

    fn got(grant: &mutex::Grant) -> Got {
        Mutex::got(grant)
    }
}

impl Registered for Pool {
    fn speech(message: pool::Message) -> Speech {
        Speech::Pool(message)
    }

    fn message(speech: Speech) -> Option<pool::Message> {
        match speech {
            Speech::Pool(message) => Some(message),
            Speech::Mutex(_) => None,
        }
    }

    fn claim(want: &Want, hasty: bool) -> Option<pool::Claim> {
        match *want {
            Want::Pool { units, numbered } => Some(pool::Claim { units, numbered, hasty }),
            Want::Mutex => None,
        }
    }

    fn fence(grant: &pool::Grant) -> Fence {
        grant.fence
    }

    fn got(grant: &pool::Grant) -> Got {
        Got::Pool(grant.numbers.clone())
    }
}

impl Registered for pool::errata::Unrepaired {
    fn speech(message: pool::Message) -> Speech {
        Pool::speech(message)
    }

    fn message(speech: Speech) -> Option<pool::Message> {
        Pool::message(speech)
    }

    fn claim(want: &Want, hasty: bool) -> Option<pool::Claim> {
        Pool::claim(want, hasty)
    }

    fn fence(grant: &pool::Grant) -> Fence {
        Pool::fence(grant)
    }

    fn got(grant: &pool::Grant) -> Got {
        Pool::got(grant)
    }
}

/// The part of a site in one resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Engine {
    Mutex(Front<Mutex>),
    Unrepaired(Front<Unrepaired>),
    Pool(Crowd<Pool>),
    UnrepairedPool(Crowd<pool::errata::Unrepaired>),
}

impl Engine {
    pub(crate) fn part(&self) -> &dyn Part {
        match self {
            Engine::Mutex(front) => front,
            Engine::Unrepaired(front) => front,
            Engine::Pool(crowd) => crowd,
            Engine::UnrepairedPool(crowd) => crowd,
        }
    }

    pub(crate) fn part_mut(&mut self) -> &mut dyn Part {
        match self {
            Engine::Mutex(front) => front,
            Engine::Unrepaired(front) => front,
            Engine::Pool(crowd) => crowd,
            Engine::UnrepairedPool(crowd) => crowd,
        }
    }
}

/// Makes the parts of a site in its resources.
#[derive(Clone, Debug)]
pub(crate) struct Factory {
    settings: Settings,
    sites: usize,
    /// The quorums of pools by their size: many pools are of one size.
    arbiters: BTreeMap<u32, Arc<Arbiters>>,
}

/// The most sizes of pools whose quorums are kept at hand.
const SIZES_KEPT: usize = 64;

impl Factory {
    pub(crate) fn new(settings: Settings, sites: usize) -> Self {
        Self { settings, sites, arbiters: BTreeMap::new() }
    }

    /// A resource of this kind at which nothing has happened yet; `None` if there can be none.
    pub(crate) fn make(&mut self, kind: &Kind) -> Option<Engine> {
        let Settings { mutex, undone, pool, pool_undone } = self.settings;
        Some(match *kind {
            Kind::Mutex => match undone {
                None => Engine::Mutex(Front::new(Mutex::new(mutex))),
                Some(undone) => Engine::Unrepaired(Front::new(Unrepaired::new(mutex, undone))),
            },
            Kind::Pool(units) => {
                let arbiters = self.arbiters(units)?;
                match pool_undone {
                    None => Engine::Pool(Crowd::new(Pool::new(arbiters, pool))),
                    Some(undone) => Engine::UnrepairedPool(Crowd::new(
                        pool::errata::Unrepaired::new(arbiters, pool, undone),
                    )),
                }
            }
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
