//! The handshake: the first frame in each direction of a connection.
//!
//! The first frame has the same form in all versions from 6 on, so that an end can always tell
//! what the other end is and which versions it speaks. Its bytes, where a number is a varint of
//! `postcard` (seven bits in each byte, the lowest first):
//!
//! | bytes | what they are |
//! |---|---|
//! | 4 | the number of bytes that follow, little endian |
//! | 7 | `quorate` |
//! | 1 to 5 | the lowest version, a number |
//! | 1 to 5 | the highest version, a number |
//! | 1 to 3 | how many bytes follow, a number |
//! | the rest | a [`Who`]; bytes after it belong to later versions, and are ignored |
//!
//! The reply begins with `00` and the chosen version, or with `01` and a [`Refusal`]. The refusals
//! [`NotQuorate`](Refusal::NotQuorate), [`OtherVersion`](Refusal::OtherVersion) and
//! [`NeedsTls`](Refusal::NeedsTls) keep their form; all else has the form of the chosen version.

use std::fmt;
use std::time::Duration;

use quorate_session::SiteId;
use quorate_session::client::ClientId;
use quorate_session::session::ClusterId;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::WireError;
use crate::configuration::{Configuration, Difference};

/// A range of wire versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// The lowest.
    pub lowest: u32,
    /// The highest.
    pub highest: u32,
}

impl Versions {
    /// The versions that this program speaks.
    pub const OURS: Versions = Versions { lowest: 8, highest: 8 };

    /// The highest version in both ranges.
    pub fn common(self, other: Versions) -> Option<u32> {
        let highest = self.highest.min(other.highest);
        (highest >= self.lowest.max(other.lowest)).then_some(highest)
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Versions { lowest, highest } = self;
        if lowest == highest { write!(f, "{lowest}") } else { write!(f, "{lowest} to {highest}") }
    }
}

/// The first frame of the end that opened a connection. Its form never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handshake {
    /// `quorate`, so that other protocols are recognised by their first bytes.
    pub magic: [u8; 7],
    /// The versions it speaks.
    pub versions: Versions,
    /// The bytes of a [`Who`], so that the rest can be read even if it is of an unknown sort.
    who: Vec<u8>,
}

/// Who opens a connection. Later versions may add sorts, but not change these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Who {
    /// A site that connects to another one.
    Site {
        /// The site that connects.
        from: SiteId,
        /// The site it wants to reach.
        to: SiteId,
        /// What both must have in common.
        configuration: Configuration,
    },
    /// A client process.
    Client(ClientId),
}

impl Handshake {
    const MAGIC: [u8; 7] = *b"quorate";

    /// The handshake of `who`.
    pub fn new(who: &Who) -> Self {
        let who = postcard::to_allocvec(who).expect("it can be encoded");
        Self { magic: Self::MAGIC, versions: Versions::OURS, who }
    }

    /// The chosen version: the highest that both ends speak.
    ///
    /// # Errors
    ///
    /// It is not a handshake of quorate, or there is no such version.
    pub fn version(&self) -> Result<u32, Refusal> {
        if self.magic != Self::MAGIC {
            return Err(Refusal::NotQuorate);
        }
        let (here, there) = (Versions::OURS, self.versions);
        here.common(there).ok_or(Refusal::OtherVersion { here, there })
    }

    /// Who opens the connection.
    ///
    /// # Errors
    ///
    /// It is of a sort that this version does not know.
    pub fn who(&self) -> Result<Who, WireError> {
        let (who, _later) =
            postcard::take_from_bytes(&self.who).map_err(|_| WireError::Malformed)?;
        Ok(who)
    }

    /// Whether these are the first bytes of a connection that begins with a handshake.
    pub fn is_start(bytes: &[u8]) -> bool {
        bytes.get(4..).is_some_and(|rest| rest.starts_with(&Self::MAGIC))
    }

    /// How many bytes [`Handshake::is_start`] needs.
    pub const START: usize = 4 + Self::MAGIC.len();
}

/// The first frame in return.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HandshakeReply {
    /// The connection is accepted.
    Welcome {
        /// The version of everything that follows.
        version: u32,
        /// What the ends of all sessions have in common; a client learns it here.
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

/// Why a connection is refused, as the end sees it that accepts connections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Error)]
pub enum Refusal {
    /// It is not a handshake of quorate.
    #[error("it is not a connection of quorate")]
    NotQuorate,
    /// The two ends have no version in common.
    #[error("no common wire version: {here} here, {there} there")]
    OtherVersion {
        /// The versions of this end.
        here: Versions,
        /// The versions of the other end.
        there: Versions,
    },
    /// One end uses TLS, the other does not.
    #[error("{}", if *.here { NO_TLS_THERE } else { NO_TLS_HERE })]
    NeedsTls {
        /// Whether it is this end that uses TLS.
        here: bool,
    },
    /// Settings that must be equal at all sites differ.
    #[error("{}", Difference::list(.0))]
    OtherConfiguration(Vec<Difference>),
    /// The address in the list of sites is that of another site.
    #[error("site {wanted} is expected at this address, but it is that of site {reached}")]
    OtherSite {
        /// The site that was reached.
        reached: SiteId,
        /// The site that was wanted.
        wanted: SiteId,
    },
    /// The site that connects has the number of the one it reached, or of none.
    #[error("it connects as site {0}, which is this site or none of the list")]
    NoSuchSite(SiteId),
    /// Its certificate is not that of the site it claims to be.
    #[error("it connects as site {0}, but its certificate does not name site-{0}.quorate")]
    OtherCertificate(SiteId),
    /// The site has as many clients as it may have.
    #[error("the site has {0} clients, and takes no more")]
    TooManyClients(usize),
}

const NO_TLS_THERE: &str = "TLS is used here, but not there";
const NO_TLS_HERE: &str = "TLS is used there, but not here";

impl Refusal {
    /// The same refusal as the end sees it that opened the connection.
    pub fn seen_from_there(self) -> Self {
        match self {
            Refusal::OtherVersion { here, there } => {
                Refusal::OtherVersion { here: there, there: here }
            }
            Refusal::NeedsTls { here } => Refusal::NeedsTls { here: !here },
            Refusal::OtherConfiguration(all) => {
                let swap = |Difference { field, here, there }| {
                    let (here, there) = (there, here);
                    Difference { field, here, there }
                };
                Refusal::OtherConfiguration(all.into_iter().map(swap).collect())
            }
            other => other,
        }
    }
}
