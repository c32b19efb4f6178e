//! Messages between whole sites, inside their sessions.

use quorate_protocol::{SessionNo, Ticket};
use quorate_quorum::SiteId;
use quorate_session::session::{Half, Payload, RelativeDeadline};
use quorate_session::{Answer, AskId, BreakRequest, Claimant, Kind, Name, Question};
use serde::{Deserialize, Serialize};

use crate::kinds::ProtocolMessage;

/// A message of one site to another. The order of the variants is part of the wire format.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SiteMessage {
    /// A protocol's message.
    Protocol(Addressed),
    /// A protocol's message that delegates validity, and until when.
    Delegated(Addressed, Delegation),
    /// A protocol's message that carries a deadline, in terms of the receiver's clock.
    Timed(Addressed, Until),
    /// To the receiver of earlier delegations: their deadlines now.
    Delegations(Vec<(Name, Delegation)>),
    /// From an arbiter: the name is in use for another kind of lock, and your request is not
    /// queued.
    Refused {
        /// The lock.
        name: Name,
        /// The request.
        ticket: Ticket,
        /// What the name is in use for.
        kind: Kind,
        /// A caller that uses it so, if one is known.
        owner: Option<Claimant>,
    },
    /// To an arbiter: tell the holder of this grant to stop, on behalf of this site.
    Break(BreakRequest, SiteId),
    /// From an arbiter to the holder: stop, on behalf of this site.
    Stop(BreakRequest, SiteId),
    /// To the site that asked: the holder has been told to stop.
    Stopping(BreakRequest),
    /// To any site: a question.
    Ask(AskId, Question),
    /// The answer, and whether the site is in quarantine.
    Answer(AskId, Answer, bool),
}

/// A protocol's message, and the lock it is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Addressed {
    /// The lock.
    pub name: Name,
    /// Its kind.
    pub kind: Kind,
    /// The message.
    pub message: ProtocolMessage,
}

impl Addressed {
    /// The half of the receiving site that it goes to.
    pub(crate) fn half(&self) -> Half {
        if self.message.as_message().is_for_arbiter() { Half::Arbiter } else { Half::Requester }
    }

    fn bytes(&self) -> usize {
        self.name.as_str().len() + self.message.as_message().bytes()
    }
}

/// The receiver may rely on a request until then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Delegation {
    /// The request.
    pub about: Ticket,
    /// The receiver's session at the sender, from whose renewals the deadline is counted.
    pub session: SessionNo,
    /// The deadline.
    pub until: RelativeDeadline,
}

/// A deadline in a message of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Until {
    /// The receiver's session at the sender, from whose renewals the deadline is counted.
    pub session: SessionNo,
    /// The deadline.
    pub until: RelativeDeadline,
}

impl Payload for SiteMessage {
    fn bytes(&self) -> usize {
        match self {
            SiteMessage::Protocol(addressed) => addressed.bytes() + 8,
            SiteMessage::Delegated(addressed, _) | SiteMessage::Timed(addressed, _) => {
                addressed.bytes() + 40
            }
            SiteMessage::Delegations(delegations) => {
                delegations.iter().map(|(name, _)| name.as_str().len() + 80).sum::<usize>() + 8
            }
            SiteMessage::Refused { name, owner, .. } => {
                name.as_str().len() + owner.as_ref().map_or(0, Claimant::bytes) + 64
            }
            SiteMessage::Break(order, _)
            | SiteMessage::Stop(order, _)
            | SiteMessage::Stopping(order) => order.bytes() + 32,
            SiteMessage::Ask(_, question) => question.bytes() + 32,
            SiteMessage::Answer(_, answer, _) => answer.bytes() + 32,
        }
    }
}
