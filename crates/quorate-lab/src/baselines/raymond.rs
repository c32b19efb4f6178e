//! Raymond 1989: a token that moves along the edges of a tree.

use std::collections::VecDeque;
use std::fmt;

use quorate_protocol::Ticket;
use quorate_quorum::SiteId;

use crate::algorithm::{Algorithm, SiteConfig, StepContext};

/// Raymond 1989, "A tree-based algorithm for distributed mutual exclusion".
///
/// Every site knows in which direction the token is, and asks its neighbour there, also on behalf
/// of the neighbours behind it. The tree is that of a heap: the neighbours of v are 2v + 1, 2v + 2
/// and its parent, and the token starts at the root.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Raymond {
    /// The neighbour in whose direction the token is, or the site itself.
    holder: SiteId,
    inside: bool,
    /// Whether the neighbour was asked, and has not sent the token yet.
    asked: bool,
    /// The neighbours that asked, and the site itself, in order.
    queue: VecDeque<SiteId>,
}

/// The messages between neighbours.
#[derive(Clone, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Message {
    /// Send the token this way.
    Request,
    /// Here it is.
    Privilege,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Raymond::kind(self))
    }
}

impl Raymond {
    /// Passes the token on if it is here and free, then asks for it if it is elsewhere and wanted.
    /// The paper's `ASSIGN_PRIVILEGE` and `MAKE_REQUEST`.
    fn pass_or_request(&mut self, context: &mut StepContext<'_, Self>) {
        let me = context.me();
        if self.holder == me
            && !self.inside
            && let Some(next) = self.queue.pop_front()
        {
            self.asked = false;
            if next == me {
                self.inside = true;
                context.enter();
            } else {
                if context.keeps("turn") {
                    self.holder = next;
                }
                context.send(next, Message::Privilege);
            }
        }
        if self.holder != me && !self.queue.is_empty() && !self.asked {
            self.asked = true;
            context.send(self.holder, Message::Request);
        }
    }
}

impl Algorithm for Raymond {
    const NAME: &'static str = "raymond";

    const RULES: &'static [&'static str] = &["turn"];

    type Message = Message;

    fn new(config: &SiteConfig) -> Self {
        let above = config.me.index().saturating_sub(1) / 2;
        Self { holder: SiteId::new(above), inside: false, asked: false, queue: VecDeque::new() }
    }

    fn ask(&mut self, _: Ticket, context: &mut StepContext<'_, Self>) {
        self.queue.push_back(context.me());
        self.pass_or_request(context);
    }

    fn receive(&mut self, from: SiteId, message: Message, context: &mut StepContext<'_, Self>) {
        match message {
            Message::Request => self.queue.push_back(from),
            Message::Privilege => self.holder = context.me(),
        }
        self.pass_or_request(context);
    }

    fn leave(&mut self, context: &mut StepContext<'_, Self>) {
        self.inside = false;
        self.pass_or_request(context);
    }

    fn is_idle(&self) -> bool {
        !self.inside && self.queue.is_empty()
    }

    fn kind(message: &Message) -> &'static str {
        message.into()
    }
}
