//! The wire format between sites, and between clients and sites. No other crate decodes bytes of a
//! connection.
//!
//! A connection begins with the [`Handshake`] of the end that opened it, and a [`HandshakeReply`].
//! Then each side sends packets of its sessions; to and from clients these are [`ClientPacket`]s.
//! All are sent as frames: a length of four bytes, then that many bytes in the format of
//! `postcard`. Invalid bytes end the connection, and have no other effect.

mod configuration;
mod frame;
mod handshake;

use quorate_session::client::ClientMessage;
use quorate_session::session::Packet;

pub use configuration::{Configuration, Difference};
pub use frame::{Decoder, MAX_FRAME, WireError, encode};
pub use handshake::{Handshake, HandshakeReply, Refusal, Versions, Who};

/// A packet between a client and its site.
pub type ClientPacket = Packet<ClientMessage>;
