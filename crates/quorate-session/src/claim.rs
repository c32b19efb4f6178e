//! What callers ask for, and how it ends.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::ids::Fence;
use crate::lock::{Kind, Name, Units, Want, Why};

/// One call of one caller, as its site numbers it. No number is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId(pub u64);

/// What a caller asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClaimRequest {
    /// The resource.
    pub name: Name,
    /// What it wants of it; the resource's kind follows from that.
    pub want: Want,
    /// Who asks.
    pub card: Card,
    /// For how long it waits, from when its site hears of it; for ever if nothing is said.
    pub patience: Option<Duration>,
    /// Whether it does not wait for anybody: it is denied as soon as it would have to.
    pub hasty: bool,
}

impl ClaimRequest {
    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let Card { owner, host, purpose, .. } = &self.card;
        self.name.as_str().len() + owner.len() + host.len() + purpose.len() + self.want.bytes()
    }
}

/// Who asks, for people: all of it is shown, none of it is relied on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Card {
    /// On whose behalf.
    pub owner: Arc<str>,
    /// On which machine.
    pub host: Arc<str>,
    /// In which process.
    pub pid: u32,
    /// What for.
    pub purpose: Arc<str>,
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.owner.is_empty() { "somebody" } else { &self.owner })?;
        if !self.host.is_empty() {
            write!(f, " on {}", self.host)?;
        }
        if self.pid > 0 {
            write!(f, ", pid {}", self.pid)?;
        }
        if self.purpose.is_empty() { Ok(()) } else { write!(f, ": {}", self.purpose) }
    }
}

/// Why a claim ended without a grant. Nothing of it is left anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Denial {
    /// It would have had to wait for somebody, and did not want to.
    Busy,
    /// Its deadline passed; a quorum was within reach.
    TimedOut,
    /// Its deadline passed, and too few sites could be reached to decide anything.
    NoQuorum {
        /// How many sites answered, this one included.
        answering: usize,
        /// How many there are.
        sites: usize,
        /// The size of the smallest quorum.
        needed: usize,
    },
    /// This site belongs to no quorum: it decides for others and cannot ask.
    NeverAsks,
    /// The name is in use for another kind of lock, or one with other parameters.
    OtherKind {
        /// What it is in use as.
        kind: Kind,
        /// The site that said so.
        by: SiteId,
        /// Who made it so, if that is known there.
        owner: Option<Card>,
    },
    /// Nobody can have so many units of so many.
    Units(Units),
    /// Nobody can be inside with one of these groups.
    Groups(Arc<str>),
    /// Nobody can declare such a time.
    Time(Duration),
    /// The site knows of as many group locks by token as it can; another one could take part in no
    /// promise.
    TooMany(usize),
    /// The call's number was used before.
    Reused,
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Denial::Busy => f.write_str("somebody else holds it or is first"),
            Denial::TimedOut => f.write_str("not granted in time"),
            Denial::NoQuorum { answering, sites, needed } => {
                write!(f, "no quorum: {answering} of {sites} sites answer, {needed} needed")
            }
            Denial::NeverAsks => f.write_str("this site has no quorum of its own and cannot ask"),
            Denial::OtherKind { kind, by, owner: Some(owner) } => {
                write!(f, "it is a {kind}, used by {owner}, says site {by}")
            }
            Denial::OtherKind { kind, by, owner: None } => {
                write!(f, "it is a {kind}, says site {by}")
            }
            Denial::Units(units) => write!(f, "invalid units: {units}"),
            Denial::Groups(problem) => write!(f, "invalid groups: {problem}"),
            Denial::Time(time) => {
                write!(f, "invalid time: {time:?} is longer than a year")
            }
            Denial::TooMany(most) => {
                write!(f, "too many names: a site keeps {most} group locks by token at most")
            }
            Denial::Reused => f.write_str("a call of this number was made before"),
        }
    }
}

/// Why a grant ended before its holder released it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Loss {
    /// What it rested on is gone.
    Lapsed(Why),
    /// Somebody broke it.
    Broken(Arc<str>),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Lapsed(why) => why.fmt(f),
            Loss::Broken(reason) => write!(f, "it was broken: {reason}"),
        }
    }
}

/// Somebody wants a grant to end.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Break {
    /// The resource.
    pub name: Name,
    /// The fence of the grant that is meant; another one is left alone.
    pub fence: Fence,
    /// Who wants it.
    pub by: Card,
    /// Why.
    pub reason: Arc<str>,
}
