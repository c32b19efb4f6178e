//! Bytes between sites and from clients. This crate is the only decoder of them.
//!
//! A connection begins with a [`Greeting`] of whoever opened it, and its [`Answer`]. Then each side
//! says packets: [`SiteWord`]s between sites, [`ClientWord`]s to and from clients. All travel as
//! frames: a length of four bytes, then so many bytes in the format of `postcard`. Bytes that are
//! no frame end a connection, and nothing else.

mod frame;
mod greeting;

use quorate_site::Said;
use quorate_site::gate::Parley;
use quorate_site::session::Packet;

pub use frame::{Decoder, MAX_FRAME, WireError, encode};
pub use greeting::{Answer, Greeting, Refusal, VERSION, Who};

/// What sites say to each other on a connection, one after another.
pub type SiteWord = Packet<Said>;

/// What a client and its site say to each other.
pub type ClientWord = Packet<Parley>;

/// What clients speak of: they see sites and protocols through these words alone.
pub mod words {
    pub use quorate_protocol::{Fence, SiteId, Tick, Ticket};
    pub use quorate_site::gate::{
        Caller, CallerEffect, CallerInput, CallerLoss, ClientId, Parley, Told, Wish,
    };
    pub use quorate_site::session::{Badge, Drift, Lease, Terms};
    pub use quorate_site::token::Stamp;
    pub use quorate_site::{
        Access, Answer, Break, CallId, CallView, Card, Denial, EtaView, Got, Group, Groups, Kind,
        Loss, Name, PeerReport, Question, RequestView, ResourceView, Role, SiteError, SiteReport,
        Standing, Units, Want, explain,
    };
}
