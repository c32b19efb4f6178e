//! Locks with a repair undone, in the place of whole ones.

use quorate_protocol::token::{self, Durable};
use quorate_protocol::{group, mutex, pool, role};
use quorate_session::Kind;

use super::Factory;
use crate::resource::{Crowd, Front, Part, Party};

/// A repair that is undone, and in which protocol. All other kinds of lock are whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutation {
    /// Of the mutex.
    Mutex(mutex::errata::Erratum),
    /// Of pools.
    Pool(pool::errata::Erratum),
    /// Of group locks, also where they are read-write locks.
    Group(group::errata::Erratum),
    /// Of role locks.
    Role(role::errata::Erratum),
    /// Of group locks by token.
    Token(token::errata::Erratum),
}

/// The part of a site in one resource, with a repair undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::large_enum_variant, reason = "the engine boxes it")]
pub(crate) enum Mutated {
    Mutex(Front<mutex::errata::Unrepaired>),
    Pool(Crowd<pool::errata::Unrepaired>),
    Group(Crowd<group::errata::Unrepaired>),
    Role(Crowd<role::errata::Unrepaired>),
    Token(Party<token::errata::Unrepaired>),
}

impl Mutated {
    pub(super) fn part(&self) -> &dyn Part {
        match self {
            Mutated::Mutex(front) => front,
            Mutated::Pool(crowd) => crowd,
            Mutated::Group(crowd) => crowd,
            Mutated::Role(crowd) => crowd,
            Mutated::Token(party) => party,
        }
    }

    pub(super) fn part_mut(&mut self) -> &mut dyn Part {
        match self {
            Mutated::Mutex(front) => front,
            Mutated::Pool(crowd) => crowd,
            Mutated::Group(crowd) => crowd,
            Mutated::Role(crowd) => crowd,
            Mutated::Token(party) => party,
        }
    }
}

impl Factory {
    /// As [`Factory::make`], with the repair undone that the settings name; `None` if they name
    /// none of this kind of lock.
    pub(super) fn mutated(&mut self, kind: &Kind, disk: &Durable) -> Option<Mutated> {
        let settings = self.settings;
        Some(match (settings.mutation?, kind) {
            (Mutation::Mutex(erratum), Kind::Mutex) => {
                Mutated::Mutex(Front::new(mutex::errata::Unrepaired::new(settings.mutex, erratum)))
            }
            (Mutation::Pool(erratum), Kind::Pool(units)) => {
                let arbiters = self.arbiters(*units)?;
                let lock = pool::errata::Unrepaired::new(arbiters, settings.pool, erratum);
                Mutated::Pool(Crowd::new(lock))
            }
            (Mutation::Group(erratum), Kind::Group | Kind::ReadWrite) => {
                Mutated::Group(Crowd::new(group::errata::Unrepaired::new(settings.group, erratum)))
            }
            (Mutation::Role(erratum), Kind::Role) => {
                Mutated::Role(Crowd::new(role::errata::Unrepaired::new(settings.role, erratum)))
            }
            (Mutation::Token(erratum), Kind::Token) => {
                let (place, disk) = ((self.me, self.sites), disk.clone());
                let lock = token::errata::Unrepaired::restarted(place, self.token, erratum, disk);
                Mutated::Token(Party::new(lock))
            }
            _ => return None,
        })
    }
}
