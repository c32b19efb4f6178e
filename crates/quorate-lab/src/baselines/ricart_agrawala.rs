//! Ricart & Agrawala 1981: a late answer is the release.

use std::fmt;

use quorate_protocol::Ticket;
use quorate_quorum::{SiteId, SiteSet};

use crate::algorithm::{Algorithm, Desk, Place};

/// Ricart & Agrawala 1981, "An optimal algorithm for mutual exclusion in computer networks".
///
/// A request goes to all, and whom all have answered is inside. Who is inside or has asked earlier
/// answers when it leaves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RicartAgrawala {
    mine: Option<Ticket>,
    /// Those who have not answered.
    missing: SiteSet,
    /// Those whom we answer when we leave.
    deferred: SiteSet,
}

/// What sites say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// May I?
    Request(Ticket),
    /// As far as I am concerned.
    Reply,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Request(ticket) => write!(f, "request {ticket}"),
            Message::Reply => f.write_str("reply"),
        }
    }
}

impl Algorithm for RicartAgrawala {
    const NAME: &'static str = "ricart-agrawala";

    const RULES: &'static [&'static str] = &["defer"];

    type Message = Message;

    fn new(_: &Place) -> Self {
        Self { mine: None, missing: SiteSet::new(), deferred: SiteSet::new() }
    }

    fn ask(&mut self, ticket: Ticket, desk: &mut Desk<'_, Self>) {
        self.mine = Some(ticket);
        self.missing = desk.others();
        desk.send_all(&desk.others(), &Message::Request(ticket));
        if self.missing.is_empty() {
            desk.enter();
        }
    }

    fn receive(&mut self, from: SiteId, message: Message, desk: &mut Desk<'_, Self>) {
        match message {
            Message::Request(ticket) => {
                desk.observe(ticket);
                // Who is inside has the earlier ticket too: the other had answered it before.
                if self.mine.is_some_and(|mine| mine < ticket) && desk.keeps("defer") {
                    self.deferred.insert(from);
                } else {
                    desk.send(from, Message::Reply);
                }
            }
            Message::Reply => {
                self.missing.remove(from);
                if self.missing.is_empty() {
                    desk.enter();
                }
            }
        }
    }

    fn leave(&mut self, desk: &mut Desk<'_, Self>) {
        self.mine = None;
        desk.send_all(&std::mem::take(&mut self.deferred), &Message::Reply);
    }

    fn is_idle(&self) -> bool {
        self.mine.is_none() && self.deferred.is_empty()
    }

    fn kind(message: &Message) -> &'static str {
        match message {
            Message::Request(_) => "request",
            Message::Reply => "reply",
        }
    }
}
