//! The requests at an arbiter: those that have units, and those that wait.

use std::collections::BTreeSet;

use litemap::LiteMap;
use quorate_quorum::SiteId;

use super::TryNo;
use crate::{GrantNo, SessionNo, Ticket};

/// A request at an arbiter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) ticket: Ticket,
    pub(super) units: u32,
    /// Whether it is inside already and replaces a member of its quorum. Such a request goes before
    /// all others, because it loses its grant if it waits too long.
    pub(super) held: bool,
    /// The session in which it asked.
    pub(super) session: SessionNo,
    /// The try in which it asked: every answer carries it.
    pub(super) attempt: TryNo,
    pub(super) status: Status,
    /// The number of the last loan to it.
    pub(super) number: GrantNo,
    /// The units it has named. They are its own as long as it has units.
    pub(super) numbers: BTreeSet<u32>,
}

/// What a request has from an arbiter; the names are the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Status {
    /// Nothing.
    Wait,
    /// Its units.
    Ok,
    /// Its units, and it was sent a cancel.
    Cancel,
}

impl Entry {
    pub(super) fn new(ticket: Ticket, units: u32, held: bool, session: SessionNo) -> Self {
        let (status, number, numbers) = (Status::Wait, GrantNo::default(), BTreeSet::new());
        let attempt = TryNo::default();
        Self { ticket, units, held, session, attempt, status, number, numbers }
    }

    pub(super) fn waits(&self) -> bool {
        self.status == Status::Wait
    }

    /// How many units it has.
    pub(super) fn lent(&self) -> u32 {
        if self.waits() { 0 } else { self.units }
    }

    fn rank(&self) -> Rank {
        (!self.held, self.ticket)
    }
}

/// Whether it is not inside yet, and the ticket; the lower rank goes first.
type Rank = (bool, Ticket);

/// The requests at an arbiter, by rank.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Queue(LiteMap<Rank, Entry>);

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Inserts a request, and returns its place.
    pub(super) fn insert(&mut self, entry: Entry) -> usize {
        assert!(!self.contains(entry.ticket), "P3: a request is queued once");
        let rank = entry.rank();
        self.0.insert(rank, entry);
        self.0.keys().position(|other| *other == rank).expect("it was inserted just above")
    }

    pub(super) fn at(&self, place: usize) -> &Entry {
        self.0.get_indexed(place).expect("the place is in the queue").1
    }

    pub(super) fn at_mut(&mut self, place: usize) -> &mut Entry {
        self.iter_mut().nth(place).expect("the place is in the queue")
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.values()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.0.iter_mut().map(|(_, entry)| entry)
    }

    pub(super) fn contains(&self, ticket: Ticket) -> bool {
        self.0.contains_key(&(true, ticket)) || self.0.contains_key(&(false, ticket))
    }

    pub(super) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut Entry> {
        let held = self.0.contains_key(&(false, ticket));
        self.0.get_mut(&(!held, ticket))
    }

    pub(super) fn remove(&mut self, ticket: Ticket) -> Option<Entry> {
        self.0.remove(&(true, ticket)).or_else(|| self.0.remove(&(false, ticket)))
    }

    /// Removes all requests of `site`.
    pub(super) fn remove_site(&mut self, site: SiteId) -> Vec<Entry> {
        let of_site = self.iter().filter(|entry| entry.ticket.site == site);
        let tickets: Vec<Ticket> = of_site.map(|entry| entry.ticket).collect();
        tickets.into_iter().filter_map(|ticket| self.remove(ticket)).collect()
    }

    /// The units that the requests up to this place want together. The requests for which that is
    /// at most k form the paper's prefix.
    pub(super) fn wanted_up_to(&self, place: usize) -> u64 {
        self.iter().take(place + 1).map(|entry| u64::from(entry.units)).sum()
    }

    /// How many units are lent.
    pub(super) fn units_lent(&self) -> u32 {
        self.iter().map(Entry::lent).sum()
    }

    /// Whether a request from inside waits at this place or before it.
    pub(super) fn has_held_waiter_up_to(&self, place: usize) -> bool {
        self.iter().take(place + 1).any(|entry| entry.held && entry.waits())
    }

    /// The units that holders other than this request have named.
    pub(super) fn named_by_others(&self, ticket: Ticket) -> BTreeSet<u32> {
        let others = self.iter().filter(|entry| entry.ticket != ticket && !entry.waits());
        others.flat_map(|entry| &entry.numbers).copied().collect()
    }

    pub(super) fn lent(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.iter().filter(|entry| !entry.waits()).map(|entry| entry.ticket)
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.iter().filter(|entry| entry.waits()).map(|entry| entry.ticket)
    }
}
