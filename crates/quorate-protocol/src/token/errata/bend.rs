//! What comes in and goes out, bent.

use std::collections::BTreeMap;

use quorate_quorum::{SiteId, SiteSet};

use super::{Erratum, Unrepaired};
use crate::token::{Message, Queue, State, Timer, TokenLock, Via};
use crate::{Effect, Input, Out, Tick};

impl Unrepaired {
    /// What is left to do of an input; `None` if nothing is.
    pub(super) fn bend(
        &mut self,
        now: Tick,
        input: Input<TokenLock>,
        out: &mut Out<TokenLock>,
    ) -> Option<Input<TokenLock>> {
        if self.undone == Erratum::Restless {
            self.pretend_renewal();
        }
        let waits = self.lock.state() == State::R;
        match (self.undone, input) {
            (Erratum::E16, Input::Expire(Timer::T1))
            | (Erratum::E5, Input::Deliver(_, Message::Hint)) => None,
            (Erratum::E14, Input::Expire(Timer::T1)) if waits => {
                self.send_copy(out);
                None
            }
            (Erratum::E14, Input::Deliver(_, Message::Token { token, .. }))
                if self.lock.token().is_some() =>
            {
                let held = self.lock.held.as_mut().expect("a token is here");
                held.followers.clear();
                held.token.queue = token.queue;
                None
            }
            (Erratum::E8, Input::Deliver(from, Message::Complete { sn, .. }))
                if self.miscounts(from, sn) =>
            {
                None
            }
            (Erratum::E11 | Erratum::E12, Input::Deliver(from, message)) => {
                Some(Input::Deliver(from, self.bend_number(from, message)))
            }
            (Erratum::LateToken, input @ Input::Deliver(_, Message::Promise { .. })) => {
                if let Some(attempt) = &mut self.lock.attempt {
                    attempt.sent = now;
                }
                Some(input)
            }
            (_, input) => Some(input),
        }
    }

    /// Takes whatever is left of a lease for long enough.
    fn pretend_renewal(&mut self) {
        if let Some(lease) = self.lock.held.as_mut().and_then(|held| held.lease.as_mut()) {
            lease.is_renewed = true;
        }
    }

    /// Sends the saved copy to the first that waits in it.
    fn send_copy(&self, out: &mut Out<TokenLock>) {
        if let Some(copy) = &self.copy
            && let Some(front) = copy.queue.front()
            && front.site != self.lock.me
        {
            out.send(front.site, Message::Token { token: copy.clone(), until: None });
        }
    }

    /// A message that does not say of which request it speaks is taken for the present one.
    fn bend_number(&self, from: SiteId, mut message: Message) -> Message {
        let lock = &self.lock;
        match &mut message {
            Message::Start(pass) if self.undone == Erratum::E11 => match &lock.want {
                Some(want) if want.groups.contains(&pass.group) => pass.sn = want.sn,
                _ => {}
            },
            _ if self.undone == Erratum::E11 => {}
            Message::IsComplete(pass) => match (&lock.want, &lock.inside) {
                (Some(want), _) if want.groups.contains(&pass.group) => pass.sn = want.sn,
                (_, Some(inside)) if inside.via == Via::Follower(from) => pass.sn = inside.sn,
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

    /// Whether a follower that has left is not the last one by the number of starts, though nobody
    /// else is known: its captain waits on.
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

    /// Counts the starts of a session.
    fn count_starts(&mut self, out: &mut Out<TokenLock>) {
        for effect in out.iter_mut() {
            self.count += u32::from(matches!(effect, Effect::Send(_, Message::Start(_))));
        }
        if self.lock.held.as_ref().is_none_or(|held| held.followers.is_empty()) {
            (self.count, self.left) = (0, SiteSet::new());
        }
    }

    /// Makes an error of which one must know what was before the step.
    pub(super) fn err_since(
        &mut self,
        before: TokenLock,
        message: Option<&(SiteId, Message)>,
        out: &mut Out<TokenLock>,
    ) {
        let state = before.state();
        match (self.undone, message) {
            (Erratum::E7, _) if state == State::HS && self.lock.state() == State::EC => {
                self.lock = TokenLock { held: None, ..before };
                out.retain(|effect| matches!(effect, Effect::Persist(_)));
            }
            (Erratum::E9, Some((_, Message::Prepare { .. }))) if state == State::HI => {
                self.lock.held = before.held;
            }
            (Erratum::E10, Some((from, Message::Prepare { .. }))) if state == State::HS => {
                let known = before.held.is_some_and(|held| held.followers.contains_key(from));
                if let Some(held) = self.lock.held.as_mut().filter(|_| !known) {
                    held.followers.remove(from);
                }
            }
            (Erratum::Unmarked, Some((_, Message::Token { token, .. }))) if state == State::N => {
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
            _ => {}
        }
    }

    /// Makes further errors after a step.
    pub(super) fn err(&mut self, expired: Option<Timer>, number: u64, out: &mut Out<TokenLock>) {
        match self.undone {
            Erratum::E4 => self.lock.heard.clear(),
            Erratum::E8 => self.count_starts(out),
            Erratum::OwnFloor => {
                if let Some(attempt) = &self.lock.attempt {
                    self.lock.durable.pending.insert(attempt.epoch);
                }
            }
            Erratum::OldNumber if expired == Some(Timer::T1) => {
                if let Some(want) = &mut self.lock.want {
                    (self.lock.sn, want.sn) = (number, number);
                }
            }
            _ => {}
        }
        for effect in out.iter_mut() {
            let Effect::Send(_, message) = effect else { continue };
            match (self.undone, message) {
                (Erratum::E1, Message::Token { token, .. }) => token.stamp.session = 1,
                (Erratum::E3, Message::Token { token, .. }) => token.served.clear(),
                (Erratum::Firsts, Message::Token { token, .. }) => {
                    self.lock.ask = firsts(&token.queue);
                    self.lock.ask.remove(self.lock.me);
                }
                (Erratum::E14, Message::Token { token, .. }) => self.copy = Some(token.clone()),
                (Erratum::OldNumber, Message::Prepare { sn, .. }) => *sn = number,
                (Erratum::Unbound, Message::Start(pass) | Message::IsComplete(pass)) => {
                    pass.until = None;
                }
                _ => {}
            }
        }
        out.retain(|effect| match effect {
            Effect::Arm(Timer::T1, _) => !self.undone.is_patient(),
            Effect::Arm(Timer::T2, _) => self.undone != Erratum::E13 || expired != Some(Timer::T2),
            Effect::Persist(_) => self.undone != Erratum::Forgetful,
            _ => true,
        });
    }
}

/// The first of every entry.
fn firsts(queue: &Queue) -> SiteSet {
    queue.entries().iter().map(|entry| entry.waiting[0].site).collect()
}
