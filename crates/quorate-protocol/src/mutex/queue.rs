//! The requests that wait at an arbiter.

use std::collections::BTreeSet;

use litemap::LiteMap;
use quorate_quorum::SiteId;

use super::Target;
use crate::{GrantNo, SessionNo, Ticket};

/// A request at an arbiter: waiting, or the holder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) ticket: Ticket,
    /// Whether it is inside already and replaces a member of its quorum. Such a request goes before
    /// all others, because it loses its grant if it waits too long.
    pub(super) held: bool,
    /// The session in which it asked.
    pub(super) session: SessionNo,
    /// The sites that cannot pass it a permission. It only grows (I6), and is empty in the paper's
    /// model.
    pub(super) cut: BTreeSet<SiteId>,
    /// Whether it was asked to refuse loans, and has not answered. It may still get one of them.
    pub(super) asked: bool,
    /// It refuses loans up to this one.
    pub(super) refuses: GrantNo,
}

impl Entry {
    /// Its place in the queue: requests from inside first, then by ticket.
    pub(super) fn rank(&self) -> Rank {
        (!self.held, self.ticket)
    }

    pub(super) fn target(&self) -> Target {
        Target { ticket: self.ticket, session: self.session }
    }

    /// Whether it takes loan `number`, if that is passed to it.
    pub(super) fn accepts(&self, number: GrantNo) -> bool {
        self.refuses < number
    }

    /// Whether it takes loan `number`, however late that arrives.
    pub(super) fn will_accept(&self, number: GrantNo) -> bool {
        self.accepts(number) && !self.asked
    }

    /// Whether a pass from `site` can reach it.
    pub(super) fn is_reachable_from(&self, site: SiteId) -> bool {
        !self.cut.contains(&site)
    }
}

/// Whether it is not inside yet, and the ticket; the lower rank goes first.
pub(super) type Rank = (bool, Ticket);

/// The requests that wait, the next one first; the paper's `req_q`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Queue(LiteMap<Rank, Entry>);

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn insert(&mut self, entry: Entry) {
        let before = self.0.insert(entry.rank(), entry);
        assert!(before.is_none(), "I2: a request is queued once");
    }

    pub(super) fn head(&self) -> Option<&Entry> {
        self.0.values().next()
    }

    pub(super) fn second(&self) -> Option<&Entry> {
        self.0.values().nth(1)
    }

    pub(super) fn pop(&mut self) -> Option<Entry> {
        let (&first, _) = self.0.first()?;
        self.0.remove(&first)
    }

    pub(super) fn get(&self, ticket: Ticket) -> Option<&Entry> {
        self.0.get(&(true, ticket)).or_else(|| self.0.get(&(false, ticket)))
    }

    pub(super) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Entry> {
        let held = self.0.contains_key(&(false, ticket));
        self.0.get_mut(&(!held, ticket))
    }

    pub(super) fn contains(&self, ticket: Ticket) -> bool {
        self.get(ticket).is_some()
    }

    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<Entry> {
        self.0.remove(&(true, ticket)).or_else(|| self.0.remove(&(false, ticket)))
    }

    pub(super) fn tickets(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.0.keys().map(|&(_, ticket)| ticket)
    }

    /// Removes all requests of `site`; false if there were none.
    pub(super) fn remove_site(&mut self, site: SiteId) -> bool {
        let before = self.0.len();
        self.0.retain(|_, entry| entry.ticket.site != site);
        self.0.len() < before
    }
}
