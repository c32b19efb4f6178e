//! The mutex with one repair undone, to see the damage.
//!
//! The transitions next door are the repaired ones and know nothing of this file. A wrapper undoes
//! one repair from outside: it bends an input before the step, or the effects after it, into what
//! the printed pseudo-code would have done. Nobody but tests and the laboratory uses it.

use std::fmt;

use quorate_quorum::SiteId;

use super::requester::{Loan, Phase, Request};
use super::{Grant, Message, Mutex, Options, Release};
use crate::{
    Basis, ClaimId, Effect, GrantNo, Input, Out, Protocol, Shared, Tick, Ticket, View, Violation,
};

/// A confirmed error of the printed algorithm, by its number in `docs/protocols/mutex.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Erratum {
    /// A request of its own makes a site forget to whom it has lent its permission.
    E1,
    /// A site gives way although it is inside.
    E2,
    /// Messages do not say which request they speak of.
    E3,
    /// A release that overtakes the report of a pass frees what is held elsewhere.
    E4,
    /// Who is queued between the holder and the head is not told to wait.
    E5,
    /// Messages do not say which loan they speak of.
    E6,
}

impl Erratum {
    /// All of them, in order.
    pub const ALL: [Erratum; 6] =
        [Erratum::E1, Erratum::E2, Erratum::E3, Erratum::E4, Erratum::E5, Erratum::E6];
}

impl fmt::Display for Erratum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// A mutex with the repair of one erratum undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unrepaired {
    undone: Erratum,
    mutex: Mutex,
    /// The paper's *failed*: one bit, set by the first refusal and kept for the whole request.
    failed: bool,
}

impl Unrepaired {
    /// A site at which nothing has happened yet, without the repair of `undone`.
    pub fn new(options: Options, undone: Erratum) -> Self {
        Self { undone, mutex: Mutex::new(options), failed: false }
    }

    /// What the printed algorithm makes of an input; `None` if nothing is left to do.
    fn bend(
        &mut self,
        site: &mut Shared,
        input: Input<Mutex>,
        out: &mut Out<Mutex>,
    ) -> Option<Input<Mutex>> {
        match (self.undone, input) {
            (Erratum::E1, Input::Acquire(claim, ())) => {
                if self.mutex.requester.phase == Phase::Idle {
                    self.mutex.arbiter.lock = None;
                }
                Some(Input::Acquire(claim, ()))
            }
            (_, Input::Deliver(from, message)) => {
                let message = match self.undone {
                    Erratum::E1 | Erratum::E5 => Some(message),
                    Erratum::E2 => self.yield_from_inside(from, message, out),
                    Erratum::E3 => self.without_tickets(site, from, message, out),
                    Erratum::E4 => self.release_by_anybody(site, message, out),
                    Erratum::E6 => self.without_numbers_but_tickets(from, message),
                };
                message.map(|message| Input::Deliver(from, message))
            }
            (_, input) => Some(input),
        }
    }

    fn current_ticket(&self) -> Option<Ticket> {
        self.mutex.requester.phase.request().map(|request| request.ticket)
    }

    /// E2, action A.3: gives way whenever a refusal was ever heard, also from inside.
    fn yield_from_inside(
        &mut self,
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
            let asked = Loan { arbiter: from, ticket, number };
            request.give_way_from_inside(asked, out);
            return None;
        }
        Some(message)
    }

    /// E3: every message is taken to speak of the present request, and a yield of the present
    /// holder.
    fn without_tickets(
        &mut self,
        site: &mut Shared,
        from: SiteId,
        mut message: Message,
        out: &mut Out<Mutex>,
    ) -> Option<Message> {
        let arbiter = &mut self.mutex.arbiter;
        if let (Message::Yield { passed, .. }, Some(holder)) = (&mut message, arbiter.lock) {
            arbiter.on_yield(site, holder, arbiter.number, passed.take(), out);
            return None;
        }
        if let Some(current) = self.current_ticket() {
            match &mut message {
                Message::Reply { ticket, .. }
                | Message::Fail { ticket }
                | Message::Inquire { ticket, .. }
                | Message::Transfer { ticket, .. } => *ticket = current,
                _ => {}
            }
        }
        Some(self.without_numbers(from, message))
    }

    /// E4, action C.2: whoever sends a release is taken for the holder.
    fn release_by_anybody(
        &mut self,
        site: &mut Shared,
        message: Message,
        out: &mut Out<Mutex>,
    ) -> Option<Message> {
        let arbiter = &mut self.mutex.arbiter;
        match (message, arbiter.lock) {
            (Message::Release(release), Some(holder)) if release.number > arbiter.number => {
                let number = arbiter.number;
                arbiter.on_release(site, Release { ticket: holder, number, ..release }, out);
                None
            }
            (message, _) => Some(message),
        }
    }

    /// E6: the request is known, the loan is not; and action C.2 stops at a release that names a
    /// request which is not in the queue.
    fn without_numbers_but_tickets(&mut self, from: SiteId, message: Message) -> Option<Message> {
        let arbiter = &self.mutex.arbiter;
        if let Message::Release(Release { passed: Some(pass), .. }) = &message
            && !arbiter.waiting.contains(&pass.next)
            && !arbiter.early.values().any(|release| release.ticket == pass.next)
        {
            return None;
        }
        let ours = self.current_ticket() == Some(message.ticket());
        Some(if ours { self.without_numbers(from, message) } else { message })
    }

    /// E3 and E6: an inquire or a transfer is taken to speak of the loan in hand, or else of the
    /// next one to come.
    fn without_numbers(&mut self, from: SiteId, mut message: Message) -> Message {
        let phase = &mut self.mutex.requester.phase;
        match &mut message {
            Message::Inquire { number, .. } | Message::Transfer { number, .. } => {
                if let Some(present) = phase.request().and_then(|request| request.loan(from)) {
                    *number = present;
                }
            }
            Message::Reply { arbiter, number, .. } => phase.restamp(*arbiter, *number),
            _ => {}
        }
        message
    }

    /// E5: whether action A.2 ends in its last case, which sends no fail.
    fn is_case_six(&self, input: &Input<Mutex>) -> bool {
        let Input::Deliver(_, Message::Request { ticket }) = input else { return false };
        let (lock, head) = (self.mutex.arbiter.lock, self.mutex.arbiter.waiting.first());
        self.undone == Erratum::E5 && lock < Some(*ticket) && Some(ticket) < head && lock.is_some()
    }
}

impl Phase {
    /// Makes what was said of any loan of `arbiter` hold for loan `number`.
    fn restamp(&mut self, arbiter: SiteId, number: GrantNo) {
        if let Phase::Waiting(request) = self
            && let Some(permission) = request.permissions.get_mut(&arbiter)
        {
            permission.inquired = permission.inquired.map(|_| number);
            permission.next = permission.next.take().map(|(_, targets)| (number, targets));
        }
    }
}

impl Request {
    /// The loan of `arbiter` in hand, or the next one to come.
    fn loan(&self, arbiter: SiteId) -> Option<GrantNo> {
        let permission = self.permissions.get(&arbiter)?;
        Some(if permission.held { permission.number } else { permission.number.next() })
    }

    fn give_way_from_inside(&mut self, asked: Loan, out: &mut Out<Mutex>) {
        if let Some(permission) = self.permissions.get_mut(&asked.arbiter)
            && permission.held
        {
            permission.give_way(asked, false, out);
        }
    }
}

impl Protocol for Unrepaired {
    type Message = Message;
    type Claim = ();
    type Grant = Grant;
    type Timer = <Mutex as Protocol>::Timer;

    fn step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Self>,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        let mut inner = Out::new();
        if let Some(input) = self.bend(site, of_mutex(input), &mut inner) {
            let case_six = self.is_case_six(&input);
            match &input {
                Input::Acquire(..) => self.failed = false,
                Input::Deliver(_, Message::Fail { .. }) => self.failed = true,
                _ => {}
            }
            self.mutex.step(site, now, input, &mut inner)?;
            if case_six {
                inner.retain(|effect| !matches!(effect, Effect::Send(_, Message::Fail { .. })));
            }
        }
        for effect in inner.drain() {
            self.failed |= matches!(effect, Effect::Send(_, Message::Yield { .. }));
            out.push(of_unrepaired(effect));
        }
        Ok(())
    }

    fn rests_on(&self, claim: ClaimId) -> Basis {
        self.mutex.rests_on(claim)
    }

    fn view(&self) -> View {
        self.mutex.view()
    }

    fn is_vacant(&self) -> bool {
        self.mutex.is_vacant()
    }
}

fn of_mutex(input: Input<Unrepaired>) -> Input<Mutex> {
    match input {
        Input::Acquire(claim, ()) => Input::Acquire(claim, ()),
        Input::Release(claim) => Input::Release(claim),
        Input::Abandon(claim) => Input::Abandon(claim),
        Input::Deliver(from, message) => Input::Deliver(from, message),
        Input::Expire(never) => match never {},
        Input::Silent(site) => Input::Silent(site),
        Input::Lost(site) => Input::Lost(site),
        Input::Open(site, number) => Input::Open(site, number),
        Input::Closed(site) => Input::Closed(site),
        Input::Opened(site, number) => Input::Opened(site, number),
    }
}

fn of_unrepaired(effect: Effect<Mutex>) -> Effect<Unrepaired> {
    match effect {
        Effect::Send(to, message) => Effect::Send(to, message),
        Effect::Grant(claim, grant) => Effect::Grant(claim, grant),
        Effect::Lose(claim, why) => Effect::Lose(claim, why),
        Effect::Arm(never, _) | Effect::Disarm(never) => match never {},
        Effect::Persist(record) => Effect::Persist(record),
        Effect::Ignore(why) => Effect::Ignore(why),
    }
}
