//! A way to a site: over a socket, or in this process.

use std::time::Duration;

use quorate_server::{Local, Reply};
use quorate_session::client::{Told, Wish};
use quorate_session::{Break, CallId, Question};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use crate::remote::Remote;

/// A way to a site.
#[derive(Clone, Debug)]
pub(crate) enum Backend {
    Remote(Remote),
    Local(Local),
}

impl Backend {
    /// Claims something; the receiver ends without a word if there is no way any more.
    pub(crate) fn claim(&self, wish: Wish) -> (CallId, UnboundedReceiver<Told>) {
        match self {
            Backend::Remote(remote) => remote.claim(wish),
            Backend::Local(local) => local.claim(wish),
        }
    }

    pub(crate) fn leave(&self, call: CallId) {
        match self {
            Backend::Remote(remote) => remote.leave(call),
            Backend::Local(local) => local.leave(call),
        }
    }

    pub(crate) fn ask(&self, question: Question) -> UnboundedReceiver<Reply> {
        match self {
            Backend::Remote(remote) => remote.ask(question),
            Backend::Local(local) => local.ask(question),
        }
    }

    /// Waits until the site has taken in all that it was told before, and so long at most.
    pub(crate) async fn heard(&self, patience: Duration) -> bool {
        let mut replies = self.ask(Question::Heard);
        matches!(timeout(patience, replies.recv()).await, Ok(Some(_)))
    }

    pub(crate) fn break_grant(&self, wish: Break) {
        match self {
            Backend::Remote(remote) => remote.break_grant(wish),
            Backend::Local(local) => local.break_grant(wish),
        }
    }
}
