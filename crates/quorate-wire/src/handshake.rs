//! The handshake: the first frame in each direction of a connection.

use std::time::Duration;

use quorate_session::SiteId;
use quorate_session::client::ClientId;
use quorate_session::session::ClusterId;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The version of the wire format. Sites of different versions refuse each other.
pub const VERSION: u32 = 5;

/// The first frame of the end that opened a connection. Its form never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handshake {
    /// `quorate`, so that other protocols are recognised by their first bytes.
    pub magic: [u8; 7],
    /// The version it uses.
    pub version: u32,
    /// Who opens the connection.
    pub who: Who,
}

/// Who opens a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Who {
    /// A site that connects to another one.
    Site {
        /// What both must have in common.
        cluster_id: ClusterId,
        /// The site that connects.
        from: SiteId,
        /// The site it wants to reach.
        to: SiteId,
    },
    /// A client process.
    Client(ClientId),
}

impl Handshake {
    const MAGIC: [u8; 7] = *b"quorate";

    /// The handshake of `who`.
    pub fn new(who: Who) -> Self {
        Self { magic: Self::MAGIC, version: VERSION, who }
    }

    /// Why the handshake is invalid; `None` if it is valid.
    pub fn refusal(&self) -> Option<Refusal> {
        if self.magic != Self::MAGIC {
            return Some(Refusal::NotQuorate);
        }
        (self.version != VERSION).then_some(Refusal::OtherVersion(VERSION))
    }
}

/// The first frame in return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HandshakeReply {
    /// The connection is accepted.
    Welcome {
        /// What both must have in common; a client learns it here.
        cluster_id: ClusterId,
        /// The site that was reached.
        site: SiteId,
        /// The number of sites in the cluster.
        sites: u32,
        /// The length of a lease.
        lease: Duration,
        /// The allowance for drift, in parts per thousand.
        drift: u16,
    },
    /// The connection is closed, for this reason.
    Refused(Refusal),
}

/// Why a connection is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
pub enum Refusal {
    /// It is not a handshake of quorate.
    #[error("it is not a connection of quorate")]
    NotQuorate,
    /// It uses another version than this one.
    #[error("wire version {0} is required")]
    OtherVersion(u32),
    /// It belongs to another cluster, or one that is configured differently.
    #[error("the name of the cluster, the number of sites, the quorum or the drift differs")]
    OtherCluster,
    /// It has another configuration than the one of this epoch.
    #[error("configuration epoch {0} is required")]
    OtherEpoch(u64),
    /// It wants to reach another site than this one.
    #[error("this is site {0}, not the one asked for")]
    OtherSite(SiteId),
    /// There is no such site in the cluster.
    #[error("the cluster has no site {0}")]
    NoSuchSite(SiteId),
    /// Its certificate is not that of the site it claims to be.
    #[error("the certificate is not of the site it claims to be")]
    OtherCertificate,
}
