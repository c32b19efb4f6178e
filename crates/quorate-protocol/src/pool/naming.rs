//! The requester half when units have numbers: a round of names, after the permissions.
//!
//! The members of the quorum are asked one by one, in increasing order of their sites. Asking all at
//! once would be safe too, but two requests could refuse each other for ever.

use std::collections::BTreeSet;

use quorate_quorum::SiteId;

use super::request::{Permission, Request};
use super::requester::Requester;
use super::{Message, Pool};
use crate::{Fences, Out, Shared, Ticket};

/// What is known of the names at one arbiter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Names {
    /// Whether it was asked to note our present choice, and has not answered yet.
    asked: bool,
    /// How many answers to former choices are still to come before that one's.
    void: u32,
    /// Whether it has noted our present choice.
    pub(super) agreed: bool,
    /// Whether it may have noted some choice of ours.
    noted: bool,
    /// What others had named there when it refused.
    taken: BTreeSet<u32>,
}

impl Names {
    /// What there is to know at first. An arbiter that is asked from inside lends with our names
    /// noted.
    pub(super) fn new(inside: bool) -> Self {
        Self { agreed: inside, ..Self::default() }
    }

    /// The units were given back, and with them goes what was noted.
    pub(super) fn give_back(&mut self) {
        self.forget_choice();
        self.noted = false;
    }

    /// Whatever is answered from now on to what was asked before is void.
    fn forget_choice(&mut self) {
        self.void += u32::from(std::mem::take(&mut self.asked));
        self.agreed = false;
    }
}

impl Requester {
    /// An arbiter has noted our choice.
    pub(super) fn on_named(
        &mut self,
        site: &Shared,
        (arbiter, ticket): (SiteId, Ticket),
        fences: Fences,
        out: &mut Out<Pool>,
    ) {
        let Some(permission) = self.answered(arbiter, ticket, out) else { return };
        permission.names.agreed = true;
        permission.names.asked = false;
        permission.raise_fences(fences);
        self.try_to_enter(site, ticket.claim, out);
    }

    /// An arbiter knows of others who have some of our choice: chooses again, from the first
    /// member on.
    pub(super) fn on_taken(
        &mut self,
        site: &Shared,
        (arbiter, ticket): (SiteId, Ticket),
        by_others: &BTreeSet<u32>,
        out: &mut Out<Pool>,
    ) {
        let Some(permission) = self.answered(arbiter, ticket, out) else { return };
        permission.names.taken.clone_from(by_others);
        let request = self.requests.get_mut(&ticket.claim).expect("it was there a moment ago");
        if request.inside.is_some() {
            return out.ignore("it is inside without that permission");
        }
        if let Some(permission) = request.permissions.get_mut(&arbiter) {
            permission.names.asked = false;
        }
        request.choose_again(by_others);
        self.try_to_enter(site, ticket.claim, out);
    }

    /// The permission whose arbiter has answered our present choice.
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
        if permission.names.void > 0 || !naming {
            permission.names.void = permission.names.void.saturating_sub(1);
            out.ignore("another choice was made since");
            return None;
        }
        Some(permission)
    }
}

impl Request {
    /// Whether it gives nothing back any more: it has all it needs, and its names will be noted.
    pub(super) fn is_settled(&self) -> bool {
        self.inside.is_some() || self.choice.is_some()
    }

    /// The numbers it has chosen, or none if it needs none.
    pub(super) fn numbers(&self) -> BTreeSet<u32> {
        self.choice.clone().unwrap_or_default()
    }

    /// Whether all that lent to it agree on which units it means. If not, asks the next.
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
        let next = held.find(|(_, permission)| !permission.names.agreed);
        let Some((&arbiter, permission)) = next else { return true };
        if !permission.names.asked {
            permission.names.asked = true;
            permission.names.noted = true;
            let (ticket, numbers) = (self.ticket, self.choice.clone().unwrap_or_default());
            out.send(arbiter, Message::Name { ticket, numbers });
        }
        false
    }

    /// Withdraws its names: it does not have all it needs any more, and others may need them.
    pub(super) fn unname(&mut self, out: &mut Out<Pool>) {
        if self.choice.take().is_none() {
            return;
        }
        let (ticket, numbers) = (self.ticket, BTreeSet::new());
        for (&arbiter, permission) in self.permissions.iter_mut() {
            if permission.held && std::mem::take(&mut permission.names.noted) {
                out.send(arbiter, Message::Name { ticket, numbers: numbers.clone() });
            }
            permission.names.forget_choice();
        }
    }

    /// Chooses other numbers, now that some were refused.
    fn choose_again(&mut self, refused: &BTreeSet<u32>) {
        for (_, permission) in self.permissions.iter_mut() {
            permission.names.forget_choice();
        }
        let choice = self.choose(refused);
        self.choice = Some(choice);
    }

    /// The lowest numbers that are not known to be taken. What an arbiter said earlier may be over,
    /// so if too few are left, only what was `refused` just now counts: whoever lent to us has
    /// enough for us.
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
        assert_eq!(bold.len(), count, "who lent to us has enough for us");
        bold
    }
}
