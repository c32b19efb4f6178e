//! Changes to the state and to the effects after a step.

use super::{Mutant, Mutation};
use crate::ledger::{LedgerPool, Message, Try};
use crate::{Effect, Input, Out, Shared, Ticket};

impl Mutant {
    /// Changes the state and the effects after a step, as the mutation requires.
    pub(super) fn mutate_after(
        &mut self,
        site: &Shared,
        before: &LedgerPool,
        input: &Input<LedgerPool>,
        out: &mut Out<LedgerPool>,
    ) {
        match (self.undone, input) {
            (Mutation::EarlyCounted, _) => {
                for stay in self.pool.requester.stays.values_mut() {
                    stay.registrars.iter_mut().for_each(|(_, counts)| *counts = true);
                }
            }
            (
                Mutation::AckUntold | Mutation::AckAtOnce,
                Input::Deliver(_, Message::Register { ticket, .. }),
            ) if !site.quarantined => {
                self.acknowledge(*ticket, out);
            }
            (Mutation::QuarantineAcks, Input::Deliver(_, Message::Register { ticket, .. }))
                if site.quarantined =>
            {
                self.acknowledge(*ticket, out);
            }
            (Mutation::LossUnnoticed, Input::Lost(_)) => self.take_back_losses(before, out),
            (Mutation::NoWithdrawal, Input::Lost(peer)) => {
                let withdrawn = |pool: &LedgerPool| {
                    pool.requester.request.as_ref().is_none_or(|r| r.permissions.is_empty())
                };
                if withdrawn(&self.pool) && !withdrawn(before) {
                    let requester = &mut self.pool.requester;
                    requester.request.clone_from(&before.requester.request);
                    requester.ledgers.clone_from(&before.requester.ledgers);
                    requester.ledgers.remove(peer);
                    if let Some(request) = &mut requester.request {
                        request.permissions.remove(peer);
                    }
                    out.retain(|e| !matches!(e, Effect::Send(_, Message::Cancel { .. })));
                }
            }
            (Mutation::KnowledgeKept, _) => self.keep_knowledge(before, input, out),
            (Mutation::LedgerKept, Input::Closed(client)) => {
                let entries = before.arbiter.journal.ledger.entries.clone().into_iter();
                let theirs = entries.filter(|(ticket, _)| ticket.site == *client);
                self.pool.arbiter.journal.ledger.entries.extend(theirs);
                out.retain(|e| !matches!(e, Effect::Send(_, Message::Gone { .. })));
            }
            _ => {}
        }
    }

    /// Changes the effects alone.
    pub(super) fn mutate_effects(&mut self, out: &mut Out<LedgerPool>) {
        for effect in out.iter() {
            if let Effect::Grant(id, grant) = effect
                && self.undone == Mutation::LocalTurn
            {
                self.fences.insert(*id, grant.fence);
            }
        }
        match self.undone {
            Mutation::CeilVolatile => out.retain(|e| !matches!(e, Effect::Persist(_))),
            Mutation::AckUntold => {
                out.retain(|e| !matches!(e, Effect::Send(_, Message::Joined { .. })));
            }
            Mutation::LeftUntold => {
                out.retain(|e| !matches!(e, Effect::Send(_, Message::Gone { closed: false, .. })));
            }
            Mutation::SplitEnter => split_enter(out),
            Mutation::NoTry => {
                for effect in out.iter_mut() {
                    if let Effect::Send(
                        _,
                        Message::Request { of, .. }
                        | Message::Yield { of }
                        | Message::Cancel { of }
                        | Message::Enter { of, .. }
                        | Message::Ack { of, .. },
                    ) = effect
                    {
                        *of = Try { number: 1, ..*of };
                    }
                }
            }
            _ => {}
        }
    }

    fn acknowledge(&mut self, ticket: Ticket, out: &mut Out<LedgerPool>) {
        if self.pool.arbiter.pending.remove(&ticket) {
            out.send(ticket.site, Message::Registered { ticket });
        }
    }

    /// `LossUnnoticed`: all callers are still inside, with the registrations they had.
    fn take_back_losses(&mut self, before: &LedgerPool, out: &mut Out<LedgerPool>) {
        self.pool.requester.stays.clone_from(&before.requester.stays);
        out.retain(|effect| {
            let sent =
                matches!(effect, Effect::Send(_, Message::Left { .. } | Message::Register { .. }));
            !sent && !matches!(effect, Effect::Lose(..))
        });
    }

    /// `KnowledgeKept`: keeps the ledgers of permissions that were yielded or lost.
    fn keep_knowledge(
        &mut self,
        before: &LedgerPool,
        input: &Input<LedgerPool>,
        out: &Out<LedgerPool>,
    ) {
        let of = |pool: &LedgerPool| pool.requester.request.as_ref().map(|r| r.of.ticket);
        if of(&self.pool) != of(before) {
            self.kept.clear();
        }
        let yielded = out.iter().filter_map(|effect| match effect {
            Effect::Send(to, Message::Yield { .. }) => Some(*to),
            _ => None,
        });
        let lost = if let Input::Lost(peer) = input { Some(*peer) } else { None };
        for arbiter in yielded.chain(lost) {
            if let Some(ledger) = before.requester.ledgers.get(&arbiter) {
                self.kept.insert(arbiter, ledger.entries.clone());
            }
        }
    }
}

/// `SplitEnter`: the permission goes back first, and the callers register in messages of their own.
fn split_enter(out: &mut Out<LedgerPool>) {
    for effect in out.drain().collect::<Vec<_>>() {
        match effect {
            Effect::Send(to, Message::Enter { of, callers, floor }) => {
                out.send(to, Message::Enter { of, callers: Vec::new(), floor });
                for (ticket, numbers) in callers {
                    out.send(to, Message::Register { ticket, numbers });
                }
            }
            other => out.push(other),
        }
    }
}
