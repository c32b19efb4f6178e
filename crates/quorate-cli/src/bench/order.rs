//! What the bench tells its worker processes, and what they say back: a line of JSON each.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a worker is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Run a site, and be its caller.
    Site(SitePlan),
    /// Be a caller of the site at this address.
    Connect(String),
    /// Send a few bytes to each of these echoes and wait for all, again and again until then.
    Raw {
        /// Where the echoes are.
        echoes: Vec<String>,
        /// When to end.
        until: u64,
    },
    /// Claim and release locks for a while.
    Load(Load),
    /// Claim a lock, and say so once it is held. Nothing releases it but another order.
    Hold(String),
    /// Release what is held.
    Release,
}

/// A site of the cluster that is measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SitePlan {
    /// Its place, from 1.
    pub(super) site: usize,
    /// All addresses.
    pub(super) sites: Vec<String>,
    /// Where it keeps its record.
    pub(super) data: PathBuf,
    /// The length of a lease.
    pub(super) lease_ms: u64,
    /// Whether it has a thread of its own, or runs among its callers.
    pub(super) apart: bool,
}

/// What a caller claims.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Claimed {
    /// A mutex of this name.
    Mutex(String),
    /// So many units of a pool of this name and size.
    Units(String, u32, u32),
    /// A group lock of this name, with this group.
    Group(String, String),
    /// A group lock by token of this name, with this group.
    Token(String, String),
}

/// Callers that claim and release.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Load {
    /// What each of them claims.
    pub(super) claims: Vec<Claimed>,
    /// For how long they keep it.
    pub(super) keep_us: u64,
    /// When measuring begins; callers start at once.
    pub(super) from: u64,
    /// When callers stop.
    pub(super) to: u64,
}

/// What a worker says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// It is there; its echo listens at this address.
    Hello(String),
    /// It has done what it was told.
    Done,
    /// How long each round took, in nanoseconds.
    Raw(Vec<u64>),
    /// What its callers saw.
    Load(Seen),
    /// It holds the lock since then.
    Held(u64),
    /// It cannot do what it was told.
    Failed(String),
}

/// What the callers of one process saw.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Seen {
    /// Every turn inside.
    pub(super) turns: Vec<Turn>,
    /// What the process took of the processors meanwhile, in nanoseconds.
    pub(super) cpu: u64,
}

/// One turn inside. Times are of the machine's clock, which all processes share.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Turn {
    /// The grant's number.
    pub(super) fence: u64,
    /// When it was asked for.
    pub(super) asked: u64,
    /// When it was granted.
    pub(super) granted: u64,
    /// When it was released.
    pub(super) released: u64,
}
