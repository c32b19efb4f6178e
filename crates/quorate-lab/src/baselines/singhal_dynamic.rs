//! Singhal 1992: each site learns whom it has to ask.

use std::fmt;

use quorate_protocol::Ticket;
use quorate_quorum::{SiteId, SiteSet};

use crate::algorithm::{Algorithm, Desk, Place};

/// Singhal 1992, "A dynamic information-structure mutual exclusion algorithm for distributed
/// systems".
///
/// As Ricart & Agrawala, but a site asks only those who may have been inside since it was itself.
/// Of any two sites one asks the other, at the beginning the later the earlier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SinghalDynamic {
    mine: Option<Ticket>,
    inside: bool,
    /// Whom we have to ask, or have asked and not heard from; the paper's request set.
    ask: SiteSet,
    /// Whom we answer when we leave; the paper's inform set.
    inform: SiteSet,
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

impl SinghalDynamic {
    fn on_request(&mut self, from: SiteId, ticket: Ticket, desk: &mut Desk<'_, Self>) {
        desk.observe(ticket);
        match self.mine {
            Some(mine) if self.inside || mine < ticket => {
                self.inform.insert(from);
            }
            Some(mine) => {
                desk.send(from, Message::Reply);
                // It goes first, and we had no reason to ask it before.
                if desk.keeps("ask-back") && self.ask.insert(from) {
                    desk.send(from, Message::Request(mine));
                }
            }
            None => {
                self.ask.insert(from);
                desk.send(from, Message::Reply);
            }
        }
    }

    fn try_to_enter(&mut self, desk: &mut Desk<'_, Self>) {
        if self.mine.is_some() && !self.inside && self.ask.is_empty() {
            self.inside = true;
            desk.enter();
        }
    }
}

impl Algorithm for SinghalDynamic {
    const NAME: &'static str = "singhal-dynamic";

    const RULES: &'static [&'static str] = &["ask-back"];

    type Message = Message;

    fn new(place: &Place) -> Self {
        let ask = SiteSet::full(place.me.index());
        Self { mine: None, inside: false, ask, inform: SiteSet::new() }
    }

    fn ask(&mut self, ticket: Ticket, desk: &mut Desk<'_, Self>) {
        self.mine = Some(ticket);
        desk.send_all(&self.ask, &Message::Request(ticket));
        self.try_to_enter(desk);
    }

    fn receive(&mut self, from: SiteId, message: Message, desk: &mut Desk<'_, Self>) {
        match message {
            Message::Request(ticket) => self.on_request(from, ticket, desk),
            Message::Reply => {
                self.ask.remove(from);
                self.try_to_enter(desk);
            }
        }
    }

    fn leave(&mut self, desk: &mut Desk<'_, Self>) {
        (self.mine, self.inside) = (None, false);
        let inform = std::mem::take(&mut self.inform);
        desk.send_all(&inform, &Message::Reply);
        self.ask.extend_from(&inform);
    }

    fn is_idle(&self) -> bool {
        self.mine.is_none() && self.inform.is_empty()
    }

    fn kind(message: &Message) -> &'static str {
        match message {
            Message::Request(_) => "request",
            Message::Reply => "reply",
        }
    }
}
