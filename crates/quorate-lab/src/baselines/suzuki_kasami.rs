//! Suzuki & Kasami 1985: a token, requested from all sites.

use std::collections::VecDeque;
use std::fmt;

use quorate_protocol::Ticket;
use quorate_quorum::SiteId;

use crate::algorithm::{Algorithm, SiteConfig, StepContext};

/// Suzuki & Kasami 1985, "A distributed mutual exclusion algorithm".
///
/// The site with the token may enter. A request goes to all, with its ordinal at its site; the
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
    /// The sites that get it next.
    queue: VecDeque<SiteId>,
}

/// The messages between sites.
#[derive(Clone, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Message {
    /// I want the token; the ordinal of this request at its site.
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
    fn wants(&self, site: SiteId, token: &Token, context: &StepContext<'_, Self>) -> bool {
        let (request, served) = (self.requests[site.index()], token.served[site.index()]);
        request == served + 1 || (request > 0 && !context.keeps("numbers"))
    }
}

impl Algorithm for SuzukiKasami {
    const NAME: &'static str = "suzuki-kasami";

    const RULES: &'static [&'static str] = &["numbers"];

    type Message = Message;

    fn new(config: &SiteConfig) -> Self {
        let token = Token { served: vec![0; config.n], queue: VecDeque::new() };
        let token = (config.me.index() == 0).then_some(token);
        Self { requests: vec![0; config.n], token, busy: false }
    }

    fn ask(&mut self, _: Ticket, context: &mut StepContext<'_, Self>) {
        self.busy = true;
        if self.token.is_some() {
            return context.enter();
        }
        let number = &mut self.requests[context.me().index()];
        *number += 1;
        context.send_all(&context.others(), &Message::Request(*number));
    }

    fn receive(&mut self, from: SiteId, message: Message, context: &mut StepContext<'_, Self>) {
        match message {
            Message::Request(number) => {
                let last = &mut self.requests[from.index()];
                *last = number.max(*last);
                if let Some(token) = self.token.take_if(|_| !self.busy) {
                    if self.wants(from, &token, context) {
                        context.send(from, Message::Token(token));
                    } else {
                        self.token = Some(token);
                    }
                }
            }
            Message::Token(token) => {
                self.token = Some(token);
                context.enter();
            }
        }
    }

    fn leave(&mut self, context: &mut StepContext<'_, Self>) {
        self.busy = false;
        let mut token = self.token.take().expect("who is inside has the token");
        let me = context.me().index();
        token.served[me] = self.requests[me];
        for site in context.after_me() {
            if !token.queue.contains(&site) && self.wants(site, &token, context) {
                token.queue.push_back(site);
            }
        }
        match token.queue.pop_front() {
            Some(next) => context.send(next, Message::Token(token)),
            None => self.token = Some(token),
        }
    }

    fn is_idle(&self) -> bool {
        !self.busy
    }

    fn kind(message: &Message) -> &'static str {
        message.into()
    }
}
