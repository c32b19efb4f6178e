//! Questions to all sites, and their answers.

use std::time::Duration;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::lock::Name;
use crate::view::ResourceView;

/// The number of a question. The driver uses no number twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AskId(pub u64);

/// A question to every site.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Question {
    /// What do you know of this lock?
    Show(Name),
    /// Which locks with this prefix are in use, as far as you know? At most this many.
    List(String, u32),
    /// What is your state?
    Sites,
}

/// The answer of one site.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Answer {
    /// What it knows of the lock; `None` if nobody uses it there.
    Shown(Option<Box<ResourceView>>),
    /// Locks in use, as far as it knows, and how many more there are.
    Listed(Vec<ResourceView>, u32),
    /// Its state.
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

/// The answer of one site, as a client gets it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SiteAnswer {
    /// What it said.
    pub answer: Answer,
    /// It has restarted, and has forgotten to whom it had lent: a lock that it does not know may be
    /// held.
    pub quarantined: bool,
    /// Whether the answers up to this one are enough, without those of sites in quarantine. About
    /// locks: the sites meet every quorum that could hold one. About sites: they contain a quorum
    /// of every lock.
    pub enough: bool,
}

/// The state of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SiteReport {
    /// How many times it has started.
    pub incarnation: u64,
    /// How much longer it lends nothing, after a restart.
    pub quarantine: Duration,
    /// How many locks are in use, as far as it knows.
    pub resources: usize,
    /// How many callers it has.
    pub calls: usize,
    /// The size of the smallest quorum.
    pub quorum: usize,
    /// Its view of the other sites.
    pub peers: Vec<PeerReport>,
    /// Whether it has joined its cluster: enough sites have registered its start.
    pub joined: bool,
}

/// The view that one site has of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PeerReport {
    /// The other site.
    pub site: SiteId,
    /// Whether the site has a session there.
    pub open: bool,
    /// No answer from it for half a lease.
    pub silent: bool,
    /// Whether the other has a session at the site.
    pub opened: bool,
}
