//! A way to a site: over a socket, or in this process.

use quorate_server::{Local, Reply};
use quorate_wire::words::{Break, CallId, Question, Told, Wish};
use tokio::sync::mpsc::UnboundedReceiver;

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

    pub(crate) fn break_grant(&self, wish: Break) {
        match self {
            Backend::Remote(remote) => remote.break_grant(wish),
            Backend::Local(local) => local.break_grant(wish),
        }
    }
}
