//! Singhal 1992: each site learns which sites it must ask.

use std::fmt;

use quorate_protocol::Ticket;
use quorate_quorum::{SiteId, SiteSet};

use crate::algorithm::{Algorithm, SiteConfig, StepContext};

/// Singhal 1992, "A dynamic information-structure mutual exclusion algorithm for distributed
/// systems".
///
/// Like Ricart & Agrawala, but a site asks only the sites that may have been inside since its last
/// entry.
/// Of any two sites one asks the other, at the beginning the later the earlier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SinghalDynamic {
    mine: Option<Ticket>,
    inside: bool,
    /// The sites we must ask, or that have not answered yet; the paper's request set.
    ask: SiteSet,
    /// The sites we answer when we leave; the paper's inform set.
    inform: SiteSet,
}

/// The messages between sites.
#[derive(Clone, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
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
    fn on_request(&mut self, from: SiteId, ticket: Ticket, context: &mut StepContext<'_, Self>) {
        context.observe(ticket);
        match self.mine {
            Some(mine) if self.inside || mine < ticket => {
                self.inform.insert(from);
            }
            Some(mine) => {
                context.send(from, Message::Reply);
                // It goes first, and we had no reason to ask it before.
                if context.keeps("ask-back") && self.ask.insert(from) {
                    context.send(from, Message::Request(mine));
                }
            }
            None => {
                self.ask.insert(from);
                context.send(from, Message::Reply);
            }
        }
    }

    fn try_to_enter(&mut self, context: &mut StepContext<'_, Self>) {
        if self.mine.is_some() && !self.inside && self.ask.is_empty() {
            self.inside = true;
            context.enter();
        }
    }
}

impl Algorithm for SinghalDynamic {
    const NAME: &'static str = "singhal-dynamic";

    const RULES: &'static [&'static str] = &["ask-back"];

    type Message = Message;

    fn new(config: &SiteConfig) -> Self {
        let ask = SiteSet::full(config.me.index());
        Self { mine: None, inside: false, ask, inform: SiteSet::new() }
    }

    fn ask(&mut self, ticket: Ticket, context: &mut StepContext<'_, Self>) {
        self.mine = Some(ticket);
        context.send_all(&self.ask, &Message::Request(ticket));
        self.try_to_enter(context);
    }

    fn receive(&mut self, from: SiteId, message: Message, context: &mut StepContext<'_, Self>) {
        match message {
            Message::Request(ticket) => self.on_request(from, ticket, context),
            Message::Reply => {
                self.ask.remove(from);
                self.try_to_enter(context);
            }
        }
    }

    fn leave(&mut self, context: &mut StepContext<'_, Self>) {
        (self.mine, self.inside) = (None, false);
        let inform = std::mem::take(&mut self.inform);
        context.send_all(&inform, &Message::Reply);
        self.ask.extend_from(&inform);
    }

    fn is_idle(&self) -> bool {
        self.mine.is_none() && self.inform.is_empty()
    }

    fn kind(message: &Message) -> &'static str {
        message.into()
    }
}
