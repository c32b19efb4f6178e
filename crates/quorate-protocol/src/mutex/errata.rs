//! The mutex with one repair undone, to see the damage.
//!
//! The transitions next door are the repaired ones and know nothing of this file. A wrapper undoes
//! one repair from outside: it bends an input before the step, or the effects after it, into what
//! the printed pseudo-code would have done. Nobody but tests and the laboratory uses it.

use std::fmt;

use quorate_quorum::SiteId;

use super::permission::{Loan, Request};
use super::requester::Phase;
use super::{Message, Mutex, Options, Release, Target};
use crate::errata::Wrapper;
use crate::{Effect, GrantNo, Input, Out, Protocol, Shared, Tick, Ticket, Violation};

/// A repair that can be undone: of a confirmed error of the printed algorithm, by its number in
/// `docs/protocols/mutex.md`, or of a hole that sessions that end tear into it.
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
    /// A session that a requester loses is over for the arbiter half of its site too.
    BothHalves,
    /// A permission that was passed on counts in whatever session.
    AnySession,
    /// Nobody is told that a site cannot hand over permissions any more.
    NoDirect,
    /// A holder that says so is not sent its permission again.
    NoRepeat,
    /// A site from which passes were lost is trusted again once the session is open again.
    DirectGrows,
    /// A lost holder is taken to have passed nothing on.
    NoAsking,
    /// Who said that it lacks a permission counts it all the same.
    LackNotBinding,
    /// A release that came early is not used when its passer is lost.
    EarlyUnused,
    /// A holder is given up without skipping the fences it may have used.
    FloorKept,
    /// The same for a holder that was passed the permission and is gone.
    FloorKeptAtGone,
    /// The same for a request that was asked whether it has the permission, and is gone.
    FloorKeptAtAsked,
    /// A restarted arbiter lends at once.
    NoQuarantine,
    /// A request that waits for a fence does not look again when a session is lost.
    NoRecheck,
    /// Who gave way on demand leaves the questions of other arbiters open.
    InquiriesKept,
    /// Fence ceilings are not on disk.
    CeilVolatile,
    /// A head that is overtaken while an arbiter asks for its permission is not told.
    OvertakenUntold,
    /// A request from inside waits its turn like any other.
    HeldInOrder,
    /// A waiting holder need not give way to a request from inside.
    NoDemand,
    /// A permission that comes while a request is inside does not count.
    DropInside,
    /// Callers of one site that follow each other share a fence.
    SharedFence,
}

impl Erratum {
    /// Those of the paper, in order.
    pub const PAPER: [Erratum; 6] =
        [Erratum::E1, Erratum::E2, Erratum::E3, Erratum::E4, Erratum::E5, Erratum::E6];

    /// Those of sessions that end.
    pub const SESSIONS: [Erratum; 16] = [
        Erratum::BothHalves,
        Erratum::AnySession,
        Erratum::NoDirect,
        Erratum::NoRepeat,
        Erratum::DirectGrows,
        Erratum::NoAsking,
        Erratum::LackNotBinding,
        Erratum::EarlyUnused,
        Erratum::FloorKept,
        Erratum::FloorKeptAtGone,
        Erratum::FloorKeptAtAsked,
        Erratum::NoQuarantine,
        Erratum::NoRecheck,
        Erratum::InquiriesKept,
        Erratum::CeilVolatile,
        Erratum::OvertakenUntold,
    ];

    /// Those without which nothing breaks, but more grants are lost.
    pub const SURVIVAL: [Erratum; 3] =
        [Erratum::HeldInOrder, Erratum::NoDemand, Erratum::DropInside];

    /// All of them.
    pub fn all() -> impl Iterator<Item = Erratum> {
        let site = [Erratum::SharedFence]; // only whole sites have callers that follow each other
        Self::PAPER.into_iter().chain(Self::SESSIONS).chain(Self::SURVIVAL).chain(site)
    }
}

impl fmt::Display for Erratum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::errata::dashed(&format!("{self:?}")))
    }
}

/// A mutex with the repair of one erratum undone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unrepaired {
    pub(super) undone: Erratum,
    pub(super) mutex: Mutex,
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
                    Erratum::E2 => self.yield_from_inside(site, from, message, out),
                    Erratum::E3 => self.without_tickets(site, from, message, out),
                    Erratum::E4 => self.release_by_anybody(site, message, out),
                    Erratum::E6 => self.without_numbers_but_tickets(from, message),
                    _ => self.bend_message(site, from, message, out),
                };
                message.map(|message| Input::Deliver(from, message))
            }
            (_, input) => self.bend_session(site, input, out),
        }
    }

    fn current_ticket(&self) -> Option<Ticket> {
        self.mutex.requester.phase.request().map(|request| request.ticket)
    }

    /// E2, action A.3: gives way whenever a refusal was ever heard, also from inside.
    fn yield_from_inside(
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
            let asked = Loan { arbiter: from, ticket, number };
            request.give_way_from_inside(site, asked, out);
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

    /// E4, action C.2: whoever sends a release is taken for the holder.
    fn release_by_anybody(
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

    /// E6: the request is known, the loan is not; and action C.2 stops at a release that names a
    /// request which is not in the queue.
    fn without_numbers_but_tickets(&mut self, from: SiteId, message: Message) -> Option<Message> {
        let arbiter = &self.mutex.arbiter;
        if let Message::Release(Release { passed: Some(pass), .. }) = &message
            && !arbiter.waiting.contains(pass.next.ticket)
            && !arbiter.early.values().any(|release| release.ticket == pass.next.ticket)
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
        let Input::Deliver(_, Message::Request { ticket, .. }) = input else { return false };
        let Some(holder) = &self.mutex.arbiter.lock else { return false };
        let Some(head) = self.mutex.arbiter.waiting.head() else { return false };
        self.undone == Erratum::E5 && holder.ticket < *ticket && *ticket < head.ticket
    }
}

impl Phase {
    /// Makes what was said of any loan of `arbiter` hold for loan `number`.
    fn restamp(&mut self, arbiter: SiteId, number: GrantNo) {
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
    /// The loan of `arbiter` in hand, or the next one to come.
    fn loan(&self, arbiter: SiteId) -> Option<GrantNo> {
        let permission = self.permissions.get(&arbiter)?;
        Some(if permission.held { permission.number } else { permission.number.next() })
    }

    fn give_way_from_inside(&mut self, site: &Shared, asked: Loan, out: &mut Out<Mutex>) {
        if let Some(permission) = self.permissions.get_mut(&asked.arbiter)
            && permission.held
        {
            permission.give_way(site, asked, false, out);
        }
    }
}

impl Wrapper for Unrepaired {
    type Lock = Mutex;

    fn lock(&self) -> &Mutex {
        &self.mutex
    }

    fn misstep(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Mutex>,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        if let Some(input) = self.bend(site, input, out) {
            let case_six = self.is_case_six(&input);
            let newcomer = self.newcomer(&input);
            let questions = self.take_questions(&input);
            match &input {
                Input::Acquire(..) => self.failed = false,
                Input::Deliver(_, Message::Fail { .. }) => self.failed = true,
                _ => {}
            }
            let done = self.mutex.step(site, now, input, out);
            self.put_back(questions);
            done?;
            if case_six {
                out.retain(|effect| !matches!(effect, Effect::Send(_, Message::Fail { .. })));
            }
            if let Some(newcomer) = newcomer {
                out.retain(|effect| match effect {
                    Effect::Send(_, Message::Fail { ticket }) => *ticket == newcomer,
                    _ => true,
                });
            }
        }
        self.bend_effects(out);
        self.failed |= out.iter().any(|e| matches!(e, Effect::Send(_, Message::Yield { .. })));
        Ok(())
    }
}
