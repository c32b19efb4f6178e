//! The arbiter half when units have numbers: who has named which.
//!
//! Any two quorums meet, so a unit that is named at all members of a quorum is nobody else's. The
//! names of two requests never overlap at an arbiter that has lent to both.

use std::collections::BTreeSet;

use super::arbiter::Arbiter;
use super::{Message, Pool};
use crate::{Fences, Out, Shared, Ticket, Violation};

impl Arbiter {
    /// Notes which units a request means, or says which are taken.
    pub(super) fn on_name(
        &mut self,
        site: &Shared,
        ticket: Ticket,
        numbers: BTreeSet<u32>,
        out: &mut Out<Pool>,
    ) -> Result<(), Violation> {
        let place = self.queue.iter().position(|entry| entry.ticket == ticket && !entry.waits());
        let Some(place) = place else {
            out.ignore("it has no units here");
            return Ok(());
        };
        let asked = usize::try_from(self.queue.at(place).units).expect("a small number");
        let exist = numbers.last().is_none_or(|&last| last < self.units);
        if !exist || !(numbers.is_empty() || numbers.len() == asked) {
            return Err(Violation::Numbers(ticket));
        }
        let by_others = self.queue.named_by_others(ticket);
        if !by_others.is_disjoint(&numbers) {
            out.send(ticket.site, Message::Taken { ticket, by_others });
            return Ok(());
        }
        if !numbers.is_empty() {
            let fences = Fences { floor: site.floor(), ceil: site.ceil() };
            out.send(ticket.site, Message::Named { ticket, fences });
        }
        self.queue.at_mut(place).numbers = numbers;
        self.check_numbers(place);
        // What it meant before may be what a request from inside has.
        self.new_chance(site, out);
        Ok(())
    }
}
