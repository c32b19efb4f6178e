//! The first words on a connection.

use std::fmt;
use std::time::Duration;

use quorate_session::SiteId;
use quorate_session::client::ClientId;
use quorate_session::session::Badge;
use serde::{Deserialize, Serialize};

/// The version of this language. Two sites of different versions do not speak.
pub const VERSION: u32 = 5;

/// The first words of whoever opened a connection. Their form never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// `quorate`, so that a stranger is known by its first bytes.
    pub magic: [u8; 7],
    /// The version it speaks.
    pub version: u32,
    /// Who it is.
    pub who: Who,
}

/// Who opens a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Who {
    /// A site, which believes to have reached another one.
    Site {
        /// What both must have in common.
        badge: Badge,
        /// Who it is.
        from: SiteId,
        /// Whom it wants.
        to: SiteId,
    },
    /// A process with callers.
    Client(ClientId),
}

impl Greeting {
    const MAGIC: [u8; 7] = *b"quorate";

    /// The greeting of `who`.
    pub fn new(who: Who) -> Self {
        Self { magic: Self::MAGIC, version: VERSION, who }
    }

    /// Why it is nobody to speak to; `None` if it may go on.
    pub fn problem(&self) -> Option<Refusal> {
        if self.magic != Self::MAGIC {
            return Some(Refusal::Stranger);
        }
        (self.version != VERSION).then_some(Refusal::OtherVersion(VERSION))
    }
}

/// The first words in return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Go on.
    Welcome {
        /// What both must have in common; a client learns it here.
        badge: Badge,
        /// Who was reached.
        site: SiteId,
        /// How many sites there are.
        sites: u32,
        /// The length of a lease.
        lease: Duration,
        /// The allowance for drift, in parts per thousand.
        drift: u16,
    },
    /// The connection is closed, and why.
    Refused(Refusal),
}

/// Why a connection is closed before anything was said on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// It does not speak this language.
    Stranger,
    /// It speaks another version; this one is spoken here.
    OtherVersion(u32),
    /// It belongs to another cluster, or one that is set up otherwise.
    OtherCluster,
    /// It has another configuration; this is the epoch of the one here.
    OtherEpoch(u64),
    /// It wants another site than this one.
    OtherSite(SiteId),
    /// There is no such site in the cluster.
    NoSuchSite(SiteId),
    /// Its certificate is not that of the site it claims to be.
    OtherCertificate,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Stranger => f.write_str("it does not speak to sites"),
            Refusal::OtherVersion(ours) => write!(f, "it speaks another version than {ours}"),
            Refusal::OtherCluster => f.write_str(
                "it belongs to another cluster, or has another number of sites, quorum or drift",
            ),
            Refusal::OtherEpoch(ours) => write!(f, "its configuration is not of epoch {ours}"),
            Refusal::OtherSite(here) => write!(f, "it wants another site, and this is {here}"),
            Refusal::NoSuchSite(site) => write!(f, "the cluster has no site {site}"),
            Refusal::OtherCertificate => f.write_str("its certificate is another site's"),
        }
    }
}
