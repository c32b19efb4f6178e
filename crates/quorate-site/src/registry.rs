//! The kinds of lock there are. This is the one place where the site layer knows protocols by name.
//!
//! A new kind adds an arm to each enum here, says whether its protocol takes one claim at a time
//! (then it stands behind a `Front`), and is done.

use std::fmt;

use quorate_protocol::mutex::errata::{Erratum, Unrepaired};
use quorate_protocol::mutex::{self, Mutex};
use quorate_protocol::{Fence, Protocol, Ticket};
use serde::{Deserialize, Serialize};

use crate::resource::{Front, Part};

/// What kind of lock a resource is, with its parameters. Exclusion is promised for each name and
/// kind: one name is one kind at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// One holder at a time.
    Mutex,
    /// A mutex by another name: tests of what happens where two kinds meet need a second one.
    #[cfg(test)]
    Probe,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Mutex => f.write_str("mutex"),
            #[cfg(test)]
            Kind::Probe => f.write_str("probe"),
        }
    }
}

/// What a caller wants of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Want {
    /// The lock.
    Mutex,
    /// The lock by another name.
    #[cfg(test)]
    Probe,
}

impl Want {
    /// The kind of lock it can be had of.
    pub fn kind(&self) -> Kind {
        match self {
            Want::Mutex => Kind::Mutex,
            #[cfg(test)]
            Want::Probe => Kind::Probe,
        }
    }
}

/// What the protocols of two sites say to each other about one resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Speech {
    /// Of a mutex.
    Mutex(mutex::Message),
}

impl Speech {
    /// Whether the arbiter half is spoken to.
    pub fn is_for_arbiter(&self) -> bool {
        match self {
            Speech::Mutex(message) => message.is_for_arbiter(),
        }
    }

    /// The request that wants to be queued, if this is what it says.
    pub(crate) fn request(&self) -> Option<Ticket> {
        match self {
            Speech::Mutex(mutex::Message::Request { ticket, .. }) => Some(*ticket),
            Speech::Mutex(_) => None,
        }
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Speech::Mutex(_) => 64,
        }
    }
}

impl fmt::Display for Speech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Speech::Mutex(message) => message.fmt(f),
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
}

/// A protocol as the site layer drives it.
pub(crate) trait Registered: Protocol {
    fn speech(message: Self::Message) -> Speech;
    fn message(speech: Speech) -> Option<Self::Message>;
    fn fence(grant: &Self::Grant) -> Fence;
}

impl Registered for Mutex {
    fn speech(message: mutex::Message) -> Speech {
        Speech::Mutex(message)
    }

    fn message(speech: Speech) -> Option<mutex::Message> {
        match speech {
            Speech::Mutex(message) => Some(message),
        }
    }

    fn fence(grant: &mutex::Grant) -> Fence {
        grant.fence
    }
}

impl Registered for Unrepaired {
    fn speech(message: mutex::Message) -> Speech {
        Mutex::speech(message)
    }

    fn message(speech: Speech) -> Option<mutex::Message> {
        Mutex::message(speech)
    }

    fn fence(grant: &mutex::Grant) -> Fence {
        Mutex::fence(grant)
    }
}

/// The part of a site in one resource.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Engine {
    Mutex(Front<Mutex>),
    Unrepaired(Front<Unrepaired>),
}

impl Engine {
    /// A resource of this kind at which nothing has happened yet.
    pub(crate) fn new(kind: &Kind, settings: Settings) -> Self {
        match (kind, settings.undone) {
            (Kind::Mutex, None) => Engine::Mutex(Front::new(Mutex::new(settings.mutex))),
            (Kind::Mutex, Some(undone)) => {
                Engine::Unrepaired(Front::new(Unrepaired::new(settings.mutex, undone)))
            }
            #[cfg(test)]
            (Kind::Probe, _) => Engine::Mutex(Front::new(Mutex::new(settings.mutex))),
        }
    }

    pub(crate) fn part(&self) -> &dyn Part {
        match self {
            Engine::Mutex(front) => front,
            Engine::Unrepaired(front) => front,
        }
    }

    pub(crate) fn part_mut(&mut self) -> &mut dyn Part {
        match self {
            Engine::Mutex(front) => front,
            Engine::Unrepaired(front) => front,
        }
    }
}
