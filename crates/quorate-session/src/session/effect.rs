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
    /// Tell every lock, at once or one after the other, but each before it handles anything later.
    /// After the end of a session, report with [`Sessions::on_told`] when all of them were told.
    ///
    /// [`Sessions::on_told`]: super::Sessions::on_told
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

impl Event {
    /// Whether a session begins.
    pub fn is_beginning(self) -> bool {
        matches!(self, Event::Open(..) | Event::Opened(..))
    }

    /// The half whose session is over, if it is the end of one.
    pub fn ended_half(self) -> Option<Half> {
        match self {
            Event::Lost(_) => Some(Half::Requester),
            Event::Closed(_) => Some(Half::Arbiter),
            Event::Open(..) | Event::Silent(_) | Event::Opened(..) => None,
        }
    }

    /// The site at the other end of the session.
    pub fn site(self) -> SiteId {
        match self {
            Event::Open(site, _)
            | Event::Silent(site)
            | Event::Lost(site)
            | Event::Opened(site, _)
            | Event::Closed(site) => site,
        }
    }
}
