//! What people ask of all sites, and what each of them says.

use std::time::Duration;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::lock::Name;
use crate::view::ResourceView;

/// One question; the driver numbers them, and uses no number twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AskId(pub u64);

/// What can be asked of every site.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Question {
    /// What do you know of this resource?
    Show(Name),
    /// Of which resources whose names begin like this do you have callers? So many at most.
    List(String, u32),
    /// How are you?
    Sites,
}

/// What one site says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Answer {
    /// What it knows of the resource; nothing if nobody uses it there.
    Shown(Option<Box<ResourceView>>),
    /// Resources of which it has callers, and how many more there are.
    Listed(Vec<ResourceView>, u32),
    /// How it is.
    Site(Box<SiteReport>),
}

impl Answer {
    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        match self {
            Answer::Shown(_) | Answer::Site(_) => 1024,
            Answer::Listed(views, _) => 256 + 512 * views.len(),
        }
    }
}

/// How a site is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SiteReport {
    /// Which life of the site this is.
    pub incarnation: u64,
    /// For how long it lends nothing yet, because it has restarted.
    pub quarantine: Duration,
    /// How many resources are in use, as far as it knows.
    pub resources: usize,
    /// How many callers it has.
    pub calls: usize,
    /// How it sees the others.
    pub peers: Vec<PeerReport>,
}

/// How one site sees another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PeerReport {
    /// The other.
    pub site: SiteId,
    /// Whether it has a session there.
    pub open: bool,
    /// Whether nothing was heard of it for half a lease.
    pub silent: bool,
    /// Whether the other has a session here.
    pub opened: bool,
}
