//! What a client process and its site say to each other.

use std::sync::Arc;

use quorate_quorum::SiteId;
use serde::{Deserialize, Serialize};

use crate::claim::{Break, ClaimRequest, Denial, Loss};
use crate::ids::Fence;
use crate::lock::Got;
use crate::question::{Answer, Question};
use crate::session::RelativeDeadline;

/// A process with callers: a number drawn at random when it starts.
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

/// What a client can ask of its site. It numbers its calls and questions, and uses no number twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ClientRequest {
    /// A caller wants a lock.
    Claim(u64, ClaimRequest),
    /// A caller leaves, or does not wait any longer. Acknowledged by [`SiteReply::Left`].
    Leave(u64),
    /// Somebody asks something of all sites.
    Ask(u64, Question),
    /// Somebody wants a grant to end.
    Break(Break),
}

/// What a site tells a client. The number is that of the call or question.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SiteReply {
    /// The caller is inside.
    Granted(u64, Fence, Got, RelativeDeadline),
    /// All grants told of before this are good until then, except the degraded ones.
    CommonDeadline(RelativeDeadline),
    /// A site that this grant depends on is silent: it has a deadline of its own.
    Degraded(u64, RelativeDeadline),
    /// The grant is not degraded any more: the common deadlines told from now on count for it.
    Restored(u64),
    /// The grant was broken, and ends then.
    Broken(u64, RelativeDeadline, Arc<str>),
    /// The grant is over.
    Lost(u64, Loss),
    /// The caller gets nothing.
    Denied(u64, Denial),
    /// The site has taken in that the caller left; nothing of its call is left there.
    Left(u64),
    /// The question went to these sites.
    Asked(u64, Vec<SiteId>),
    /// A site answers.
    Answer(u64, SiteId, Answer),
}

impl ClientMessage {
    /// About how many bytes it takes; buffers are bounded by it.
    pub fn bytes(&self) -> usize {
        match self {
            ClientMessage::Request(ClientRequest::Claim(_, request)) => 128 + request.bytes(),
            ClientMessage::Request(ClientRequest::Break(wish)) => 256 + wish.reason.len(),
            ClientMessage::Reply(SiteReply::Answer(_, _, answer)) => answer.bytes(),
            _ => 128,
        }
    }
}
