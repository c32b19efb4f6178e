//! Claims of callers, and how they end.

use std::fmt;
use std::time::Duration;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::ids::Fence;
use crate::limits;
use crate::lock::{Kind, LockSpec, Name, Units, Why};
use crate::text::{HostText, OwnerText, PurposeText, ReasonText};

/// The number of a call at its site. No number is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId(pub u64);

/// What a caller asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClaimRequest {
    /// The lock.
    pub name: Name,
    /// What the caller wants of it. The kind of lock follows from that.
    pub spec: LockSpec,
    /// Who asks.
    pub claimant: Claimant,
    /// How long it waits, from its arrival at the site; for ever if `None`.
    pub timeout: Option<Duration>,
    /// Whether it is denied as soon as it would have to wait for another caller.
    pub no_wait: bool,
    /// The Lamport time since when it has waited, if it waited at a site that has stopped. It keeps
    /// its place by it.
    pub since: Option<u64>,
}

impl ClaimRequest {
    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.name.as_str().len() + self.claimant.bytes() + self.spec.bytes()
    }
}

/// Who asks, for display only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Claimant {
    /// On whose behalf.
    pub owner: OwnerText,
    /// On which machine.
    pub host: HostText,
    /// In which process.
    pub pid: u32,
    /// What for.
    pub purpose: PurposeText,
}

impl Claimant {
    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        self.owner.len() + self.host.len() + self.purpose.len() + 24
    }
}

impl fmt::Display for Claimant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.owner.is_empty() {
            f.write_str("somebody")?;
        } else {
            self.owner.fmt(f)?;
        }
        if !self.host.is_empty() {
            write!(f, " on {}", self.host)?;
        }
        if self.pid > 0 {
            write!(f, ", pid {}", self.pid)?;
        }
        if self.purpose.is_empty() { Ok(()) } else { write!(f, ": {}", self.purpose) }
    }
}

/// Why a claim ended without a grant. No site remembers it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Denial {
    /// It would have had to wait, and had `no_wait` set.
    Busy,
    /// Its deadline passed, though a quorum could be reached.
    TimedOut,
    /// Its deadline passed, and no quorum could be reached.
    NoQuorum {
        /// How many sites answer, this one included.
        answering: usize,
        /// How many there are.
        sites: usize,
        /// The size of the smallest quorum.
        needed: usize,
    },
    /// This site has no quorum of its own: it arbitrates for others and cannot claim.
    NeverAsks,
    /// The name is in use for another kind of lock, or one with other parameters.
    OtherKind {
        /// What it is in use as.
        kind: Kind,
        /// The site that refused.
        by: SiteId,
        /// A caller that uses it so, if the site knows one.
        owner: Option<Claimant>,
    },
    /// There can be no such number of units, or no such pool.
    Units(Units),
    /// These groups are not valid, and why.
    Groups(ReasonText),
    /// The declared time is too long.
    Time(Duration),
    /// The site keeps records of as many locks as it can.
    TooMany(usize),
    /// The number of the call was used before.
    Reused,
    /// Its deadline passed, and no site answers; the last answer of any came so long ago, if one
    /// ever came. Clients say it, not sites.
    NoAnswer(Option<Duration>),
    /// Its deadline passed, and the site had not joined its cluster.
    NotJoined {
        /// How many sites have registered its start, itself included.
        registered: usize,
        /// How many there are.
        sites: usize,
        /// How many must.
        needed: usize,
    },
    /// The client has as many claims at its site as it may have.
    TooManyClaims,
}

impl Denial {
    /// Its name, for counters.
    pub fn name(&self) -> &'static str {
        match self {
            Denial::Busy => "busy",
            Denial::TimedOut => "timed out",
            Denial::NoQuorum { .. } => "no quorum",
            Denial::NeverAsks => "never asks",
            Denial::OtherKind { .. } => "other kind",
            Denial::Units(_) => "invalid units",
            Denial::Groups(_) => "invalid groups",
            Denial::Time(_) => "invalid time",
            Denial::TooMany(_) => "too many names",
            Denial::Reused => "number reused",
            Denial::NoAnswer(_) => "no answer",
            Denial::NotJoined { .. } => "not joined",
            Denial::TooManyClaims => "too many claims",
        }
    }
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
            Denial::NoAnswer(None) => f.write_str("no site answers"),
            Denial::NoAnswer(Some(since)) => {
                write!(f, "no site answers; the last answer came {:.1} s ago", since.as_secs_f64())
            }
            Denial::NotJoined { registered, sites, needed } => write!(
                f,
                "this site has not joined its cluster: {registered} of {sites} sites have \
                 registered its start, {needed} needed"
            ),
            Denial::TooManyClaims => write!(
                f,
                "too many claims of one client: it may have {}, of {} MiB together",
                limits::CLAIMS_PER_CLIENT,
                limits::CLAIMS_BYTES_PER_CLIENT >> 20
            ),
        }
    }
}

/// Why a grant ended before its holder released it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Loss {
    /// What it depended on is gone.
    Lapsed(Why),
    /// It was broken, for this reason.
    Broken(ReasonText),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Loss::Lapsed(why) => why.fmt(f),
            Loss::Broken(reason) => write!(f, "it was broken: {reason}"),
        }
    }
}

/// A request to end a grant that its holder does not release.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BreakRequest {
    /// The lock.
    pub name: Name,
    /// The fence of the grant. A grant with another fence is left alone.
    pub fence: Fence,
    /// Who requests it.
    pub by: Claimant,
    /// Why.
    pub reason: ReasonText,
}

impl BreakRequest {
    /// The most bytes it takes in a message.
    pub fn bytes(&self) -> usize {
        32 + self.name.as_str().len() + self.by.bytes() + self.reason.len()
    }
}
