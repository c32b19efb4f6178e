//! The half that votes.

use std::collections::BTreeMap;

use quorate_protocol::Ticket;
use quorate_protocol::group::Group;

use super::{Message, Sends};

/// Votes for requests of one group at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Manager {
    undone: Option<&'static str>,
    votes: Option<Votes>,
    waiting: BTreeMap<Ticket, Group>,
}

/// The votes of a manager.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Votes {
    group: Group,
    /// The request that was voted for first. While it has the vote, others may join.
    first: Ticket,
    /// The requests that have the vote, and whether it was withdrawn.
    holders: BTreeMap<Ticket, bool>,
}

impl Manager {
    pub(super) fn new(undone: Option<&'static str>) -> Self {
        Self { undone, votes: None, waiting: BTreeMap::new() }
    }

    pub(super) fn is_vacant(&self) -> bool {
        self.votes.is_none() && self.waiting.is_empty()
    }

    pub(super) fn lent(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.votes.iter().flat_map(|votes| votes.holders.keys().copied())
    }

    pub(super) fn waiting(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.waiting.keys().copied()
    }

    /// Votes for the first request, and for later ones of the same group while it is inside.
    pub(super) fn on_request(&mut self, ticket: Ticket, group: Group, sends: &mut Sends) {
        let Some(votes) = &mut self.votes else {
            self.waiting.insert(ticket, group);
            return self.open(sends);
        };
        let alike = votes.group == group || self.undone == Some("vote");
        if alike && votes.holders.contains_key(&votes.first) {
            self.vote(ticket, sends);
        } else {
            self.waiting.insert(ticket, group);
        }
        self.withdraw_votes(sends);
    }

    /// A holder that is not inside has given the vote back.
    pub(super) fn on_cancelled(&mut self, ticket: Ticket, sends: &mut Sends) {
        let group = self.votes.as_ref().map(|votes| votes.group.clone());
        self.waiting.extend(group.map(|group| (ticket, group)));
        self.on_release(ticket, sends);
    }

    pub(super) fn on_release(&mut self, ticket: Ticket, sends: &mut Sends) {
        let votes = self.votes.as_mut().expect("who gives a vote back had one");
        let had = votes.holders.remove(&ticket);
        assert!(had.is_some(), "who gives a vote back had one");
        if votes.holders.is_empty() {
            self.votes = None;
            self.open(sends);
        }
    }

    /// Votes for the first in line, and for all others in line of its group.
    fn open(&mut self, sends: &mut Sends) {
        let Some((&first, group)) = self.waiting.first_key_value() else { return };
        let group = group.clone();
        self.votes = Some(Votes { group: group.clone(), first, holders: BTreeMap::new() });
        let alike = self.waiting.extract_if(.., |_, other| *other == group);
        for ticket in alike.map(|(ticket, _)| ticket).collect::<Vec<_>>() {
            self.vote(ticket, sends);
        }
        self.withdraw_votes(sends);
    }

    fn vote(&mut self, ticket: Ticket, sends: &mut Sends) {
        let votes = self.votes.as_mut().expect("a group is voted for");
        let joined = !votes.holders.is_empty();
        votes.holders.insert(ticket, false);
        sends.push((ticket.site, Message::Ok { ticket, joined }));
    }

    /// Withdraws the vote from all requests behind the first in the queue: if they wait elsewhere
    /// for a vote that it has, they would wait forever.
    fn withdraw_votes(&mut self, sends: &mut Sends) {
        let (Some(votes), Some((head, _))) = (&mut self.votes, self.waiting.first_key_value())
        else {
            return;
        };
        if self.undone == Some("cancel") {
            return;
        }
        for (ticket, called) in votes.holders.range_mut(head..) {
            if !std::mem::replace(called, true) {
                sends.push((ticket.site, Message::Cancel(*ticket)));
            }
        }
    }
}
