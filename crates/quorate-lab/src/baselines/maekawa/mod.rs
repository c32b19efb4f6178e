//! Maekawa 1985: the permissions of a quorum.

mod arbiter;
mod requester;

use std::fmt;

use quorate_protocol::Ticket;
use quorate_quorum::SiteId;

use self::arbiter::Arbiter;
use self::requester::Requester;
use crate::algorithm::{Algorithm, SiteConfig, StepContext};

/// Maekawa 1985, "A √N algorithm for mutual exclusion in decentralized systems", with the repair of
/// Sanders 1987.
///
/// Each arbiter lends its one permission to one request at a time, and takes it back from a holder
/// that cannot enter when an earlier request arrives. As printed, not every request that has to
/// wait is told so, and sites can wait for each other forever.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Maekawa {
    requester: Requester,
    arbiter: Arbiter,
}

/// The messages between sites.
#[derive(Clone, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Message {
    /// To an arbiter: lend me your permission.
    Request(Ticket),
    /// From an arbiter: here it is.
    Locked(Ticket),
    /// From an arbiter: another request goes first.
    Failed(Ticket),
    /// From an arbiter: can you enter?
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

    fn new(config: &SiteConfig) -> Self {
        Self { requester: Requester::new(&config.quorum), arbiter: Arbiter::default() }
    }

    fn ask(&mut self, ticket: Ticket, context: &mut StepContext<'_, Self>) {
        self.requester.ask(ticket, context);
    }

    fn receive(&mut self, from: SiteId, message: Message, context: &mut StepContext<'_, Self>) {
        match message {
            Message::Request(ticket) => self.arbiter.on_request(ticket, context),
            Message::Relinquish(ticket) => self.arbiter.on_relinquish(ticket, context),
            Message::Release(ticket) => self.arbiter.on_release(ticket, context),
            Message::Locked(_) => self.requester.on_locked(from, context),
            Message::Failed(ticket) => self.requester.on_failed(from, ticket, context),
            Message::Inquire(ticket) => self.requester.on_inquire(from, ticket, context),
        }
    }

    fn leave(&mut self, context: &mut StepContext<'_, Self>) {
        self.requester.leave(context);
    }

    fn is_idle(&self) -> bool {
        self.arbiter.is_free()
    }

    fn kind(message: &Message) -> &'static str {
        message.into()
    }
}
