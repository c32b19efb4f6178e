//! The repairs for candidates that have refused loans, undone: item 6 of the section "When sessions
//! end" of `docs/protocols/mutex.md`. Nothing breaks, but hand-overs cost more.

use super::{Mutant, Mutation};
use crate::mutex::arbiter::Arbiter;
use crate::mutex::queue::Entry;
use crate::mutex::{Message, Mutex, Pass};
use crate::{Effect, GrantNo, Out, SessionNo};

impl Mutant {
    /// Changes the state and the effects of a step as the mutation requires.
    pub(super) fn mutate_refusals(&mut self, out: &mut Out<Mutex>) {
        match self.undone {
            Mutation::RefusedAnnounced => self.mutex.arbiter.announce_refused(out),
            Mutation::RefusesMore => self.mutex.arbiter.ask_for_more(out),
            _ => {}
        }
    }
}

impl Arbiter {
    /// Announces the head as if it had not refused the next loan.
    fn announce_refused(&mut self, out: &mut Out<Mutex>) {
        let Some(head) = self.waiting.head().filter(|_| self.lock.is_some()) else { return };
        if !head.will_accept(self.number.next()) && !self.announced.contains(&head.ticket) {
            let head = Entry { asked: false, refuses: GrantNo::default(), ..head.clone() };
            self.transfer(&head, out);
        }
    }

    /// Asks the candidates to refuse as many loans as there are candidates.
    fn ask_for_more(&mut self, out: &mut Out<Mutex>) {
        let Some(query) = &mut self.query else { return };
        let more = self.number.plus(query.pending.len() as u64);
        for effect in out.iter_mut() {
            if let Effect::Send(_, Message::Where { upto, .. }) = effect {
                *upto = more.max(*upto);
                query.upto = *upto;
            }
        }
    }

    /// Makes the receiver of a pass one that is not here any more, if it has refused the loan.
    pub(super) fn forget_receiver(&self, pass: &mut Pass) {
        let entry = self.waiting.get(pass.next.ticket);
        if entry.is_some_and(|entry| !entry.accepts(self.number.next())) {
            pass.next.session = SessionNo(u64::MAX);
        }
    }
}
