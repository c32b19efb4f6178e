//! The requests queued at a manager, and the one that holds its vote.

use litemap::LiteMap;
use quorate_quorum::SiteId;

use super::{Group, Groups};
use crate::{SessionNo, Tick, Ticket};

/// A request at a manager.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) ticket: Ticket,
    pub(super) groups: Groups,
    /// Whether it is already inside and only replaces a member of its quorum. Such a request
    /// precedes all others, because without the vote it may lose its grant.
    pub(super) held: bool,
    /// The session in which it arrived.
    pub(super) session: SessionNo,
    /// When it arrived; zero without a limit.
    pub(super) since: Tick,
}

/// Whether the request is outside, and its ticket. The lower rank goes first.
type Rank = (bool, Ticket);

/// The requests at a manager, strongest first; the paper's *Que*.
///
/// A follower is not in it, but in [`Occupancy::followers`](super::occupancy::Occupancy).
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

    /// Removes all requests of `site`; false if there was none.
    pub(super) fn remove_site(&mut self, site: SiteId) -> bool {
        let of_site: Vec<Ticket> =
            self.iter().map(|entry| entry.ticket).filter(|ticket| ticket.site == site).collect();
        of_site.iter().filter_map(|&ticket| self.remove(ticket)).count() > 0
    }

    /// The requests that may join an occupancy of `group`, strongest first. None behind an
    /// incompatible request that `has_waited_too_long` may join.
    pub(super) fn joining(
        &self,
        group: &Group,
        has_waited_too_long: impl Fn(&Entry) -> bool,
    ) -> Vec<Ticket> {
        let blocks = |entry: &Entry| !entry.groups.contains(group) && has_waited_too_long(entry);
        let before = self.iter().take_while(|entry| !blocks(entry));
        let joining = before.filter(|entry| entry.groups.contains(group) && !entry.held);
        joining.map(|entry| entry.ticket).collect()
    }
}
