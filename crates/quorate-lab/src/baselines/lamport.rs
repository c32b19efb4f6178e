//! Lamport 1978: all sites keep the same queue.

use std::collections::BTreeSet;
use std::fmt;

use quorate_protocol::Ticket;
use quorate_quorum::{SiteId, SiteSet};

use crate::algorithm::{Algorithm, SiteConfig, StepContext};

/// Lamport 1978, "Time, clocks, and the ordering of events in a distributed system", section 4.
///
/// A request goes to all sites and into their queues. A site enters when it is first in its own
/// queue and all sites have acknowledged that nothing earlier is in flight.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lamport {
    queue: BTreeSet<Ticket>,
    waits: Option<Ticket>,
    /// The sites that have not acknowledged the request.
    missing: SiteSet,
}

/// The messages between sites.
#[derive(Clone, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Message {
    /// Queue me.
    Request(Ticket),
    /// I have; whatever I ask for from now on is behind it.
    Ack,
    /// I have left.
    Release(Ticket),
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Request(ticket) | Message::Release(ticket) => {
                write!(f, "{} {ticket}", Lamport::kind(self))
            }
            Message::Ack => f.write_str("ack"),
        }
    }
}

impl Lamport {
    fn try_to_enter(&mut self, context: &mut StepContext<'_, Self>) {
        let heard = self.missing.is_empty() || !context.keeps("acks");
        if self.waits.is_some() && heard && self.queue.first() == self.waits.as_ref() {
            self.waits = None;
            context.enter();
        }
    }
}

impl Algorithm for Lamport {
    const NAME: &'static str = "lamport";

    const RULES: &'static [&'static str] = &["acks"];

    type Message = Message;

    fn new(_: &SiteConfig) -> Self {
        Self { queue: BTreeSet::new(), waits: None, missing: SiteSet::new() }
    }

    fn ask(&mut self, ticket: Ticket, context: &mut StepContext<'_, Self>) {
        self.queue.insert(ticket);
        self.waits = Some(ticket);
        self.missing = context.others();
        context.send_all(&context.others(), &Message::Request(ticket));
        self.try_to_enter(context);
    }

    fn receive(&mut self, from: SiteId, message: Message, context: &mut StepContext<'_, Self>) {
        match message {
            Message::Request(ticket) => {
                context.observe(ticket);
                self.queue.insert(ticket);
                context.send(from, Message::Ack);
            }
            Message::Ack => {
                self.missing.remove(from);
            }
            Message::Release(ticket) => {
                self.queue.remove(&ticket);
            }
        }
        self.try_to_enter(context);
    }

    fn leave(&mut self, context: &mut StepContext<'_, Self>) {
        let me = context.me();
        let mine = self.queue.iter().copied().find(|ticket| ticket.site == me);
        let mine = mine.expect("who is inside is in its own queue");
        self.queue.remove(&mine);
        context.send_all(&context.others(), &Message::Release(mine));
    }

    fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    fn kind(message: &Message) -> &'static str {
        message.into()
    }
}
