//! Changes to inputs.

use quorate_quorum::{SiteId, SiteSet};

use super::{Mutant, Mutation};
use crate::ledger::known::Change;
use crate::ledger::{Grant, LedgerPool, Message};
use crate::{ClaimId, Effect, Input, Out, Shared};

impl Mutant {
    /// Changes an input as the mutation requires; `None` if it has been handled.
    pub(super) fn mutate(
        &mut self,
        site: &mut Shared,
        input: Input<LedgerPool>,
        out: &mut Out<LedgerPool>,
    ) -> Option<Input<LedgerPool>> {
        match (self.undone, &input) {
            (Mutation::NoSpares, Input::Expire(_)) | (Mutation::NoQuarantine, Input::Cleared) => {
                return None;
            }
            (Mutation::LocalTurn, &Input::Release(id)) if self.hand_over(site, id, out) => {
                return None;
            }
            (Mutation::LeftAcked, Input::Release(id)) => {
                if let Some(stay) = self.pool.requester.stays.get_mut(id) {
                    stay.registrars.retain(|_, &counts| counts);
                }
            }
            (Mutation::LedgerForgotten, Input::Closed(_)) => {
                self.pool.arbiter.journal.ledger.entries.clear();
                self.pool.arbiter.pending.clear();
            }
            (Mutation::FloorKept, &Input::Closed(client)) => {
                let floor = site.floor();
                self.pool.arbiter.on_closed(site, client, out);
                site.keep_floor(floor);
                for effect in out.iter_mut() {
                    if let Effect::Send(_, Message::Reply { fences, .. }) = effect {
                        fences.floor = floor;
                    }
                }
                return None;
            }
            (_, Input::Deliver(from, message)) => {
                let message = self.mutate_message(site, *from, message.clone())?;
                return Some(Input::Deliver(*from, message));
            }
            _ => {}
        }
        Some(input)
    }

    /// Changes a message; `None` if it is dropped.
    fn mutate_message(
        &mut self,
        site: &mut Shared,
        from: SiteId,
        mut message: Message,
    ) -> Option<Message> {
        match (self.undone, &mut message) {
            (Mutation::NoLedger, Message::Reply { update, .. }) => update.changes.clear(),
            (Mutation::MergedLedgers, Message::Gone { closed, .. }) => *closed = false,
            (Mutation::KnowledgeKept, Message::Reply { update, .. }) => {
                self.kept.remove(&from);
                for (&ticket, numbers) in self.kept.values().flatten() {
                    if update.changes.iter().all(|change| change.ticket() != ticket) {
                        update.changes.push(Change::Join(ticket, numbers.clone()));
                    }
                }
            }
            (Mutation::KnowledgeKept, Message::Gone { about, closed: false, .. }) => {
                self.kept.values_mut().for_each(|entries| drop(entries.remove(about)));
            }
            (Mutation::AckUnnamed, Message::Ack { about, session, .. }) => {
                *session = site.session_of(about.site).unwrap_or(*session);
            }
            (
                Mutation::NoTry,
                Message::Reply { of, .. }
                | Message::Fail { of }
                | Message::Inquire { of }
                | Message::Joined { of, .. },
            ) => {
                let request = self.pool.requester.request.as_ref();
                let same = request.filter(|request| request.of.ticket == of.ticket);
                match same {
                    Some(request) if request.permissions.contains_key(&from) => *of = request.of,
                    _ => of.number = 0,
                }
            }
            (Mutation::InquiriesCleared, Message::Reply { of, .. }) => {
                let request = self.pool.requester.request.as_mut();
                if let Some(request) = request.filter(|request| request.of == *of) {
                    let mut held: SiteSet = request.held().collect();
                    held.insert(from);
                    if site.is_quorum(&held) {
                        let all = request.permissions.iter_mut();
                        all.for_each(|(_, permission)| permission.inquired = false);
                    }
                }
            }
            (Mutation::DoorDeaf, Message::Inquire { .. }) => {
                let request = self.pool.requester.request.as_ref();
                if request.is_some_and(|request| request.has_quorum(site)) {
                    return None;
                }
            }
            (Mutation::NoQuarantine, _) => site.quarantined = false,
            (Mutation::ClockUntold, Message::Reply { clock, .. }) => *clock = 0,
            _ => {}
        }
        Some(message)
    }

    /// `LocalTurn`: the next caller of this site takes over units, registration and all, with the
    /// next fence.
    fn hand_over(&mut self, site: &Shared, id: ClaimId, out: &mut Out<LedgerPool>) -> bool {
        let requester = &mut self.pool.requester;
        let Some(&next) = requester.order.first() else { return false };
        let (Some(stay), Some(fence)) = (requester.stays.get(&id), self.fences.get(&id)) else {
            return false;
        };
        let caller = requester.waiting[&next.claim];
        if stay.numbers.len() != caller.units.count as usize {
            return false;
        }
        let (ticket, units, fence) = (caller.ticket, caller.units, fence.next());
        let numbers = if caller.numbered { stay.numbers.clone() } else { [].into() };
        let stay = requester.stays.remove(&id).expect("it was found just above");
        requester.stays.insert(next.claim, stay);
        requester.waiting.remove(&next.claim);
        requester.order.remove(&next);
        if let Some(mut request) = requester.request.take_if(|request| request.of.ticket == next) {
            request.cancel(site, out);
            requester.forget_short_ledgers();
        }
        requester.ask_for_next(site, out);
        out.grant(next.claim, Grant { ticket, units, numbers, fence });
        true
    }
}
