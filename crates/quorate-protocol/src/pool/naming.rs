//! Units with numbers: once a request has a quorum of permissions, it names its units there.
//!
//! Any two quorums intersect, so a unit that is named at all members of a quorum belongs to one
//! request. The members are asked one by one, in increasing order of their sites: if all were
//! asked at once, two requests could refuse each other for ever. `docs/protocols/pool.md`, section
//! "Units with numbers", has the details.

use std::collections::BTreeSet;

use quorate_quorum::SiteId;

use super::arbiter::Arbiter;
use super::permission::Permission;
use super::queue::Entry;
use super::request::Request;
use super::requester::Requester;
use super::{Message, Pool};
use crate::{Fences, Out, Shared, Ticket, Violation};

/// The state of the naming round at one arbiter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct NamingState {
    /// Its answer to our present choice.
    answer: Answer,
    /// How many answers to former choices are still to come first.
    stale: u32,
    /// Whether it may have recorded a choice of ours.
    recorded: bool,
    /// The units that others had named there when it refused.
    taken: BTreeSet<u32>,
    /// Whether it sent a cancel during the naming round.
    pub(super) recalled: bool,
}

/// An arbiter's answer to a choice of units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Answer {
    /// It was not asked.
    #[default]
    None,
    /// It was asked, and has not agreed.
    Asked,
    /// It has recorded the choice.
    Agreed,
}

impl NamingState {
    /// The initial state. An arbiter that is asked from inside records our units when it lends.
    pub(super) fn new(inside: bool) -> Self {
        let answer = if inside { Answer::Agreed } else { Answer::None };
        Self { answer, ..Self::default() }
    }

    /// The loan was given back, and the arbiter has dropped our choice.
    pub(super) fn give_back(&mut self) {
        self.forget_choice();
        self.recorded = false;
    }

    /// Drops the present choice; an answer to it that is still to come is stale.
    fn forget_choice(&mut self) {
        self.stale += u32::from(self.answer == Answer::Asked);
        self.answer = Answer::None;
    }

    /// The arbiter has recorded our units.
    pub(super) fn agree(&mut self) {
        self.answer = Answer::Agreed;
    }

    /// Whether the arbiter has recorded our units.
    pub(super) fn is_agreed(&self) -> bool {
        self.answer == Answer::Agreed
    }
}

impl Requester {
    /// An arbiter has recorded our choice.
    pub(super) fn on_named(
        &mut self,
        site: &Shared,
        arbiter: SiteId,
        ticket: Ticket,
        fences: Fences,
        out: &mut Out<Pool>,
    ) {
        let Some(permission) = self.answered(arbiter, ticket, out) else { return };
        permission.names.agree();
        permission.raise_fences(fences);
        self.try_to_enter(site, ticket.claim, out);
    }

    /// Another request has named one of our units: chooses again, and starts at the first arbiter.
    pub(super) fn on_taken(
        &mut self,
        site: &Shared,
        arbiter: SiteId,
        ticket: Ticket,
        by_others: &BTreeSet<u32>,
        out: &mut Out<Pool>,
    ) -> Result<(), Violation> {
        // A lender has enough units for us.
        let left = |request: &Request| request.units.of as usize - request.units.count as usize;
        if self.request(ticket).is_some_and(|request| by_others.len() > left(request)) {
            return Err(Violation::Numbers(ticket));
        }
        let inside = self.request(ticket).is_some_and(|request| request.inside.is_some());
        let Some(permission) = self.answered(arbiter, ticket, out) else { return Ok(()) };
        if inside {
            // That arbiter is not asked again, and its permission does not count.
            out.ignore("it is inside without that permission");
            return Ok(());
        }
        permission.names.taken.clone_from(by_others);
        permission.names.answer = Answer::None;
        let request = self.request(ticket).expect("it has a permission");
        request.choose_again(by_others);
        self.try_to_enter(site, ticket.claim, out);
        Ok(())
    }

    /// The permission of an arbiter that has answered our present choice.
    fn answered(
        &mut self,
        arbiter: SiteId,
        ticket: Ticket,
        out: &mut Out<Pool>,
    ) -> Option<&mut Permission> {
        let request = self.request(ticket);
        let naming = request.as_ref().is_some_and(|request| request.choice.is_some());
        let Some(permission) = request.and_then(|r| r.permissions.get_mut(&arbiter)) else {
            out.ignore("the request is over");
            return None;
        };
        if permission.names.stale > 0 || !naming {
            permission.names.stale = permission.names.stale.saturating_sub(1);
            out.ignore("another choice was made since");
            return None;
        }
        Some(permission)
    }
}

impl Request {
    /// The units it has chosen; empty if it has chosen none.
    pub(super) fn numbers(&self) -> BTreeSet<u32> {
        self.choice.clone().unwrap_or_default()
    }

    /// Whether all lenders have recorded its units. If not, asks the next one.
    pub(super) fn is_named(&mut self, out: &mut Out<Pool>) -> bool {
        if !self.numbered {
            return true;
        }
        if self.choice.is_none() {
            self.choice = Some(self.choose(&BTreeSet::new()));
        }
        if !self.needs_names() {
            return true;
        }
        let mut held = self.permissions.iter_mut().filter(|(_, permission)| permission.held);
        let next = held.find(|(_, permission)| !permission.names.is_agreed());
        let Some((&arbiter, permission)) = next else { return true };
        if permission.names.answer == Answer::None {
            permission.names.answer = Answer::Asked;
            permission.names.recorded = true;
            let (ticket, numbers) = (self.ticket, self.choice.clone().unwrap_or_default());
            out.send(arbiter, Message::Name { ticket, numbers });
        }
        false
    }

    /// Withdraws its choice, because it no longer has a quorum of permissions, and answers the
    /// cancels that came during the naming round.
    /// Scenario: `pool/session_recalled_while_naming`.
    pub(super) fn withdraw_names(&mut self, out: &mut Out<Pool>) {
        if self.choice.take().is_none() {
            return;
        }
        let ticket = self.ticket;
        for (&arbiter, permission) in self.permissions.iter_mut() {
            permission.names.forget_choice();
            if std::mem::take(&mut permission.names.recalled) {
                permission.give_back(arbiter, ticket, out);
            } else if permission.held && std::mem::take(&mut permission.names.recorded) {
                out.send(arbiter, Message::Name { ticket, numbers: BTreeSet::new() });
            }
        }
    }

    /// Chooses other units, after some were refused.
    fn choose_again(&mut self, refused: &BTreeSet<u32>) {
        for (_, permission) in self.permissions.iter_mut() {
            permission.names.forget_choice();
        }
        let choice = self.choose(refused);
        self.choice = Some(choice);
    }

    /// The lowest units that are not known to be taken. Earlier refusals may be out of date, so if
    /// too few units are left, only those just `refused` count: a lender always has enough for us.
    fn choose(&mut self, refused: &BTreeSet<u32>) -> BTreeSet<u32> {
        let known: BTreeSet<u32> =
            self.permissions.values().flat_map(|p| &p.names.taken).copied().collect();
        let count = self.units.count as usize;
        let free = |taken: &BTreeSet<u32>| {
            (0..self.units.of).filter(|n| !taken.contains(n)).take(count).collect::<BTreeSet<u32>>()
        };
        let (cautious, bold) = (free(&known), free(refused));
        if cautious.len() == count {
            return cautious;
        }
        for (_, permission) in self.permissions.iter_mut() {
            permission.names.taken.clear();
        }
        assert_eq!(bold.len(), count, "a lender has enough units for us");
        bold
    }
}

impl Arbiter {
    /// Whether a request for so many units can have these, or none.
    pub(super) fn check_named(
        &self,
        ticket: Ticket,
        units: u32,
        numbers: &BTreeSet<u32>,
    ) -> Result<(), Violation> {
        let exist = numbers.last().is_none_or(|&last| last < self.units);
        let as_many = numbers.is_empty() || numbers.len() == units as usize;
        if exist && as_many { Ok(()) } else { Err(Violation::Numbers(ticket)) }
    }

    /// Records the units of a request, or refuses them because others have named some of them.
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
        let Entry { units, attempt, .. } = *self.queue.at(place);
        self.check_named(ticket, units, &numbers)?;
        let by_others = self.queue.named_by_others(ticket);
        if !by_others.is_disjoint(&numbers) {
            out.send(ticket.site, Message::Taken { ticket, by_others, attempt });
            return Ok(());
        }
        if !numbers.is_empty() {
            let fences = Fences { floor: site.floor(), ceil: site.ceil() };
            out.send(ticket.site, Message::Named { ticket, fences, attempt });
        }
        self.queue.at_mut(place).numbers = numbers;
        self.check_numbers(place);
        // A request from inside may wait for the units it had named before.
        self.new_chance(site, out);
        Ok(())
    }
}
