//! The errors of the printed algorithm, E1 to E6 of `docs/protocols/mutex.md`.

use quorate_quorum::SiteId;

use super::{Mutant, Mutation};
use crate::mutex::permission::Loan;
use crate::mutex::request::Request;
use crate::mutex::requester::Phase;
use crate::mutex::{Message, Mutex, Release, Target};
use crate::{GrantNo, Input, Out, Shared, Ticket};

impl Mutant {
    fn current_ticket(&self) -> Option<Ticket> {
        self.mutex.requester.phase.request().map(|request| request.ticket)
    }

    /// E2, action A.3: yields once any fail was received, also from inside.
    pub(super) fn yield_from_inside(
        &mut self,
        site: &Shared,
        from: SiteId,
        message: Message,
        out: &mut Out<Mutex>,
    ) -> Option<Message> {
        let Phase::Inside(request, _) = &mut self.mutex.requester.phase else {
            return Some(message);
        };
        if let Message::Inquire { ticket, number, .. } = message
            && self.failed
            && ticket == request.ticket
        {
            let loan = Loan { arbiter: from, ticket, number };
            request.give_way_from_inside(site, loan, out);
            return None;
        }
        Some(message)
    }

    /// E3: every message is taken to be about the present request, and a yield to be the present
    /// holder's.
    pub(super) fn without_tickets(
        &mut self,
        site: &mut Shared,
        from: SiteId,
        mut message: Message,
        out: &mut Out<Mutex>,
    ) -> Option<Message> {
        let arbiter = &mut self.mutex.arbiter;
        let holder = arbiter.lock.as_ref().map(|holder| holder.ticket);
        if let (Message::Yield { passed, .. }, Some(holder)) = (&mut message, holder) {
            arbiter.on_yield(site, holder, arbiter.number, passed.take(), out);
            return None;
        }
        if let Some(current) = self.current_ticket() {
            match &mut message {
                Message::Reply { to: Target { ticket, .. }, .. }
                | Message::Fail { ticket }
                | Message::Inquire { ticket, .. }
                | Message::Transfer { ticket, .. } => *ticket = current,
                _ => {}
            }
        }
        Some(self.without_numbers(from, message))
    }

    /// E4, action C.2: the sender of a release is taken for the holder.
    pub(super) fn release_by_anybody(
        &mut self,
        site: &mut Shared,
        message: Message,
        out: &mut Out<Mutex>,
    ) -> Option<Message> {
        let arbiter = &mut self.mutex.arbiter;
        let holder = arbiter.lock.as_ref().map(|holder| holder.ticket);
        match (message, holder) {
            (Message::Release(release), Some(holder)) if release.number > arbiter.number => {
                let number = arbiter.number;
                arbiter.on_release(site, Release { ticket: holder, number, ..release }, out);
                None
            }
            (message, _) => Some(message),
        }
    }

    /// E6: the request is known, the loan is not. Action C.2 ignores a release that names a request
    /// which is not queued.
    pub(super) fn without_numbers_but_tickets(
        &mut self,
        from: SiteId,
        message: Message,
    ) -> Option<Message> {
        let arbiter = &self.mutex.arbiter;
        if let Message::Release(Release { passed: Some(pass), .. }) = &message
            && !arbiter.waiting.contains(pass.next.ticket)
            && !arbiter.early.values().any(|release| release.ticket == pass.next.ticket)
        {
            return None;
        }
        let current = self.current_ticket() == Some(message.ticket());
        Some(if current { self.without_numbers(from, message) } else { message })
    }

    /// E3 and E6: an inquire or a transfer is taken to be about the loan in hand, or else about the
    /// next one.
    fn without_numbers(&mut self, from: SiteId, mut message: Message) -> Message {
        let phase = &mut self.mutex.requester.phase;
        match &mut message {
            Message::Inquire { number, .. } | Message::Transfer { number, .. } => {
                if let Some(present) = phase.request().and_then(|request| request.loan(from)) {
                    *number = present;
                }
            }
            Message::Reply { arbiter, number, .. } => phase.renumber(*arbiter, *number),
            _ => {}
        }
        message
    }

    /// E5: whether action A.2 ends in its last case, which sends no fail.
    pub(super) fn is_case_six(&self, input: &Input<Mutex>) -> bool {
        let Input::Deliver(_, Message::Request { ticket, .. }) = input else { return false };
        let Some(holder) = &self.mutex.arbiter.lock else { return false };
        let Some(head) = self.mutex.arbiter.waiting.head() else { return false };
        self.undone == Mutation::E5 && holder.ticket < *ticket && *ticket < head.ticket
    }
}

impl Phase {
    /// Applies inquires and transfers for any loan of `arbiter` to loan `number`.
    fn renumber(&mut self, arbiter: SiteId, number: GrantNo) {
        if let Phase::Waiting(request) = self
            && let Some(permission) = request.permissions.get_mut(&arbiter)
        {
            permission.inquired = permission.inquired.map(|_| number);
            if let Some(next) = &mut permission.next {
                next.0 = number;
            }
        }
    }
}

impl Request {
    /// The loan of `arbiter` in hand, or the next one.
    fn loan(&self, arbiter: SiteId) -> Option<GrantNo> {
        let permission = self.permissions.get(&arbiter)?;
        Some(if permission.held { permission.number } else { permission.number.next() })
    }

    fn give_way_from_inside(&mut self, site: &Shared, loan: Loan, out: &mut Out<Mutex>) {
        if let Some(permission) = self.permissions.get_mut(&loan.arbiter)
            && permission.held
        {
            permission.give_way(site, loan, false, out);
        }
    }
}
