//! The arbiter half: lends the units of the pool, as if they were all its own.
//!
//! Manabe & Tajima, figure 1; the names of its procedures stand at ours.

use std::collections::BTreeSet;

use quorate_quorum::SiteId;

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
    /// The requests it has lent to and those that wait, by priority.
    pub(super) queue: Queue,
    /// The requests that are over, where a message of theirs may still come. It never shrinks:
    /// that is one more reason for sessions.
    pub(super) done: BTreeSet<Ticket>,
}

impl Arbiter {
    pub(super) fn new(units: u32, options: Options) -> Self {
        Self { options, units, free: units, queue: Queue::default(), done: BTreeSet::new() }
    }

    /// Queues a request, and lends to it if it and all before it fit; then asks those back that do
    /// not fit any more.
    pub(super) fn on_request(&mut self, site: &Shared, entry: Entry, out: &mut Out<Pool>) {
        if self.done.contains(&entry.ticket) {
            return out.ignore("the request is over already");
        }
        if self.queue.contains(entry.ticket) {
            return out.ignore("the request is known already");
        }
        let place = self.queue.insert(entry);
        let fits = self.has_room(place) && self.is_in_prefix(place);
        // Whatever is free belongs to a request from inside that waits in front of it.
        let urgent = place > 0 && self.queue.is_urgent_up_to(place - 1);
        if fits && !urgent && !site.quarantined {
            self.lend(site, place, out);
        }
        self.recall(out);
    }

    /// Takes back what was asked for, and lends it to the best.
    ///
    /// **Deviation.** The paper does not look at the entry: what crosses a release, or comes twice,
    /// would return units that are back already (E1).
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

    /// Forgets a request that has left or was given up, and lends what it had to the best.
    ///
    /// **Deviation.** The paper returns its units without asking whether it has any (E5): wrong for
    /// a request that was given up. And one that did not fit may have stood in the way of others,
    /// so they get a chance in any case. Scenario: `pool/e5_giving_up_while_waiting`.
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

    /// The session of `client` is over here, and with it what we lent to it.
    pub(super) fn on_closed(&mut self, site: &mut Shared, client: SiteId, out: &mut Out<Pool>) {
        let gone = self.queue.remove_site(client);
        if gone.is_empty() {
            return out.ignore("it had nothing here");
        }
        let lent = gone.iter().map(Entry::lent).sum();
        self.take_back(lent);
        if lent > 0 {
            site.skip_fences(out);
        }
        self.new_chance(site, out);
    }

    /// The quarantine after a restart is over.
    pub(super) fn on_cleared(&mut self, site: &Shared, out: &mut Out<Pool>) {
        self.new_chance(site, out);
    }

    /// Lends what is free, the best request first; the paper's `NewChance`.
    ///
    /// It stops at the first that does not fit: going on would starve it, and let requests in that
    /// wait for each other (N1). Passing it by is harmless where there is room for both.
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

    /// Whether there are enough units for the request at this place; and the ones it has, if it is
    /// inside with numbered ones.
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
        assert!(!site.quarantined, "a restarted site lends nothing in its quarantine");
        assert!(self.is_in_prefix(place), "I2: who is lent to fits together with all before it");
        self.hand_out(site, place, out);
    }

    pub(super) fn hand_out(&mut self, site: &Shared, place: usize, out: &mut Out<Pool>) {
        let entry = self.queue.at_mut(place);
        let session = site.session_of(entry.ticket.site);
        assert!(session == Some(entry.session), "who is lent to has a session here");
        entry.status = Status::Ok;
        entry.number = entry.number.next();
        let ok = Message::Ok {
            ticket: entry.ticket,
            number: entry.number,
            fences: Fences { floor: site.floor(), ceil: site.ceil() },
            clock: site.clock.time(),
        };
        out.send(entry.ticket.site, ok);
        let units = entry.units;
        self.free = self.free.checked_sub(units).expect("I1: only what is free is lent");
        self.check_units();
        self.check_numbers(place);
    }

    fn take_back(&mut self, units: u32) {
        self.free += units;
        self.check_units();
    }

    fn check_units(&self) {
        let all = self.free + self.queue.units_lent();
        assert_eq!(all, self.units, "I1: every unit is free or lent, and none is both");
    }

    /// What a request has named is nobody else's.
    pub(super) fn check_numbers(&self, place: usize) {
        let Entry { ticket, numbers, .. } = self.queue.at(place);
        let apart = numbers.is_empty() || self.queue.named_by_others(*ticket).is_disjoint(numbers);
        assert!(apart, "I4: no unit is named by two that have units");
    }

    /// Asks everybody who is outside the prefix to give back.
    ///
    /// Who waits for a replacement while it is inside may need more: we cannot know who of the
    /// others is inside, so all but those from inside are asked, and those that wait answer.
    fn recall(&mut self, out: &mut Out<Pool>) {
        let urgent = self.queue.is_urgent_up_to(self.queue.len());
        let (units, mut wanted) = (u64::from(self.units), 0);
        for entry in self.queue.iter_mut() {
            wanted += u64::from(entry.units);
            let outside = urgent || wanted > units;
            if outside && !entry.held && entry.status == Status::Ok {
                entry.status = Status::Cancel;
                let (ticket, number) = (entry.ticket, entry.number);
                out.send(ticket.site, Message::Cancel { ticket, number });
            }
        }
    }
}
