//! Lamport 1978: everybody keeps the same queue.

use std::collections::BTreeSet;
use std::fmt;

use quorate_protocol::Ticket;
use quorate_quorum::{SiteId, SiteSet};

use crate::algorithm::{Algorithm, Desk, Place};

/// Lamport 1978, "Time, clocks, and the ordering of events in a distributed system", section 4.
///
/// A request goes to all and into everybody's queue. Who is first in its own queue, and has heard
/// from all that nothing earlier is under way, is inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lamport {
    queue: BTreeSet<Ticket>,
    waits: Option<Ticket>,
    /// Those who have not acknowledged the request.
    missing: SiteSet,
}

/// What sites say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    fn try_to_enter(&mut self, desk: &mut Desk<'_, Self>) {
        let heard = self.missing.is_empty() || !desk.keeps("acks");
        if self.waits.is_some() && heard && self.queue.first() == self.waits.as_ref() {
            self.waits = None;
            desk.enter();
        }
    }
}

impl Algorithm for Lamport {
    const NAME: &'static str = "lamport";

    const RULES: &'static [&'static str] = &["acks"];

    type Message = Message;

    fn new(_: &Place) -> Self {
        Self { queue: BTreeSet::new(), waits: None, missing: SiteSet::new() }
    }

    fn ask(&mut self, ticket: Ticket, desk: &mut Desk<'_, Self>) {
        self.queue.insert(ticket);
        self.waits = Some(ticket);
        self.missing = desk.others();
        desk.send_all(&desk.others(), &Message::Request(ticket));
        self.try_to_enter(desk);
    }

    fn receive(&mut self, from: SiteId, message: Message, desk: &mut Desk<'_, Self>) {
        match message {
            Message::Request(ticket) => {
                desk.observe(ticket);
                self.queue.insert(ticket);
                desk.send(from, Message::Ack);
            }
            Message::Ack => {
                self.missing.remove(from);
            }
            Message::Release(ticket) => {
                self.queue.remove(&ticket);
            }
        }
        self.try_to_enter(desk);
    }

    fn leave(&mut self, desk: &mut Desk<'_, Self>) {
        let me = desk.me();
        let mine = self.queue.iter().copied().find(|ticket| ticket.site == me);
        let mine = mine.expect("who is inside is in its own queue");
        self.queue.remove(&mine);
        desk.send_all(&desk.others(), &Message::Release(mine));
    }

    fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    fn kind(message: &Message) -> &'static str {
        match message {
            Message::Request(_) => "request",
            Message::Ack => "ack",
            Message::Release(_) => "release",
        }
    }
}
