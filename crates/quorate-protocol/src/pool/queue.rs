//! The requests at an arbiter: those it has lent to, and those that wait.

use std::collections::BTreeSet;

use litemap::LiteMap;
use quorate_quorum::SiteId;

use crate::{GrantNo, SessionNo, Ticket};

/// A request at an arbiter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) ticket: Ticket,
    pub(super) units: u32,
    /// Whether it is inside already and only replaces a member of its quorum. Such a request goes
    /// before all others: it survives, or loses what it has.
    pub(super) held: bool,
    /// The session in which it asked.
    pub(super) session: SessionNo,
    pub(super) status: Status,
    /// The number of the last loan to it.
    pub(super) number: GrantNo,
    /// Which units it means, once it has named them. They are its own as long as it has units.
    pub(super) numbers: BTreeSet<u32>,
}

/// What a request has of an arbiter; the names are the paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Status {
    /// Nothing.
    Wait,
    /// Its units.
    Ok,
    /// Its units, and it was asked to give them back.
    Cancel,
}

impl Entry {
    pub(super) fn new(ticket: Ticket, units: u32, held: bool, session: SessionNo) -> Self {
        let (status, number, numbers) = (Status::Wait, GrantNo::default(), BTreeSet::new());
        Self { ticket, units, held, session, status, number, numbers }
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

/// Not inside yet, and the ticket: the lower goes first.
type Rank = (bool, Ticket);

/// The requests at an arbiter, the best first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Queue(LiteMap<Rank, Entry>);

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Puts a request in its place, and says which one that is.
    pub(super) fn insert(&mut self, entry: Entry) -> usize {
        assert!(!self.contains(entry.ticket), "I3: a request is queued once");
        let rank = entry.rank();
        self.0.insert(rank, entry);
        self.0.keys().position(|other| *other == rank).expect("it is there now")
    }

    pub(super) fn at(&self, place: usize) -> &Entry {
        self.0.get_indexed(place).expect("there are so many").1
    }

    pub(super) fn at_mut(&mut self, place: usize) -> &mut Entry {
        self.iter_mut().nth(place).expect("there are so many")
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

    /// Takes out all requests of `site`.
    pub(super) fn remove_site(&mut self, site: SiteId) -> Vec<Entry> {
        let of_site = self.iter().filter(|entry| entry.ticket.site == site);
        let tickets: Vec<Ticket> = of_site.map(|entry| entry.ticket).collect();
        tickets.into_iter().filter_map(|ticket| self.remove(ticket)).collect()
    }

    /// The units that the requests up to this place want together. They form the paper's prefix as
    /// long as there are so many.
    pub(super) fn wanted_up_to(&self, place: usize) -> u64 {
        self.iter().take(place + 1).map(|entry| u64::from(entry.units)).sum()
    }

    /// How many units are lent.
    pub(super) fn units_lent(&self) -> u32 {
        self.iter().map(Entry::lent).sum()
    }

    /// Whether a request from inside waits, up to this place.
    pub(super) fn is_urgent_up_to(&self, place: usize) -> bool {
        self.iter().take(place + 1).any(|entry| entry.held && entry.waits())
    }

    /// The numbers that requests other than this one have named, and have.
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
