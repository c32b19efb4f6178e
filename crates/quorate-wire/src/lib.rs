//! Bytes between sites and from clients. This crate is the only decoder of them.
//!
//! A connection begins with a [`Greeting`] of whoever opened it, and its [`Answer`]. Then each side
//! says packets of its sessions; [`ClientWord`]s to and from clients. All travel as
//! frames: a length of four bytes, then so many bytes in the format of `postcard`. Bytes that are
//! no frame end a connection, and nothing else.

mod frame;
mod greeting;

use quorate_session::client::ClientMessage;
use quorate_session::session::Packet;

pub use frame::{Decoder, MAX_FRAME, WireError, encode};
pub use greeting::{Answer, Greeting, Refusal, VERSION, Who};

/// What a client and its site say to each other.
pub type ClientWord = Packet<ClientMessage>;
