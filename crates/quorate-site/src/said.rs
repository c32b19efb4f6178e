//! What whole sites say to each other inside their sessions.

use quorate_protocol::{SessionNo, Ticket};
use quorate_quorum::SiteId;
use quorate_session::session::RelativeDeadline;
use quorate_session::{Answer, AskId, Break, Card, Kind, Name, Question};
use serde::{Deserialize, Serialize};

use crate::registry::Speech;

/// One message of one site to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Said {
    /// A protocol's message about a resource.
    Of(Name, Kind, Speech),
    /// The same, with our word on how long it holds.
    Vouched(Name, Kind, Speech, Word),
    /// A protocol's message that carries a deadline, and how that reads by the receiver's clock.
    Timed(Name, Kind, Speech, Until),
    /// To a client of ours: how long what we said of these holds now.
    Words(Vec<(Name, Word)>),
    /// From an arbiter: the name is in use otherwise, and your request is not queued.
    Refused {
        /// The resource.
        name: Name,
        /// The request.
        ticket: Ticket,
        /// What the name is in use as.
        kind: Kind,
        /// Who made it so, if that is known.
        owner: Option<Card>,
    },
    /// To an arbiter: whoever holds this, tell it to stop. The site is the one that asks.
    Break(Break, SiteId),
    /// From an arbiter to the holder: stop.
    Stop(Break, SiteId),
    /// To the site that asked: the holder has heard of it.
    Stopping(Break),
    /// To any site: somebody wants to know.
    Ask(AskId, Question),
    /// The answer.
    Answer(AskId, Answer),
}

/// Our word about a request: how long it holds, for a site that has a session here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Word {
    /// The request.
    pub about: Ticket,
    /// The receiver's session here, whose renewals the time is counted by.
    pub session: SessionNo,
    /// How long it holds.
    pub down: RelativeDeadline,
}

/// A deadline on its way to a site that has a session here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Until {
    /// The receiver's session here, whose renewals the time is counted by.
    pub session: SessionNo,
    /// How long it is.
    pub down: RelativeDeadline,
}

impl Said {
    /// About how many bytes it takes; buffers are bounded by it.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Said::Of(name, _, speech) => name.as_str().len() + speech.bytes() + 8,
            Said::Vouched(name, _, speech, _) | Said::Timed(name, _, speech, _) => {
                name.as_str().len() + speech.bytes() + 40
            }
            Said::Words(words) => {
                words.iter().map(|(name, _)| name.as_str().len() + 32).sum::<usize>() + 8
            }
            Said::Refused { name, .. } => name.as_str().len() + 128,
            Said::Break(wish, _) | Said::Stop(wish, _) | Said::Stopping(wish) => {
                wish.name.as_str().len() + wish.reason.len() + 128
            }
            Said::Ask(..) => 256,
            Said::Answer(_, answer) => answer.bytes(),
        }
    }
}
