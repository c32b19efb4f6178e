//! What sessions ask of their driver and tell the protocols.

use quorate_quorum::SiteId;

use super::{Durable, Packet};
use crate::{SessionNo, Tick};

/// Everything a step of the sessions can ask for, to be carried out in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect<M> {
    /// Say this to the peer, on the connection that is up; if it has just gone, to nobody.
    Packet(SiteId, Packet<M>),
    /// A message of the peer for the half named, in the session of this number.
    Deliver(SiteId, Half, SessionNo, M),
    /// Tell every resource, in order of their names.
    Tell(Event),
    /// This must be on disk before later effects leave the site.
    Persist(Durable),
    /// Call again at this time; it replaces the time asked for before.
    Wake(Tick),
    /// For the log: something about this peer.
    Note(SiteId, &'static str),
}

/// The two halves of a protocol at one site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Half {
    /// The client's half: it asks.
    Requester,
    /// The server's half: it answers.
    Arbiter,
}

/// The fate of a session, as the protocols are told it.
///
/// There is none for both halves: the two ends lose a session at different times, and each end
/// has both roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Requester half: there is a session at the site.
    Open(SiteId, SessionNo),
    /// Requester half: nothing was heard of the site for half a lease, or the stream is over.
    Silent(SiteId),
    /// Requester half: the session at the site is over, and with it what it lent us.
    Lost(SiteId),
    /// Arbiter half: the site has a session here.
    Opened(SiteId, SessionNo),
    /// Arbiter half: the site's session here is over, and what we lent it is ours again.
    Closed(SiteId),
}
