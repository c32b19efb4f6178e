//! Replies that wait to be sent to a client. Their number is bounded by the client's calls, however
//! slowly it reads: of a deadline that moves, only the newest value is kept.

use std::collections::BTreeSet;

use quorate_session::client::SiteReply;
use quorate_session::session::{Rule, Terms};
use quorate_session::{CallId, Fence, Granted, Queue, Tick, limits};

use crate::site::{GrantState, Site};

/// Replies that wait to be sent to a client.
#[derive(Clone, Debug, Default)]
pub(super) struct Replies {
    queue: Queue<Reply>,
    /// The calls whose grants are in the queue.
    queued: BTreeSet<CallId>,
    /// The calls inside that were degraded, restored or broken since the last reply about them.
    changed: BTreeSet<CallId>,
    /// The calls that the client knows to be degraded.
    degraded: BTreeSet<CallId>,
    /// Whether the common deadline has moved.
    common: bool,
    /// Whether the client is to be told if its site reaches a quorum.
    quorum: bool,
}

/// A reply. Its deadline, if it has one, is filled in when it is sent.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    /// The call is inside.
    Granted(CallId, Fence, Granted),
    /// The state of a grant has changed.
    State(CallId, GrantState),
    /// The common deadline.
    Common,
    /// The site stops then.
    Draining(Tick),
    /// Anything without a deadline.
    Plain(SiteReply),
}

/// How many answers are kept for a client that does not read. Further ones are dropped.
const ANSWERS_MAX: usize = 256;

/// The most replies that wait. An honest client has at most two for each of its claims.
const REPLIES_MAX: usize = 2 * limits::CLAIMS_PER_CLIENT + ANSWERS_MAX;

impl Replies {
    pub(super) fn push(&mut self, reply: Reply) {
        if let Reply::Granted(call, ..) = reply {
            self.queued.insert(call);
        }
        self.queue.push_back(reply);
    }

    /// Whether more replies wait than an honest client can have.
    pub(super) fn are_too_many(&self) -> bool {
        self.queue.len() > REPLIES_MAX
    }

    /// Keeps an answer, unless there are too many already.
    pub(super) fn push_answer(&mut self, reply: SiteReply, calls: usize) {
        if self.queue.len() < ANSWERS_MAX + 2 * calls {
            self.push(Reply::Plain(reply));
        }
    }

    /// A grant was degraded, restored or broken. A grant that is still in the queue is looked at
    /// after it is sent.
    pub(super) fn note_change(&mut self, call: CallId) {
        if !self.queued.contains(&call) {
            self.changed.insert(call);
        }
    }

    pub(super) fn note_common(&mut self) {
        self.common = true;
    }

    pub(super) fn note_quorum(&mut self) {
        self.quorum = true;
    }

    /// The call is over.
    pub(super) fn forget(&mut self, call: CallId) {
        self.queued.remove(&call);
        self.changed.remove(&call);
        self.degraded.remove(&call);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.changed.is_empty() && !self.common && !self.quorum
    }

    /// The reply to send next. Changes of single grants come before the common deadline, which must
    /// not be applied to a grant that has been degraded. The queue comes last: it may be long, and
    /// known grants must not end meanwhile.
    pub(super) fn next(&mut self, site: &Site, terms: &Terms) -> Option<Reply> {
        if !terms.keep(Rule::ChangesBeforeCommon) && std::mem::take(&mut self.common) {
            return Some(Reply::Common);
        }
        self.next_change(site)
            .or_else(|| std::mem::take(&mut self.common).then_some(Reply::Common))
            .or_else(|| {
                let quorum = || Reply::Plain(SiteReply::Quorum(site.quorum()));
                std::mem::take(&mut self.quorum).then(quorum)
            })
            .or_else(|| self.next_in_queue())
    }

    /// The next grant whose state is not what the client knows.
    fn next_change(&mut self, site: &Site) -> Option<Reply> {
        while let Some(call) = self.changed.pop_first() {
            let Some(state) = site.grant_state(call) else { continue };
            let was_degraded = match state {
                GrantState::Common => self.degraded.remove(&call),
                GrantState::Degraded(_) => !self.degraded.insert(call),
                GrantState::Broken(..) => false,
            };
            // A restored grant is extended only by the next common deadline.
            self.common |= state == GrantState::Common && was_degraded;
            if state != GrantState::Common || was_degraded {
                return Some(Reply::State(call, state));
            }
        }
        None
    }

    fn next_in_queue(&mut self) -> Option<Reply> {
        let reply = self.queue.pop_front()?;
        if let Reply::Granted(call, ..) = reply {
            self.queued.remove(&call);
            self.changed.insert(call);
        }
        Some(reply)
    }
}
