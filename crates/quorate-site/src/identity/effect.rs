//! What the identity layer asks of the site above it.

use quorate_quorum::SiteId;

use super::{IdentityMessage, IdentityRefusal};

/// An effect of the identity layer, to be carried out in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IdentityEffect {
    /// Send this to the peer on the present connection.
    Send(SiteId, IdentityMessage),
    /// The record must be on disk before later effects.
    Persist,
    /// Write the record when there is time.
    Save,
    /// The life of this site begins.
    Begin,
    /// Sessions with the peer may use the connection.
    Open(SiteId),
    /// They may not use it any more.
    Close(SiteId),
    /// Close the connection with the peer, which is refused for this reason.
    Refuse(SiteId, IdentityRefusal),
    /// The peer refuses this site for this reason.
    RefusedBy(SiteId, IdentityRefusal),
    /// A log entry about this peer.
    Note(SiteId, &'static str),
}
