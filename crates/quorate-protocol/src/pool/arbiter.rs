//! The arbiter half: lends the units of the pool, as if they were all its own.
//!
//! Handlers cite the events of Manabe & Tajima, figure 1.

use std::collections::BTreeSet;

use super::queue::{Entry, Queue, Status};
use super::{Message, Options, Pool};
use crate::{Fence, Fences, GrantNo, Out, Shared, Ticket};

/// The arbiter half of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Arbiter {
    pub(super) options: Options,
    /// How many units there are; the paper's k.
    pub(super) units: u32,
    /// How many of them are not lent; the paper's x.
    pub(super) free: u32,
    /// The requests that have units or wait for them, by priority.
    pub(super) queue: Queue,
    /// With `unordered`, the requests that are over: a late message of theirs may still arrive. It
    /// never shrinks, which is one more reason for sessions.
    pub(super) done: BTreeSet<Ticket>,
}

impl Arbiter {
    pub(super) fn new(units: u32, options: Options) -> Self {
        Self { options, units, free: units, queue: Queue::default(), done: BTreeSet::new() }
    }

    /// Figure 1, arbiter, *request*: queues a request and lends to it if it fits together with all
    /// before it. Then recalls the units of those that do not fit any more.
    pub(super) fn on_request(&mut self, site: &Shared, entry: Entry, out: &mut Out<Pool>) {
        if self.done.contains(&entry.ticket) {
            return out.ignore("the request is over already");
        }
        if self.queue.contains(entry.ticket) {
            return out.ignore("the request is known already");
        }
        let place = self.queue.insert(entry);
        let fits = self.has_room(place) && self.is_in_prefix(place);
        // Free units are kept for a request from inside that waits in front of it.
        let behind_held = place > 0 && self.queue.has_held_waiter_up_to(place - 1);
        if fits && !behind_held && !site.quarantined {
            self.lend(site, place, out);
        }
        self.recall(out);
    }

    /// Figure 1, arbiter, *cancelled*: takes recalled units back and lends them again.
    ///
    /// **Deviation.** The paper does not check the entry. A *cancelled* that crosses a release, or
    /// arrives twice, would return units that are back already (E1).
    /// Scenario: `pool/e1_cancel_crosses_the_release`.
    pub(super) fn on_cancelled(
        &mut self,
        site: &Shared,
        ticket: Ticket,
        number: GrantNo,
        out: &mut Out<Pool>,
    ) {
        let entry = self.queue.get_mut(ticket);
        let Some(entry) = entry.filter(|e| e.status == Status::Cancel && e.number == number) else {
            return out.ignore("the loan is over already");
        };
        entry.status = Status::Wait;
        entry.numbers.clear();
        let units = entry.units;
        self.take_back(units);
        self.new_chance(site, out);
    }

    /// Figure 1, arbiter, *release*: removes a request that has left or was given up, and lends
    /// its units again.
    ///
    /// **Deviation.** The paper returns units without checking that the request has any (E5), which
    /// is wrong for a request that was given up while waiting. Such a request may have blocked
    /// others, so `new_chance` runs in any case. Scenario: `pool/e5_giving_up_while_waiting`.
    pub(super) fn on_release(
        &mut self,
        site: &mut Shared,
        ticket: Ticket,
        floor: Option<Fence>,
        out: &mut Out<Pool>,
    ) {
        if let Some(floor) = floor {
            site.raise_floor(floor, out);
        }
        if self.options.unordered {
            self.done.insert(ticket);
        }
        let Some(entry) = self.queue.remove(ticket) else {
            return out.ignore("the request is not here, or not any more");
        };
        self.take_back(entry.lent());
        self.new_chance(site, out);
    }

    /// Figure 1, `NewChance`: lends the free units, in the order of the queue.
    ///
    /// It stops at the first request that does not fit. Going on would starve that request, and
    /// could deadlock (N1). With `bypass` it goes on, but only within the prefix.
    pub(super) fn new_chance(&mut self, site: &Shared, out: &mut Out<Pool>) {
        if site.quarantined {
            return;
        }
        for place in 0..self.queue.len() {
            let entry = self.queue.at(place);
            if !entry.waits() {
                continue;
            }
            if self.has_room(place) && self.is_in_prefix(place) {
                self.lend(site, place, out);
            } else if !self.options.bypass || entry.held {
                return;
            }
        }
    }

    /// Whether there are enough free units for the request at this place, and, if it is inside with
    /// numbered units, no other request has named one of them.
    fn has_room(&self, place: usize) -> bool {
        let Entry { units, numbers, ticket, .. } = self.queue.at(place);
        self.free >= *units
            && (numbers.is_empty() || self.queue.named_by_others(*ticket).is_disjoint(numbers))
    }

    /// Whether all requests up to this place fit together.
    pub(super) fn is_in_prefix(&self, place: usize) -> bool {
        self.queue.wanted_up_to(place) <= u64::from(self.units)
    }

    fn lend(&mut self, site: &Shared, place: usize, out: &mut Out<Pool>) {
        assert!(!site.quarantined, "I9: a restarted site lends nothing in its quarantine");
        assert!(self.is_in_prefix(place), "P2: a loan fits together with all requests before it");
        self.lend_unchecked(site, place, out);
    }

    pub(super) fn lend_unchecked(&mut self, site: &Shared, place: usize, out: &mut Out<Pool>) {
        let entry = self.queue.at_mut(place);
        let session = site.session_of(entry.ticket.site);
        assert!(session == Some(entry.session), "I1: a holder has a session here");
        entry.status = Status::Ok;
        entry.number = entry.number.next();
        let ok = Message::Ok {
            ticket: entry.ticket,
            number: entry.number,
            fences: Fences { floor: site.floor(), ceil: site.ceil() },
            clock: site.clock.time(),
            attempt: entry.attempt,
        };
        out.send(entry.ticket.site, ok);
        let units = entry.units;
        self.free = self.free.checked_sub(units).expect("P1: only free units are lent");
        self.check_units();
        self.check_numbers(place);
    }

    pub(super) fn take_back(&mut self, units: u32) {
        self.free += units;
        self.check_units();
    }

    fn check_units(&self) {
        let all = self.free + self.queue.units_lent();
        assert_eq!(all, self.units, "P1: every unit is free or lent, and none is both");
    }

    /// Asserts that no other request has named the units of the request at this place.
    pub(super) fn check_numbers(&self, place: usize) {
        let Entry { ticket, numbers, .. } = self.queue.at(place);
        let apart = numbers.is_empty() || self.queue.named_by_others(*ticket).is_disjoint(numbers);
        assert!(apart, "P4: no unit is named by two holders");
    }

    /// Figure 1, arbiter, *request*: sends a cancel to every holder outside the prefix.
    ///
    /// If a request from inside waits, every holder that is not marked held gets one: the arbiter
    /// cannot know which of them are inside, and those that are not will give back.
    /// Scenario: `pool/session_held_recalls_all`.
    fn recall(&mut self, out: &mut Out<Pool>) {
        let recall_all = self.queue.has_held_waiter_up_to(self.queue.len());
        let (units, mut wanted) = (u64::from(self.units), 0);
        for entry in self.queue.iter_mut() {
            wanted += u64::from(entry.units);
            let outside = recall_all || wanted > units;
            if outside && !entry.held && entry.status == Status::Ok {
                entry.status = Status::Cancel;
                let (ticket, number, attempt) = (entry.ticket, entry.number, entry.attempt);
                out.send(ticket.site, Message::Cancel { ticket, number, attempt });
            }
        }
    }
}
