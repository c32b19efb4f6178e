//! Ricart & Agrawala 1981: a late answer is the release.

use std::fmt;

use quorate_protocol::Ticket;
use quorate_quorum::{SiteId, SiteSet};

use crate::algorithm::{Algorithm, SiteConfig, StepContext};

/// Ricart & Agrawala 1981, "An optimal algorithm for mutual exclusion in computer networks".
///
/// A request goes to all sites, and enters when all have answered. A site that is inside, or has an
/// earlier request, answers when it leaves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RicartAgrawala {
    mine: Option<Ticket>,
    /// The sites that have not answered.
    missing: SiteSet,
    /// The sites that we answer when we leave.
    deferred: SiteSet,
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

impl Algorithm for RicartAgrawala {
    const NAME: &'static str = "ricart-agrawala";

    const RULES: &'static [&'static str] = &["defer"];

    type Message = Message;

    fn new(_: &SiteConfig) -> Self {
        Self { mine: None, missing: SiteSet::new(), deferred: SiteSet::new() }
    }

    fn ask(&mut self, ticket: Ticket, context: &mut StepContext<'_, Self>) {
        self.mine = Some(ticket);
        self.missing = context.others();
        context.send_all(&context.others(), &Message::Request(ticket));
        if self.missing.is_empty() {
            context.enter();
        }
    }

    fn receive(&mut self, from: SiteId, message: Message, context: &mut StepContext<'_, Self>) {
        match message {
            Message::Request(ticket) => {
                context.observe(ticket);
                // A holder inside has the earlier ticket: the other site answered it before.
                if self.mine.is_some_and(|mine| mine < ticket) && context.keeps("defer") {
                    self.deferred.insert(from);
                } else {
                    context.send(from, Message::Reply);
                }
            }
            Message::Reply => {
                self.missing.remove(from);
                if self.missing.is_empty() {
                    context.enter();
                }
            }
        }
    }

    fn leave(&mut self, context: &mut StepContext<'_, Self>) {
        self.mine = None;
        context.send_all(&std::mem::take(&mut self.deferred), &Message::Reply);
    }

    fn is_idle(&self) -> bool {
        self.mine.is_none() && self.deferred.is_empty()
    }

    fn kind(message: &Message) -> &'static str {
        message.into()
    }
}
