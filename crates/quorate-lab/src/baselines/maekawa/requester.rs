//! The half that collects permissions.

use quorate_protocol::Ticket;
use quorate_quorum::{SiteId, SiteSet};

use super::{Maekawa, Message};
use crate::algorithm::StepContext;

/// Collects the permissions of a quorum.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Requester {
    quorum: SiteSet,
    mine: Option<Ticket>,
    /// The arbiters whose permission it has.
    held: SiteSet,
    /// The arbiters that let another request go first.
    failed: SiteSet,
    /// The arbiters that asked whether it can enter and have no answer yet.
    inquired: SiteSet,
}

impl Requester {
    pub(super) fn new(quorum: &SiteSet) -> Self {
        let none = SiteSet::new;
        let (held, failed, inquired) = (none(), none(), none());
        Self { quorum: quorum.clone(), mine: None, held, failed, inquired }
    }

    pub(super) fn ask(&mut self, ticket: Ticket, context: &mut StepContext<'_, Maekawa>) {
        *self = Self { mine: Some(ticket), ..Self::new(&self.quorum) };
        context.send_all(&self.quorum, &Message::Request(ticket));
    }

    pub(super) fn on_locked(&mut self, from: SiteId, context: &mut StepContext<'_, Maekawa>) {
        self.held.insert(from);
        self.failed.remove(from);
        if self.held == self.quorum {
            context.enter();
        }
    }

    pub(super) fn on_failed(
        &mut self,
        from: SiteId,
        ticket: Ticket,
        context: &mut StepContext<'_, Maekawa>,
    ) {
        if self.mine == Some(ticket) {
            self.failed.insert(from);
            for arbiter in std::mem::take(&mut self.inquired).iter() {
                self.relinquish(arbiter, ticket, context);
            }
        }
    }

    /// Gives the permission back if it cannot enter, or later once it knows. A holder inside says
    /// nothing: the release is the answer.
    pub(super) fn on_inquire(
        &mut self,
        from: SiteId,
        ticket: Ticket,
        context: &mut StepContext<'_, Maekawa>,
    ) {
        let inside = self.held == self.quorum;
        if self.mine != Some(ticket) || inside && context.keeps("relinquish") {
            return;
        }
        if self.failed.is_empty() && !inside {
            self.inquired.insert(from);
        } else {
            self.relinquish(from, ticket, context);
        }
    }

    pub(super) fn leave(&mut self, context: &mut StepContext<'_, Maekawa>) {
        let ticket = self.mine.take().expect("who is inside has a request");
        context.send_all(&self.quorum, &Message::Release(ticket));
    }

    fn relinquish(
        &mut self,
        arbiter: SiteId,
        ticket: Ticket,
        context: &mut StepContext<'_, Maekawa>,
    ) {
        self.held.remove(arbiter);
        self.failed.insert(arbiter);
        context.send(arbiter, Message::Relinquish(ticket));
    }
}
