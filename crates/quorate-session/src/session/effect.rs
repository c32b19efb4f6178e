//! What sessions ask of their driver, and the events they report to protocols.

use quorate_quorum::SiteId;

use super::{Durable, Packet};
use crate::{SessionNo, Tick};

/// An effect of a step, to be carried out in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Effect<M> {
    /// Send this to the peer on the present connection; drop it if there is none.
    Packet(SiteId, Packet<M>),
    /// A message of the peer for this half, in the session of this number.
    Deliver(SiteId, Half, SessionNo, M),
    /// Report this to every resource, in order of their names.
    Notify(Event),
    /// This must be on disk before later effects leave the site.
    Persist(Durable),
    /// Call again at this time, which replaces the one before.
    Wake(Tick),
    /// A log entry about this peer.
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

/// A change of a session, as protocols see it.
///
/// No event concerns both halves: the two ends lose a session at different times, and each end
/// has both roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// Requester half: there is a session at the site.
    Open(SiteId, SessionNo),
    /// Requester half: no reply from the site for half a lease, the stream is over, or the site is
    /// about to stop.
    Silent(SiteId),
    /// Requester half: the session at the site is over, and with it the site's loans to us.
    Lost(SiteId),
    /// Arbiter half: the site has a session here.
    Opened(SiteId, SessionNo),
    /// Arbiter half: the site's session here is over, and our loans to it are ours again.
    Closed(SiteId),
}
