//! Callers in this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quorate_session::client::{Told, Wish};
use quorate_session::{Answer, AskId, Break, CallId, Question, SiteId};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::core::Event;

/// A way to the site for callers in this process; cheap to copy.
#[derive(Clone, Debug)]
pub struct Local {
    events: UnboundedSender<Event>,
    made: Arc<AtomicU64>,
}

/// What is asked of a site by a caller in this process.
#[derive(Debug)]
pub(crate) enum Order {
    Claim(CallId, Wish, UnboundedSender<Told>),
    Leave(CallId),
    Ask(AskId, Question, UnboundedSender<Reply>),
    Break(Break),
}

/// What comes of a question.
#[derive(Clone, Debug)]
pub enum Reply {
    /// It went to these sites.
    Asked(Vec<SiteId>),
    /// One of them says this.
    Answer(SiteId, Answer),
}

impl Local {
    pub(crate) fn new(events: UnboundedSender<Event>) -> Self {
        Self { events, made: Arc::default() }
    }

    /// Claims something. What becomes of it arrives at the receiver; the site has stopped when
    /// that ends without a word.
    pub fn claim(&self, wish: Wish) -> (CallId, UnboundedReceiver<Told>) {
        let call = CallId(self.made.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = unbounded_channel();
        self.send(Order::Claim(call, wish, sender));
        (call, receiver)
    }

    /// Leaves, or does not wait any longer.
    pub fn leave(&self, call: CallId) {
        self.send(Order::Leave(call));
    }

    /// Asks something of all sites.
    pub fn ask(&self, question: Question) -> UnboundedReceiver<Reply> {
        let ask = AskId(self.made.fetch_add(1, Ordering::Relaxed));
        let (sender, receiver) = unbounded_channel();
        self.send(Order::Ask(ask, question, sender));
        receiver
    }

    /// Wants a grant to end that its holder does not release.
    pub fn break_grant(&self, wish: Break) {
        self.send(Order::Break(wish));
    }

    fn send(&self, order: Order) {
        // A site that has stopped drops its end; the caller's receiver ends with it.
        drop(self.events.send(Event::Local(order)));
    }
}
