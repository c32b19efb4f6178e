//! Raymond 1989: a token that moves along the edges of a tree.

use std::collections::VecDeque;
use std::fmt;

use quorate_protocol::Ticket;
use quorate_quorum::SiteId;

use crate::algorithm::{Algorithm, Desk, Place};

/// Raymond 1989, "A tree-based algorithm for distributed mutual exclusion".
///
/// Every site knows in which direction the token is, and asks its neighbour there, also for the
/// neighbours behind it. The tree is that of a heap: the neighbours of v are 2v + 1, 2v + 2 and
/// the site above it, and the token is at the root first.
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

/// What neighbours say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
    fn go_on(&mut self, desk: &mut Desk<'_, Self>) {
        let me = desk.me();
        if self.holder == me
            && !self.inside
            && let Some(next) = self.queue.pop_front()
        {
            self.asked = false;
            if next == me {
                self.inside = true;
                desk.enter();
            } else {
                if desk.keeps("turn") {
                    self.holder = next;
                }
                desk.send(next, Message::Privilege);
            }
        }
        if self.holder != me && !self.queue.is_empty() && !self.asked {
            self.asked = true;
            desk.send(self.holder, Message::Request);
        }
    }
}

impl Algorithm for Raymond {
    const NAME: &'static str = "raymond";

    const RULES: &'static [&'static str] = &["turn"];

    type Message = Message;

    fn new(place: &Place) -> Self {
        let above = place.me.index().saturating_sub(1) / 2;
        Self { holder: SiteId::new(above), inside: false, asked: false, queue: VecDeque::new() }
    }

    fn ask(&mut self, _: Ticket, desk: &mut Desk<'_, Self>) {
        self.queue.push_back(desk.me());
        self.go_on(desk);
    }

    fn receive(&mut self, from: SiteId, message: Message, desk: &mut Desk<'_, Self>) {
        match message {
            Message::Request => self.queue.push_back(from),
            Message::Privilege => self.holder = desk.me(),
        }
        self.go_on(desk);
    }

    fn leave(&mut self, desk: &mut Desk<'_, Self>) {
        self.inside = false;
        self.go_on(desk);
    }

    fn is_idle(&self) -> bool {
        !self.inside && self.queue.is_empty()
    }

    fn kind(message: &Message) -> &'static str {
        match message {
            Message::Request => "request",
            Message::Privilege => "privilege",
        }
    }
}
