//! The half that lends its permission.

use std::collections::BTreeSet;

use quorate_protocol::Ticket;

use super::{Maekawa, Message};
use crate::algorithm::Desk;

/// Lends one permission to one request at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Arbiter {
    holder: Option<Ticket>,
    waiting: BTreeSet<Ticket>,
    /// Whether the holder was asked if it can get in.
    inquired: bool,
}

impl Arbiter {
    pub(super) fn is_free(&self) -> bool {
        self.holder.is_none() && self.waiting.is_empty()
    }

    /// Lends, or queues.
    ///
    /// Everybody in the queue has been told that somebody goes before it, but for a head that goes
    /// before the holder: it is served as soon as the holder can do without. Maekawa forgot the
    /// head that is one no longer; Sanders tells it.
    pub(super) fn on_request(&mut self, ticket: Ticket, desk: &mut Desk<'_, Maekawa>) {
        desk.observe(ticket);
        let head = self.waiting.first().copied();
        self.waiting.insert(ticket);
        let Some(holder) = self.holder else { return self.lend(desk) };
        if holder < ticket || head.is_some_and(|head| head < ticket) {
            return desk.send(ticket.site, Message::Failed(ticket));
        }
        if let Some(head) = head.filter(|head| *head < holder && desk.keeps("sanders")) {
            desk.send(head.site, Message::Failed(head));
        }
        self.inquire(holder, desk);
    }

    /// The holder cannot get in: the first in line has it next.
    pub(super) fn on_relinquish(&mut self, ticket: Ticket, desk: &mut Desk<'_, Maekawa>) {
        assert_eq!(self.holder, Some(ticket), "only the holder gives the permission back");
        self.waiting.insert(ticket);
        self.lend(desk);
    }

    pub(super) fn on_release(&mut self, ticket: Ticket, desk: &mut Desk<'_, Maekawa>) {
        assert_eq!(self.holder, Some(ticket), "only the holder releases");
        self.lend(desk);
    }

    fn lend(&mut self, desk: &mut Desk<'_, Maekawa>) {
        self.holder = self.waiting.pop_first();
        self.inquired = false;
        if let Some(holder) = self.holder {
            desk.send(holder.site, Message::Locked(holder));
        }
    }

    fn inquire(&mut self, holder: Ticket, desk: &mut Desk<'_, Maekawa>) {
        if !std::mem::replace(&mut self.inquired, true) && desk.keeps("inquire") {
            desk.send(holder.site, Message::Inquire(holder));
        }
    }
}
