//! Packets between the two ends of a session.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Frame, Lease};
use crate::SessionNo;

/// Counts the starts of a site; on disk, and raised before the first byte is sent.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Incarnation(pub u64);

/// The number k of a renewal in one session; the Hello New is number 0.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Renewal(pub u64);

/// The number of a frame in one direction of one session, from 1; 0 stands before the first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Seq(pub u64);

/// What the two ends of a session must have in common: a digest of the name of their cluster and
/// of all that quorums and deadlines depend on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClusterId(pub u64);

/// One packet from one end to the other.
///
/// Handshake and renewals stand outside the numbered stream and are never sent again. `M` is the
/// payload; nothing here looks inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Packet<M> {
    /// Client to server: the first packet of a session on a connection.
    Hello(Hello),
    /// Server to client: the session is open, or is resumed.
    Welcome(Welcome),
    /// Server to client: an earlier incarnation's lease still runs; ask again after this time.
    RetryAfter(SessionNo, Duration),
    /// Server to client: the session is refused. Its stream is over, its lease is not.
    Refused(SessionNo, Refusal),
    /// Client to server: renew the lease.
    Renew(SessionNo, Renewal, Seq),
    /// Server to client: the renewal is recorded.
    Renewed(SessionNo, Renewal, Seq),
    /// Client to server: a frame of the stream.
    Up(SessionNo, Frame<M>),
    /// Server to client: a frame of the stream.
    Down(SessionNo, Frame<M>),
    /// Client to server: an acknowledgement of its own, when no frame or renewal carries one.
    UpAck(SessionNo, Seq),
    /// Server to client: the same in the other direction.
    DownAck(SessionNo, Seq),
    /// Server to client: the server is about to stop. What it lent counts as before; whoever needs
    /// a permission asks another site.
    Draining(SessionNo),
}

/// A client's first packet on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Hello {
    /// What both must have in common.
    pub cluster_id: ClusterId,
    /// The client's incarnation.
    pub incarnation: Incarnation,
    /// The session it wants.
    pub opening: Opening,
}

/// The session a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Opening {
    /// A new one. The client's deadline of every earlier one has passed.
    New(SessionNo),
    /// The one it has; its stream was received up to this frame.
    Resume(SessionNo, Seq),
}

impl<M> Packet<M> {
    /// Whether it goes from a client to a server.
    pub fn is_from_client(&self) -> bool {
        matches!(self, Packet::Hello(_) | Packet::Renew(..) | Packet::Up(..) | Packet::UpAck(..))
    }
}

impl Opening {
    /// The number of the session.
    pub fn number(self) -> SessionNo {
        let (Opening::New(number) | Opening::Resume(number, _)) = self;
        number
    }

    /// The last frame that the client received.
    pub fn received(self) -> Seq {
        if let Opening::Resume(_, received) = self { received } else { Seq(0) }
    }
}

/// The server's answer to a Hello that it grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Welcome {
    /// The server's incarnation.
    pub incarnation: Incarnation,
    /// The session.
    pub number: SessionNo,
    /// How long a renewal lasts.
    pub lease: Lease,
    /// How long the server's quarantine still lasts.
    pub quarantine: Duration,
    /// The last frame that the server received.
    pub received: Seq,
}

/// Why a server refuses a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Refusal {
    /// The session is not here, or its stream is over.
    Gone,
    /// A later incarnation or session of this client was opened here.
    Stale,
    /// The server belongs to another cluster, or to one that is configured differently.
    OtherCluster,
}

impl Refusal {
    /// The refusal as text.
    pub fn reason(self) -> &'static str {
        match self {
            Refusal::Gone => "refused: the session is gone",
            Refusal::Stale => "refused: a later incarnation or session of this site was there",
            Refusal::OtherCluster => "refused: it belongs to another cluster",
        }
    }
}

impl Renewal {
    /// The number after this one.
    pub fn next(self) -> Self {
        Self(self.0.checked_add(1).expect("fewer than 2^64 renewals are made"))
    }
}

impl Seq {
    /// The number after this one.
    pub fn next(self) -> Self {
        Self(self.0.checked_add(1).expect("fewer than 2^64 frames are sent"))
    }
}
