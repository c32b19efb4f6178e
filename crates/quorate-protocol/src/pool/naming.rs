//! The requester half when units have numbers: a round of names, after the permissions.
//!
//! The members of the quorum are asked one by one, in increasing order of their sites. Asking all
//! at once would be safe too, but two requests could refuse each other for ever.

use std::collections::BTreeSet;

use quorate_quorum::SiteId;

use super::request::{Permission, Request};
use super::requester::Requester;
use super::{Message, Pool};
use crate::{Fences, Out, Shared, Ticket};

/// What is known of the names at one arbiter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Names {
    /// What it has to say to our present choice.
    answer: Answer,
    /// How many answers to former choices are still to come before that one's.
    void: u32,
    /// Whether it may have noted some choice of ours.
    noted: bool,
    /// What others had named there when it refused.
    taken: BTreeSet<u32>,
    /// Whether it asked for its units while we named ours.
    pub(super) recalled: bool,
}

/// What an arbiter says to a choice of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Answer {
    /// It was not asked.
    #[default]
    None,
    /// It was asked, and has not agreed.
    Asked,
    /// It has noted them.
    Agreed,
}

impl Names {
    /// What there is to know at first. An arbiter that is asked from inside lends with our names
    /// noted.
    pub(super) fn new(inside: bool) -> Self {
        let answer = if inside { Answer::Agreed } else { Answer::None };
        Self { answer, ..Self::default() }
    }

    /// The units were given back, and with them goes what was noted.
    pub(super) fn give_back(&mut self) {
        self.forget_choice();
        self.noted = false;
    }

    /// Whatever is answered from now on to what was asked before is void.
    fn forget_choice(&mut self) {
        self.void += u32::from(self.answer == Answer::Asked);
        self.answer = Answer::None;
    }

    /// The arbiter knows which units are ours.
    pub(super) fn agree(&mut self) {
        self.answer = Answer::Agreed;
    }

    /// Whether the arbiter knows which units are ours.
    pub(super) fn is_agreed(&self) -> bool {
        self.answer == Answer::Agreed
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
        permission.names.agree();
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
        let inside = self.request(ticket).is_some_and(|request| request.inside.is_some());
        let Some(permission) = self.answered(arbiter, ticket, out) else { return };
        if inside {
            // It is not asked again, and does not count.
            return out.ignore("it is inside without that permission");
        }
        permission.names.taken.clone_from(by_others);
        permission.names.answer = Answer::None;
        let request = self.request(ticket).expect("it was there a moment ago");
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
        let next = held.find(|(_, permission)| !permission.names.is_agreed());
        let Some((&arbiter, permission)) = next else { return true };
        if permission.names.answer == Answer::None {
            permission.names.answer = Answer::Asked;
            permission.names.noted = true;
            let (ticket, numbers) = (self.ticket, self.choice.clone().unwrap_or_default());
            out.send(arbiter, Message::Name { ticket, numbers });
        }
        false
    }

    /// Withdraws its names: it does not have all it needs any more, and others may need them. Who
    /// was asked to give back meanwhile, and was about to enter, answers now.
    /// Scenario: `pool/session_recalled_while_naming`.
    pub(super) fn unname(&mut self, out: &mut Out<Pool>) {
        if self.choice.take().is_none() {
            return;
        }
        let ticket = self.ticket;
        for (&arbiter, permission) in self.permissions.iter_mut() {
            permission.names.forget_choice();
            if std::mem::take(&mut permission.names.recalled) {
                permission.give_back(arbiter, ticket, out);
            } else if permission.held && std::mem::take(&mut permission.names.noted) {
                out.send(arbiter, Message::Name { ticket, numbers: BTreeSet::new() });
            }
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
