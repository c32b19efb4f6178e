//! What a caller's process and its site say to each other.

use std::sync::Arc;
use std::time::Duration;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::Fence;
use crate::claim::Break;
use crate::claim::{Card, Denial, Loss};
use crate::lock::Name;
use crate::lock::{Got, Want};
use crate::question::{Answer, Question};
use crate::session::RelativeDeadline;

/// A process with callers: a number drawn at random when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClientId(pub u128);

/// What a caller asks for, before its site gives it a deadline.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wish {
    /// The resource.
    pub name: Name,
    /// What it wants of it.
    pub want: Want,
    /// Who asks.
    pub card: Card,
    /// For how long it waits; for ever if nothing is said.
    pub patience: Option<Duration>,
    /// Whether it does not wait for anybody: it is denied as soon as it would have to.
    pub hasty: bool,
}

/// One message between a process and its site. Calls and questions have the process's numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Parley {
    /// To the site: a caller wants something.
    Claim(u64, Wish),
    /// To the site: a caller leaves, or does not wait any longer.
    Leave(u64),
    /// To the site: somebody wants to know something of all sites.
    Ask(u64, Question),
    /// To the site: somebody wants a grant to end.
    Break(Break),
    /// To the process: the caller is inside.
    Granted(u64, Fence, Got, RelativeDeadline),
    /// To the process: all its grants are good until then that are not waning.
    Valid(RelativeDeadline),
    /// To the process: this grant is good until then, and the above does not count for it.
    Waning(u64, RelativeDeadline),
    /// To the process: it counts again.
    Steady(u64),
    /// To the process: the grant was broken, and ends then.
    Broken(u64, RelativeDeadline, Arc<str>),
    /// To the process: the grant is over.
    Lost(u64, Loss),
    /// To the process: the caller gets nothing.
    Denied(u64, Denial),
    /// To the process: the question went to these sites.
    Asked(u64, Vec<SiteId>),
    /// To the process: what a site says.
    Answer(u64, SiteId, Answer),
}

impl Parley {
    /// About how many bytes it takes; buffers are bounded by it.
    pub fn bytes(&self) -> usize {
        match self {
            Parley::Claim(_, wish) => 256 + wish.name.as_str().len(),
            Parley::Answer(_, _, answer) => answer.bytes(),
            _ => 128,
        }
    }
}
