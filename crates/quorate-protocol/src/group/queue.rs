//! The requests that wait at a manager, and the one that has its vote.

use litemap::LiteMap;
use quorate_quorum::SiteId;

use super::{Group, Groups};
use crate::{SessionNo, Tick, Ticket};

/// A request at a manager.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) ticket: Ticket,
    pub(super) groups: Groups,
    /// Whether it is inside already and only replaces a member of its quorum. Such a request goes
    /// before all others: it survives, or loses what it has.
    pub(super) held: bool,
    /// The session in which it asked.
    pub(super) session: SessionNo,
    /// When it came, if that matters.
    pub(super) since: Tick,
}

/// Not inside yet, and the ticket: the lower goes first.
type Rank = (bool, Ticket);

/// The requests at a manager, the strongest first; the paper's Que.
///
/// Who has joined a session is not in it, but among the session's followers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Queue(LiteMap<Rank, Entry>);

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn insert(&mut self, entry: Entry) {
        assert!(!self.contains(entry.ticket), "a request is queued once");
        self.0.insert((!entry.held, entry.ticket), entry);
    }

    pub(super) fn head(&self) -> Option<&Entry> {
        self.0.values().next()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.values()
    }

    pub(super) fn contains(&self, ticket: Ticket) -> bool {
        self.0.contains_key(&(true, ticket)) || self.0.contains_key(&(false, ticket))
    }

    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<Entry> {
        self.0.remove(&(true, ticket)).or_else(|| self.0.remove(&(false, ticket)))
    }

    /// Takes out all requests of `site`; false if there was none.
    pub(super) fn remove_site(&mut self, site: SiteId) -> bool {
        let of_site: Vec<Ticket> =
            self.iter().map(|entry| entry.ticket).filter(|ticket| ticket.site == site).collect();
        of_site.iter().filter_map(|&ticket| self.remove(ticket)).count() > 0
    }

    /// The requests that may join a session of `group`, the strongest first. Behind one that may
    /// not, and for which `is_tired`, nobody may.
    pub(super) fn joining(&self, group: &Group, is_tired: impl Fn(&Entry) -> bool) -> Vec<Ticket> {
        let before =
            self.iter().take_while(|entry| entry.groups.contains(group) || !is_tired(entry));
        let joining = before.filter(|entry| entry.groups.contains(group) && !entry.held);
        joining.map(|entry| entry.ticket).collect()
    }
}
