//! Messages between a client process and its site.

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::claim::{BreakRequest, ClaimRequest, Denial, Loss};
use crate::ids::Fence;
use crate::lock::Granted;
use crate::question::{Question, SiteAnswer};
use crate::session::{Payload, RelativeDeadline};
use crate::text::ReasonText;

/// A client process: a number drawn at random when it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClientId(pub u128);

/// One message between a client process and its site.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ClientMessage {
    /// To the site.
    Request(ClientRequest),
    /// To the client.
    Reply(SiteReply),
}

/// A request of a client. It numbers its calls and questions, and uses no number twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ClientRequest {
    /// A caller wants a lock.
    Claim(u64, ClaimRequest),
    /// A caller releases its grant, or stops waiting. Acknowledged by [`SiteReply::Left`].
    Leave(u64),
    /// A question to all sites.
    Ask(u64, Question),
    /// A request to break a grant.
    Break(BreakRequest),
}

/// A reply of a site. The number is that of the call or question.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SiteReply {
    /// The claim is granted.
    Granted(u64, Fence, Granted, RelativeDeadline),
    /// All grants sent before this are valid until then, except the degraded ones.
    CommonDeadline(RelativeDeadline),
    /// A site that this grant depends on is silent: the grant gets a deadline of its own.
    Degraded(u64, RelativeDeadline),
    /// The grant is no longer degraded: common deadlines count for it from now on.
    Restored(u64),
    /// The grant was broken, and ends at this deadline.
    Broken(u64, RelativeDeadline, ReasonText),
    /// The grant is lost.
    Lost(u64, Loss),
    /// The claim is denied.
    Denied(u64, Denial),
    /// The site has handled [`ClientRequest::Leave`]; nothing of the call remains there.
    Left(u64),
    /// The question was sent to these sites.
    Asked(u64, Vec<SiteId>),
    /// The answer of a site.
    Answer(u64, SiteId, SiteAnswer),
    /// The site is about to stop, and stops at this deadline at the latest. No claim is granted
    /// here any more.
    Draining(RelativeDeadline),
    /// The claim does not wait here any more, because the site is about to stop. It has waited
    /// since this Lamport time, and keeps its place by it at another site.
    Moved(u64, u64),
    /// Whether the site reaches a quorum. Until it says so, a client assumes that it does.
    Quorum(QuorumStatus),
}

/// Whether a site reaches a quorum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct QuorumStatus {
    /// Whether it does.
    pub reached: bool,
    /// Whether it has joined its cluster: before that it reaches none.
    pub joined: bool,
    /// How many sites answer it, or have registered it if it has not joined; itself included.
    pub answering: usize,
    /// How many there are.
    pub sites: usize,
    /// The size of the smallest quorum, or how many must register it.
    pub needed: usize,
}

impl QuorumStatus {
    /// Why a claim was not served in time; `None` if the site reaches a quorum.
    pub fn denial(self) -> Option<Denial> {
        let Self { reached, joined, answering, sites, needed } = self;
        if !joined {
            return Some(Denial::NotJoined { registered: answering, sites, needed });
        }
        (!reached).then_some(Denial::NoQuorum { answering, sites, needed })
    }
}

impl SiteReply {
    /// The most bytes its texts and lists take.
    fn bytes(&self) -> usize {
        match self {
            SiteReply::Granted(_, _, granted, _) => granted.bytes(),
            SiteReply::Broken(_, _, reason) | SiteReply::Lost(_, Loss::Broken(reason)) => {
                reason.len()
            }
            SiteReply::Denied(_, Denial::Groups(why)) => why.len(),
            SiteReply::Denied(_, Denial::OtherKind { owner: Some(owner), .. }) => owner.bytes(),
            SiteReply::Asked(_, sites) => 5 * sites.len(),
            SiteReply::Answer(_, _, of) => of.answer.bytes(),
            _ => 0,
        }
    }
}

impl Payload for ClientMessage {
    fn bytes(&self) -> usize {
        match self {
            ClientMessage::Request(ClientRequest::Claim(_, request)) => 128 + request.bytes(),
            ClientMessage::Request(ClientRequest::Break(request)) => 64 + request.bytes(),
            ClientMessage::Request(ClientRequest::Ask(_, question)) => 64 + question.bytes(),
            ClientMessage::Request(ClientRequest::Leave(_)) => 32,
            ClientMessage::Reply(reply) => 128 + reply.bytes(),
        }
    }
}
