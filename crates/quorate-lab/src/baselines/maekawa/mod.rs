//! Maekawa 1985: the permissions of a quorum.

mod arbiter;
mod requester;

use std::fmt;

use quorate_protocol::Ticket;
use quorate_quorum::SiteId;

use self::arbiter::Arbiter;
use self::requester::Requester;
use crate::algorithm::{Algorithm, Desk, Place};

/// Maekawa 1985, "A √N algorithm for mutual exclusion in decentralized systems", with the repair of
/// Sanders 1987.
///
/// Each arbiter lends its one permission to one request at a time, and takes it back from a holder
/// that cannot get in when an earlier request comes. As printed, not everybody who has to wait is
/// told so, and sites can wait for each other for ever.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Maekawa {
    requester: Requester,
    arbiter: Arbiter,
}

/// What sites say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// To an arbiter: lend me your permission.
    Request(Ticket),
    /// From an arbiter: here it is.
    Locked(Ticket),
    /// From an arbiter: somebody goes before you.
    Failed(Ticket),
    /// From an arbiter: can you get in?
    Inquire(Ticket),
    /// To an arbiter: no; have it back for now.
    Relinquish(Ticket),
    /// To an arbiter: I have left.
    Release(Ticket),
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Message::Request(ticket)
        | Message::Locked(ticket)
        | Message::Failed(ticket)
        | Message::Inquire(ticket)
        | Message::Relinquish(ticket)
        | Message::Release(ticket)) = self;
        write!(f, "{} {ticket}", Maekawa::kind(self))
    }
}

impl Algorithm for Maekawa {
    const NAME: &'static str = "maekawa";

    const QUORUM: &'static str = "grid";

    const RULES: &'static [&'static str] = &["sanders", "inquire", "relinquish"];

    type Message = Message;

    fn new(place: &Place) -> Self {
        Self { requester: Requester::new(&place.quorum), arbiter: Arbiter::default() }
    }

    fn ask(&mut self, ticket: Ticket, desk: &mut Desk<'_, Self>) {
        self.requester.ask(ticket, desk);
    }

    fn receive(&mut self, from: SiteId, message: Message, desk: &mut Desk<'_, Self>) {
        match message {
            Message::Request(ticket) => self.arbiter.on_request(ticket, desk),
            Message::Relinquish(ticket) => self.arbiter.on_relinquish(ticket, desk),
            Message::Release(ticket) => self.arbiter.on_release(ticket, desk),
            Message::Locked(_) => self.requester.on_locked(from, desk),
            Message::Failed(ticket) => self.requester.on_failed(from, ticket, desk),
            Message::Inquire(ticket) => self.requester.on_inquire(from, ticket, desk),
        }
    }

    fn leave(&mut self, desk: &mut Desk<'_, Self>) {
        self.requester.leave(desk);
    }

    fn is_idle(&self) -> bool {
        self.arbiter.is_free()
    }

    fn kind(message: &Message) -> &'static str {
        match message {
            Message::Request(_) => "request",
            Message::Locked(_) => "locked",
            Message::Failed(_) => "failed",
            Message::Inquire(_) => "inquire",
            Message::Relinquish(_) => "relinquish",
            Message::Release(_) => "release",
        }
    }
}
