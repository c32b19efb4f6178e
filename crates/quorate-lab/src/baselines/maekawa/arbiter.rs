//! The half that lends its permission.

use std::collections::BTreeSet;

use quorate_protocol::Ticket;

use super::{Maekawa, Message};
use crate::algorithm::StepContext;

/// Lends one permission to one request at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Arbiter {
    holder: Option<Ticket>,
    waiting: BTreeSet<Ticket>,
    /// Whether the holder was asked if it can enter.
    inquired: bool,
}

impl Arbiter {
    pub(super) fn is_free(&self) -> bool {
        self.holder.is_none() && self.waiting.is_empty()
    }

    /// Lends, or queues.
    ///
    /// Every request in the queue was told that another goes before it, except a head that goes
    /// before the holder: it is served as soon as the holder can do without. Maekawa forgot the
    /// former head; Sanders notifies it.
    pub(super) fn on_request(&mut self, ticket: Ticket, context: &mut StepContext<'_, Maekawa>) {
        context.observe(ticket);
        let head = self.waiting.first().copied();
        self.waiting.insert(ticket);
        let Some(holder) = self.holder else { return self.lend(context) };
        if holder < ticket || head.is_some_and(|head| head < ticket) {
            return context.send(ticket.site, Message::Failed(ticket));
        }
        if let Some(head) = head.filter(|head| *head < holder && context.keeps("sanders")) {
            context.send(head.site, Message::Failed(head));
        }
        self.inquire(holder, context);
    }

    /// The holder cannot enter: the first in the queue gets the permission.
    pub(super) fn on_relinquish(&mut self, ticket: Ticket, context: &mut StepContext<'_, Maekawa>) {
        assert_eq!(self.holder, Some(ticket), "only the holder gives the permission back");
        self.waiting.insert(ticket);
        self.lend(context);
    }

    pub(super) fn on_release(&mut self, ticket: Ticket, context: &mut StepContext<'_, Maekawa>) {
        assert_eq!(self.holder, Some(ticket), "only the holder releases");
        self.lend(context);
    }

    fn lend(&mut self, context: &mut StepContext<'_, Maekawa>) {
        self.holder = self.waiting.pop_first();
        self.inquired = false;
        if let Some(holder) = self.holder {
            context.send(holder.site, Message::Locked(holder));
        }
    }

    fn inquire(&mut self, holder: Ticket, context: &mut StepContext<'_, Maekawa>) {
        if !std::mem::replace(&mut self.inquired, true) && context.keeps("inquire") {
            context.send(holder.site, Message::Inquire(holder));
        }
    }
}
