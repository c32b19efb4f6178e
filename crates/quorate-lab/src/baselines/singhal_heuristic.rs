//! Singhal 1989: a token that is looked for where it probably is.

use std::fmt;

use quorate_protocol::Ticket;
use quorate_quorum::SiteId;

use crate::algorithm::{Algorithm, SiteConfig, StepContext};

/// Singhal 1989, "A heuristically-aided algorithm for mutual exclusion in distributed systems".
///
/// A site asks only the sites that it believes to want the token too: one of them has it, or gets
/// it soon. The token carries the known states of all sites, and a site that had it knows as much.
/// Initially each site believes this of all sites before it.
///
/// This is the textbook version, with four states, request numbers and copies of both in the token.
/// It can deadlock. Of any two sites, one must look at the other. A site that leaves stops looking
/// at the sites that do not want the token, because its request makes them look at it; but if the
/// token reaches one of them before that request, neither looks at the other any more. Scenario:
/// `singhal-heuristic/late_request`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SinghalHeuristic {
    state: State,
    known: Known,
    token: Option<Known>,
}

/// The state of a site; the paper's N, R, E and H.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    None,
    Requesting,
    Executing,
    /// It has the token, and no site wants it.
    Holding,
}

/// Knowledge about all sites, here or in the token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Known {
    /// Whether each wants the token; the paper's SV and TSV.
    wants: Vec<bool>,
    /// The last request known of each; the paper's SN and TSN.
    requests: Vec<u32>,
}

/// The messages between sites.
#[derive(Clone, Debug, PartialEq, Eq, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Message {
    /// I want the token; the ordinal of this request at its site.
    Request(u32),
    /// Here it is.
    Token(Known),
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Request(number) => write!(f, "request #{number}"),
            Message::Token(_) => f.write_str("token"),
        }
    }
}

impl SinghalHeuristic {
    fn on_request(&mut self, from: SiteId, number: u32, context: &mut StepContext<'_, Self>) {
        let at = from.index();
        if number <= self.known.requests[at] && context.keeps("outdated") {
            return; // it was served in the meantime, as the token showed
        }
        self.known.requests[at] = number;
        let news = !std::mem::replace(&mut self.known.wants[at], true);
        match self.state {
            // It wants the token as well, and may get it before us.
            State::Requesting if news && context.keeps("ask-back") => {
                context.send(from, Message::Request(self.known.requests[context.me().index()]));
            }
            State::Holding => {
                self.state = State::None;
                let mut token = self.token.take().expect("a holding site has the token");
                (token.wants[at], token.requests[at]) = (true, number);
                context.send(from, Message::Token(token));
            }
            State::None | State::Requesting | State::Executing => {}
        }
    }
}

impl Known {
    /// Makes both know of each site what was the later of the two.
    fn exchange(&mut self, other: &mut Known) {
        for site in 0..self.wants.len() {
            let newer = self.requests[site] > other.requests[site];
            let (from, to) = if newer { (&*self, &mut *other) } else { (&*other, &mut *self) };
            to.wants[site] = from.wants[site];
            to.requests[site] = from.requests[site];
        }
    }
}

impl Algorithm for SinghalHeuristic {
    const NAME: &'static str = "singhal-heuristic";

    const RULES: &'static [&'static str] = &["ask-back", "outdated"];

    type Message = Message;

    fn new(config: &SiteConfig) -> Self {
        let wants = (0..config.n).map(|site| site < config.me.index()).collect();
        let none = Known { wants: vec![false; config.n], requests: vec![0; config.n] };
        let first = config.me.index() == 0;
        Self {
            state: if first { State::Holding } else { State::None },
            known: Known { wants, ..none.clone() },
            token: first.then_some(none),
        }
    }

    fn ask(&mut self, _: Ticket, context: &mut StepContext<'_, Self>) {
        if self.state == State::Holding {
            self.state = State::Executing;
            return context.enter();
        }
        self.state = State::Requesting;
        let me = context.me();
        self.known.requests[me.index()] += 1;
        let number = self.known.requests[me.index()];
        for site in context.after_me().filter(|site| self.known.wants[site.index()]) {
            context.send(site, Message::Request(number));
        }
        self.known.wants[me.index()] = true;
    }

    fn receive(&mut self, from: SiteId, message: Message, context: &mut StepContext<'_, Self>) {
        match message {
            Message::Request(number) => self.on_request(from, number, context),
            Message::Token(token) => {
                self.token = Some(token);
                self.state = State::Executing;
                context.enter();
            }
        }
    }

    fn leave(&mut self, context: &mut StepContext<'_, Self>) {
        let me = context.me().index();
        let mut token = self.token.take().expect("who is inside has the token");
        (self.known.wants[me], token.wants[me]) = (false, false);
        self.known.exchange(&mut token);
        match context.after_me().find(|site| self.known.wants[site.index()]) {
            Some(next) => {
                self.state = State::None;
                context.send(next, Message::Token(token));
            }
            None => {
                self.state = State::Holding;
                self.token = Some(token);
            }
        }
    }

    fn is_idle(&self) -> bool {
        matches!(self.state, State::None | State::Holding)
    }

    fn kind(message: &Message) -> &'static str {
        message.into()
    }
}
