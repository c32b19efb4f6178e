//! Suzuki & Kasami 1985: a token that everybody calls for.

use std::collections::VecDeque;
use std::fmt;

use quorate_protocol::Ticket;
use quorate_quorum::SiteId;

use crate::algorithm::{Algorithm, Desk, Place};

/// Suzuki & Kasami 1985, "A distributed mutual exclusion algorithm".
///
/// Who has the token may enter. A request goes to all, with the how-manieth of its site it is; the
/// token knows how many of each were served.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SuzukiKasami {
    /// The last request known of each site; the paper's RN.
    requests: Vec<u32>,
    token: Option<Token>,
    /// Whether a caller of ours waits or is inside.
    busy: bool,
}

/// The token, and what it knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token {
    /// How many requests of each site were served; the paper's LN.
    served: Vec<u32>,
    /// Who gets it next.
    queue: VecDeque<SiteId>,
}

/// What sites say to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// I want the token, for the how-manieth time.
    Request(u32),
    /// Here it is.
    Token(Token),
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Request(number) => write!(f, "request #{number}"),
            Message::Token(Token { queue, .. }) => {
                f.write_str("token")?;
                let mut lead = ", then for ";
                for site in queue {
                    write!(f, "{lead}{site}")?;
                    lead = " ";
                }
                Ok(())
            }
        }
    }
}

impl SuzukiKasami {
    /// Whether a site waits for the token, as far as is known here: its last request is the one
    /// after the last served. Others arrive late, from a time before the token was there.
    fn wants(&self, site: SiteId, token: &Token, desk: &Desk<'_, Self>) -> bool {
        let (request, served) = (self.requests[site.index()], token.served[site.index()]);
        request == served + 1 || (request > 0 && !desk.keeps("numbers"))
    }
}

impl Algorithm for SuzukiKasami {
    const NAME: &'static str = "suzuki-kasami";

    const RULES: &'static [&'static str] = &["numbers"];

    type Message = Message;

    fn new(place: &Place) -> Self {
        let token = Token { served: vec![0; place.n], queue: VecDeque::new() };
        let token = (place.me.index() == 0).then_some(token);
        Self { requests: vec![0; place.n], token, busy: false }
    }

    fn ask(&mut self, _: Ticket, desk: &mut Desk<'_, Self>) {
        self.busy = true;
        if self.token.is_some() {
            return desk.enter();
        }
        let number = &mut self.requests[desk.me().index()];
        *number += 1;
        desk.send_all(&desk.others(), &Message::Request(*number));
    }

    fn receive(&mut self, from: SiteId, message: Message, desk: &mut Desk<'_, Self>) {
        match message {
            Message::Request(number) => {
                let last = &mut self.requests[from.index()];
                *last = number.max(*last);
                if let Some(token) = self.token.take_if(|_| !self.busy) {
                    if self.wants(from, &token, desk) {
                        desk.send(from, Message::Token(token));
                    } else {
                        self.token = Some(token);
                    }
                }
            }
            Message::Token(token) => {
                self.token = Some(token);
                desk.enter();
            }
        }
    }

    fn leave(&mut self, desk: &mut Desk<'_, Self>) {
        self.busy = false;
        let mut token = self.token.take().expect("who is inside has the token");
        let me = desk.me().index();
        token.served[me] = self.requests[me];
        for site in desk.after_me() {
            if !token.queue.contains(&site) && self.wants(site, &token, desk) {
                token.queue.push_back(site);
            }
        }
        match token.queue.pop_front() {
            Some(next) => desk.send(next, Message::Token(token)),
            None => self.token = Some(token),
        }
    }

    fn is_idle(&self) -> bool {
        !self.busy
    }

    fn kind(message: &Message) -> &'static str {
        match message {
            Message::Request(_) => "request",
            Message::Token(_) => "token",
        }
    }
}
