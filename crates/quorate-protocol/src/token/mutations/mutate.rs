//! What each mutation changes before and after a step.

use std::collections::BTreeMap;

use quorate_quorum::{SiteId, SiteSet};

use super::{Delivered, Mutant, Mutation};
use crate::token::state::{Attempt, Deferred};
use crate::token::{Message, Queue, Reason, State, Timer, TokenLock, Via};
use crate::{Effect, Input, Out, Record, Shared, Tick};

impl Mutant {
    /// Changes an input before the step; `None` if it is dropped.
    pub(super) fn mutate_input(
        &mut self,
        now: Tick,
        input: Input<TokenLock>,
        out: &mut Out<TokenLock>,
    ) -> Option<Input<TokenLock>> {
        if self.undone == Mutation::Restless {
            self.pretend_renewal();
        }
        let waits = self.lock.state() == State::R;
        match (self.undone, input) {
            (Mutation::E16, Input::Expire(Timer::T1))
            | (Mutation::E5, Input::Deliver(_, Message::Hint)) => None,
            (Mutation::RefusalUnheard, Input::Deliver(_, Message::Registered { lease, .. }))
                if lease.is_zero() =>
            {
                None
            }
            (Mutation::NoRetry, input @ Input::Deliver(_, Message::Nack { .. })) => {
                self.lock.pending.iter_mut().for_each(|pending| pending.retried = true);
                Some(input)
            }
            (Mutation::E14, Input::Expire(Timer::T1)) if waits => {
                self.send_copy(out);
                None
            }
            (Mutation::E14, Input::Deliver(_, Message::Token { token, .. }))
                if self.lock.token().is_some() =>
            {
                let held = self.lock.held.as_mut().expect("a token is here");
                held.followers.clear();
                held.token.queue = token.queue;
                None
            }
            (Mutation::E8, Input::Deliver(from, Message::Complete { sn, .. }))
                if self.miscounts(from, sn) =>
            {
                None
            }
            (Mutation::E11 | Mutation::E12, Input::Deliver(from, message)) => {
                Some(Input::Deliver(from, self.mutate_number(from, message)))
            }
            (Mutation::LateToken, input @ Input::Deliver(_, Message::Promise { .. })) => {
                if let Some(attempt) = &mut self.lock.attempt {
                    attempt.sent = now;
                }
                Some(input)
            }
            (_, input) => Some(input),
        }
    }

    /// Removes what was sent to sites that only seemed to be reached.
    pub(super) fn lose_unsent(&self, site: &Shared, out: &mut Out<TokenLock>) {
        let is_carried = |to: SiteId, message: &Message| {
            let by_ours = message.uses_senders_session();
            if by_ours { site.session_at(to).is_some() } else { site.session_of(to).is_some() }
        };
        out.retain(|effect| match effect {
            Effect::Send(to, message) => {
                self.undone != Mutation::OutOfReach || is_carried(*to, message)
            }
            _ => true,
        });
    }

    /// Marks the token's lease as renewed, however little is left of it.
    fn pretend_renewal(&mut self) {
        if let Some(lease) = self.lock.held.as_mut().and_then(|held| held.lease.as_mut()) {
            lease.is_renewed = true;
        }
    }

    /// Sends the saved copy of the token to the first waiter of its queue.
    fn send_copy(&self, out: &mut Out<TokenLock>) {
        if let Some(copy) = &self.copy
            && let Some(front) = copy.queue.next(|_| true)
            && front.site != self.lock.me
        {
            out.send(front.site, Message::Token { token: copy.clone(), until: None });
        }
    }

    /// Rewrites the request number of a message to that of the current request.
    fn mutate_number(&self, from: SiteId, mut message: Message) -> Message {
        let lock = &self.lock;
        match &mut message {
            Message::Start(admission) if self.undone == Mutation::E11 => match &lock.pending {
                Some(pending) if pending.groups.contains(&admission.group) => {
                    admission.sn = pending.sn;
                }
                _ => {}
            },
            _ if self.undone == Mutation::E11 => {}
            Message::IsComplete(admission) => match (&lock.pending, &lock.inside) {
                (Some(pending), _) if pending.groups.contains(&admission.group) => {
                    admission.sn = pending.sn;
                }
                (_, Some(inside)) if inside.via == Via::Follower(from) => admission.sn = inside.sn,
                _ => {}
            },
            Message::Complete { sn, .. } => {
                let held = lock.held.as_ref().and_then(|held| held.followers.get(&from));
                *sn = held.map_or(*sn, |follower| follower.sn);
            }
            _ => {}
        }
        message
    }

    /// Whether the counter of followers stays above zero though the last known follower has left.
    fn miscounts(&mut self, from: SiteId, sn: u64) -> bool {
        let Some(held) = &self.lock.held else { return false };
        if held.followers.get(&from).is_none_or(|follower| follower.sn != sn) {
            return false;
        }
        if self.left.insert(from) {
            self.count -= 1;
        }
        let gone = held.followers.keys().all(|&follower| self.left.contains(follower));
        gone && self.count > 0
    }

    /// Counts the starts of an occupancy.
    fn count_starts(&mut self, out: &mut Out<TokenLock>) {
        for effect in out.iter_mut() {
            self.count += u32::from(matches!(effect, Effect::Send(_, Message::Start(_))));
        }
        if self.lock.held.as_ref().is_none_or(|held| held.followers.is_empty()) {
            (self.count, self.left) = (0, SiteSet::new());
        }
    }

    /// Changes the outcome of a step, given the state before it.
    pub(super) fn mutate_transition(
        &mut self,
        before: TokenLock,
        delivered: Option<&Delivered>,
        out: &mut Out<TokenLock>,
    ) {
        let state = before.state();
        match (self.undone, delivered) {
            (Mutation::E7, _) if state == State::HS && self.lock.state() == State::EC => {
                self.lock = TokenLock { held: None, ..before };
                out.retain(|effect| matches!(effect, Effect::Persist(_)));
            }
            (Mutation::E9, Some(Delivered { message: Message::Prepare { .. }, .. }))
                if state == State::HI =>
            {
                self.lock.held = before.held;
            }
            (Mutation::E10, Some(Delivered { from, message: Message::Prepare { .. } }))
                if state == State::HS =>
            {
                let known = before.held.is_some_and(|held| held.followers.contains_key(from));
                if let Some(held) = self.lock.held.as_mut().filter(|_| !known) {
                    held.followers.remove(from);
                }
            }
            (Mutation::Unmarked, Some(Delivered { message: Message::Token { token, .. }, .. }))
                if state == State::N =>
            {
                let me = before.me;
                let unmark = |served: &mut BTreeMap<SiteId, u64>| {
                    served.insert(me, token.served.get(&me).copied().unwrap_or(0));
                };
                self.lock.held.iter_mut().for_each(|held| unmark(&mut held.token.served));
                for effect in out.iter_mut() {
                    if let Effect::Send(_, Message::Token { token, .. }) = effect {
                        unmark(&mut token.served);
                    }
                }
            }
            (Mutation::FinalRefusal, Some(Delivered { message, .. })) => {
                self.refuse_for_good(before, message, out);
            }
            _ => {}
        }
    }

    /// Refuses a prepare that was deferred, and takes back a late vote for our own attempt.
    fn refuse_for_good(
        &mut self,
        mut before: TokenLock,
        message: &Message,
        out: &mut Out<TokenLock>,
    ) {
        if let Some(Deferred { from, epoch }) = self.lock.deferred.take() {
            let (seen, reason) = (self.lock.seen_epoch, Reason::Leased);
            out.send(from, Message::Nack { epoch, seen, reason });
        }
        let lacks_own = |attempt: &Attempt| !attempt.votes.contains_key(&before.me);
        if let Message::Withdraw { epoch } = message
            && before.attempt.as_ref().is_some_and(lacks_own)
        {
            before.durable.pending.remove(epoch);
            before.end_voter_lease(*epoch);
            out.retain(|_| false);
            out.persist(Record::Token(before.durable.clone()));
            self.lock = before;
        }
    }

    /// Changes state and effects after a step.
    pub(super) fn mutate_output(
        &mut self,
        expired: Option<Timer>,
        number: u64,
        out: &mut Out<TokenLock>,
    ) {
        match self.undone {
            Mutation::E4 => self.lock.last_requests.clear(),
            Mutation::E8 => self.count_starts(out),
            Mutation::OwnFloor => {
                if let Some(attempt) = &self.lock.attempt {
                    self.lock.durable.pending.insert(attempt.epoch);
                }
            }
            Mutation::OldNumber if expired == Some(Timer::T1) => {
                if let Some(pending) = &mut self.lock.pending {
                    (self.lock.sn, pending.sn) = (number, number);
                }
            }
            _ => {}
        }
        for effect in out.iter_mut() {
            let Effect::Send(_, message) = effect else { continue };
            match (self.undone, message) {
                (Mutation::E1, Message::Token { token, .. }) => token.stamp.round = 1,
                (Mutation::E3, Message::Token { token, .. }) => token.served.clear(),
                (Mutation::Firsts, Message::Token { token, .. }) => {
                    self.lock.request_set = firsts(&token.queue);
                    self.lock.request_set.remove(self.lock.me);
                }
                (Mutation::E14, Message::Token { token, .. }) => self.copy = Some(token.clone()),
                (Mutation::OldNumber, Message::Prepare { sn, .. }) => *sn = number,
                (Mutation::Unbound, Message::Start(admission) | Message::IsComplete(admission)) => {
                    admission.until = None;
                }
                _ => {}
            }
        }
        out.retain(|effect| match effect {
            Effect::Arm(Timer::T1, _) => !self.undone.waits_for_timeout(),
            Effect::Arm(Timer::T2, _) => self.undone != Mutation::E13 || expired != Some(Timer::T2),
            Effect::Persist(_) => self.undone != Mutation::Forgetful,
            _ => true,
        });
    }
}

/// The first waiter of every entry.
fn firsts(queue: &Queue) -> SiteSet {
    queue.entries().iter().map(|entry| entry.waiting[0].site).collect()
}
