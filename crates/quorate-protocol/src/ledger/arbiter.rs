//! The arbiter half: lends this site's permission to one request at a time, and tells it who is
//! inside.
//!
//! It is the arbiter of a quorum lock whose permissions always come home, as in Maekawa's
//! algorithm, with the fails that Sanders added. Every request that waits has been sent a fail, but
//! for one: the first, while the borrower is after it and has been sent an inquire.

use std::collections::{BTreeMap, BTreeSet};

use super::journal::Journal;
use super::known::Change;
use super::{LedgerPool, Message, Options, Try};
use crate::{Fence, Fences, Out, Shared, Ticket, Violation};

/// The arbiter half of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Arbiter {
    /// The request that has our permission.
    pub(super) lock: Option<Entry>,
    /// The requests that wait for it, the next one first.
    pub(super) waiting: BTreeMap<Ticket, Entry>,
    /// The callers that are inside and registered here.
    pub(super) journal: Journal,
    /// The registrations that do not count yet (L4).
    pub(super) pending: BTreeSet<Ticket>,
}

/// A request at an arbiter: waiting, or the borrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) of: Try,
    /// The version of our ledger that its site keeps.
    known: u64,
    /// Whether it was sent an inquire about the present loan.
    inquired: bool,
}

impl Arbiter {
    pub(super) fn new(options: Options) -> Self {
        Self {
            lock: None,
            waiting: BTreeMap::new(),
            journal: Journal::new(options),
            pending: BTreeSet::new(),
        }
    }

    pub(super) fn is_vacant(&self) -> bool {
        self.lock.is_none() && self.waiting.is_empty() && self.journal.ledger.entries.is_empty()
    }

    /// The callers that are registered here, and the request at the door.
    pub(super) fn lent(&self) -> impl Iterator<Item = Ticket> + '_ {
        let borrower = self.lock.iter().map(|borrower| borrower.of.ticket);
        borrower.chain(self.journal.ledger.entries.keys().copied())
    }

    /// Lends our permission to a request, or queues it.
    pub(super) fn on_request(
        &mut self,
        site: &Shared,
        of: Try,
        known: u64,
        out: &mut Out<LedgerPool>,
    ) {
        if self.is_lent_to(of) || self.waiting.contains_key(&of.ticket) {
            return out.ignore("the request is known already");
        }
        let entry = Entry { of, known, inquired: false };
        let Some(borrower) = self.lock else {
            if site.quarantined {
                fail(of, out);
                self.waiting.insert(of.ticket, entry);
                return;
            }
            assert!(self.waiting.is_empty(), "a free arbiter has no waiters");
            return self.lend(site, entry, out);
        };
        let head = self.waiting.first_key_value().map(|(_, head)| head.of);
        if borrower.of.ticket < of.ticket || head.is_some_and(|head| head.ticket < of.ticket) {
            fail(of, out);
        } else if let Some(head) = head.filter(|head| head.ticket < borrower.of.ticket) {
            // The head had overtaken the borrower and was sent no fail; now it is overtaken.
            fail(head, out);
        }
        self.waiting.insert(of.ticket, entry);
        self.inquire(out);
    }

    /// Takes the permission back from a request that keeps waiting.
    pub(super) fn on_yield(&mut self, site: &Shared, of: Try, out: &mut Out<LedgerPool>) {
        if !self.is_lent_to(of) {
            return out.ignore("the loan is over already");
        }
        // It will know everything that it was told up to now before the next loan begins.
        let known = self.journal.version();
        self.waiting.insert(of.ticket, Entry { of, known, inquired: false });
        self.take_back(site, out);
    }

    /// A request is over, or withdraws this try: it gives the permission back or waits no longer.
    pub(super) fn on_cancel(&mut self, site: &Shared, of: Try, out: &mut Out<LedgerPool>) {
        if self.is_lent_to(of) {
            self.take_back(site, out);
        } else if self.waiting.get(&of.ticket).is_some_and(|entry| entry.of == of) {
            self.waiting.remove(&of.ticket);
        } else {
            out.ignore("the request is over already");
        }
    }

    /// L2: callers of the borrower are inside, and the permission is back. Both come in one
    /// message, so there is no moment at which it could be lent without them.
    pub(super) fn on_enter(
        &mut self,
        site: &mut Shared,
        of: Try,
        callers: Vec<(Ticket, BTreeSet<u32>)>,
        floor: Fence,
        out: &mut Out<LedgerPool>,
    ) -> Result<(), Violation> {
        if !self.is_lent_to(of) {
            return Err(Violation::NotHolder(of.ticket));
        }
        site.raise_floor(floor, out);
        for (ticket, numbers) in callers {
            self.journal.change(site, Change::Join(ticket, numbers));
        }
        self.take_back(site, out);
        Ok(())
    }

    /// The permission is back: what waited for that counts now (L4), and the next request gets it.
    pub(super) fn take_back(&mut self, site: &Shared, out: &mut Out<LedgerPool>) {
        self.lock = None;
        self.acknowledge_all(out);
        self.lend_to_head(site, out);
    }

    pub(super) fn lend_to_head(&mut self, site: &Shared, out: &mut Out<LedgerPool>) {
        if let Some((_, head)) = self.waiting.pop_first() {
            self.lend(site, head, out);
        }
    }

    fn lend(&mut self, site: &Shared, entry: Entry, out: &mut Out<LedgerPool>) {
        assert!(!site.quarantined, "I9: a restarted site lends nothing in its quarantine");
        let (of, to) = (entry.of, entry.of.ticket.site);
        assert!(site.session_of(to).is_some(), "I1: a borrower has a session here");
        assert!(self.pending.is_empty(), "a loan carries all registrations");
        self.lock = Some(entry);
        let mut updates = self.journal.updates(entry.known);
        let update = updates.pop().expect("an update has a last part");
        for update in updates {
            out.send(to, Message::Part { update });
        }
        let fences = Fences { floor: site.floor(), ceil: site.ceil() };
        out.send(to, Message::Reply { of, update, fences, clock: site.clock.time() });
    }

    /// Sends the borrower an inquire, once, if the first waiter goes before it.
    fn inquire(&mut self, out: &mut Out<LedgerPool>) {
        let Some((&head, _)) = self.waiting.first_key_value() else { return };
        if let Some(borrower) = &mut self.lock
            && head < borrower.of.ticket
            && !borrower.inquired
        {
            borrower.inquired = true;
            out.send(borrower.of.ticket.site, Message::Inquire { of: borrower.of });
        }
    }

    pub(super) fn is_lent_to(&self, of: Try) -> bool {
        self.lock.is_some_and(|borrower| borrower.of == of)
    }
}

fn fail(of: Try, out: &mut Out<LedgerPool>) {
    out.send(of.ticket.site, Message::Fail { of });
}
