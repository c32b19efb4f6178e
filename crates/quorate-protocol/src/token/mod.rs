//! Group locks by a token: `DRS_GME` of Swaroop & Singh 2008, extended to sets of groups.
//!
//! There is one token. Its holder starts *occupancies*, each of one group: it is the *captain*, and
//! admits others as *followers*. The token carries the queue of waiters, with one entry per group.
//! When captain and followers have left, it passes to the first waiter of the first entry. There is
//! no broadcast: a request goes to the sites that may hold the token, the *request set*.
//!
//! A lost token is replaced by one of a higher *epoch*, which a quorum must promise.
//!
//! | events of the paper | file |
//! |---|---|
//! | 1, 3, 4, 7, 10: local request, start, leaving, T1, `is_complete` | `requester.rs` |
//! | 2, 5, 6, 9: request, complete, token, T2 | `holder.rs` |
//! | 8: `gen_token`, which epochs replace | `regeneration.rs` |
//! | none: leases; restarts and sessions that end | `lease.rs`, `repair.rs` |
//!
//! `docs/protocols/token.md` lists the errors of the paper as E1 to E24 and what it leaves open as
//! O1 to O22; comments cite these numbers.

mod check;
mod durable;
mod holder;
mod lease;
mod message;
#[cfg(feature = "mutations")]
pub mod mutations;
mod options;
mod queue;
mod regeneration;
mod repair;
mod requester;
mod state;

use quorate_quorum::{SiteId, SiteSet};

use self::state::{Request, Vote};
use crate::group::Claim;
use crate::{
    ClaimId, ClaimView, Effect, Input, Out, Protocol, Record, Shared, Tick, Ticket, ValidityBasis,
    View, Violation,
};

pub use self::check::EPOCH_MAX;
pub use self::durable::Durable;
pub use self::lease::Leased;
pub use self::message::{Admission, Message, Reason};
pub use self::options::Options;
pub use self::queue::{Entry, Queue, Token, Waiter};
pub use self::regeneration::Regeneration;
pub use self::state::{Grant, State, TokenLock, Via};
pub use quorate_session::{Epoch, Stamp};

/// Timers of a token lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Timer {
    /// A request has waited too long: it or the token may be lost.
    T1,
    /// A follower has been inside for long: its captain asks.
    T2,
    /// The token's lease is due for renewal.
    Renew,
    /// The lease of the token, or the deadline of a follower, is over.
    Lapse,
}

/// What a transition works with besides the state of the lock.
struct StepContext<'a> {
    site: &'a mut Shared,
    now: Tick,
    out: &'a mut Out<TokenLock>,
}

impl StepContext<'_> {
    fn me(&self) -> SiteId {
        self.site.site()
    }

    fn others(&self) -> SiteSet {
        let mut others = SiteSet::full(self.site.n());
        others.remove(self.me());
        others
    }

    /// Whether a site is likely to get a message and to answer: there are sessions both ways, and
    /// it has replied within half a lease.
    fn reaches(&self, site: SiteId) -> bool {
        let sessions = (self.site.session_at(site), self.site.session_of(site));
        sessions.0.is_some() && sessions.1.is_some() && !self.site.is_silent(site)
    }

    /// Sends a message if a session can carry it. Otherwise it is lost, as far as the protocol is
    /// concerned.
    fn send(&mut self, to: SiteId, message: Message) {
        let session = if message.uses_senders_session() {
            self.site.session_at(to)
        } else {
            self.site.session_of(to)
        };
        if session.is_some() {
            self.out.send(to, message);
        }
    }

    fn send_all(&mut self, message: &Message) {
        for to in self.others().iter() {
            self.send(to, message.clone());
        }
    }

    fn arm(&mut self, timer: Timer, after: std::time::Duration) {
        self.out.push(Effect::Arm(timer, after));
    }

    fn disarm(&mut self, timer: Timer) {
        self.out.push(Effect::Disarm(timer));
    }
}

impl TokenLock {
    /// Rejects inputs that a correct site or caller never gives.
    fn check(&self, site: &Shared, now: Tick, input: &Input<Self>) -> Result<(), Violation> {
        let waits = |id: ClaimId| self.pending.as_ref().is_some_and(|pending| pending.id == id);
        let inside = |id: ClaimId| self.inside.as_ref().is_some_and(|inside| inside.id == id);
        let busy = self.pending.is_some() || self.inside.is_some();
        match input {
            Input::Acquire(_, claim) if claim.groups.is_empty() => Err(Violation::NoGroups),
            Input::Acquire(..) if busy => Err(Violation::Busy),
            &Input::Release(id) if !inside(id) => Err(Violation::NotInside(id)),
            &Input::Abandon(id) if !waits(id) => Err(Violation::NotWaiting(id)),
            Input::Turn(_) => Err(Violation::NoTurns),
            Input::Deliver(_, message) => self.check_message(site, now, message),
            _ => Ok(()),
        }
    }

    fn handle(&mut self, context: &mut StepContext<'_>, input: Input<Self>) {
        match input {
            Input::Acquire(id, claim) => self.acquire(context, id, claim),
            Input::Release(_) => self.release(context),
            Input::Abandon(_) => self.abandon(context),
            Input::Deliver(from, message) => self.deliver(context, from, message),
            Input::Expire(Timer::T1) => self.on_t1(context),
            Input::Expire(Timer::T2) => self.on_t2(context),
            Input::Expire(Timer::Renew) => self.renew_lease(context),
            Input::Lost(peer) => self.on_lost(context, peer),
            Input::Open(peer, _) => self.on_open(context, peer),
            Input::Opened(..) => self.pass_idle_token(context),
            Input::Closed(client) => self.on_closed(context, client),
            Input::Cleared if self.state() == State::R => self.request_or_prepare(context),
            // `end_expired_lease` has handled it already, unless the lease was renewed meanwhile.
            Input::Expire(Timer::Lapse)
            | Input::Turn(_)
            | Input::Silent(_)
            | Input::DelegationValid(_)
            | Input::Cleared => {}
        }
    }

    fn deliver(&mut self, context: &mut StepContext<'_>, from: SiteId, message: Message) {
        match message {
            Message::Request { sn, groups, again } => {
                self.on_request(context, from, &Request { sn, groups }, again);
            }
            Message::Hint => self.on_hint(context, from),
            Message::Alive { sn } => self.on_alive(context, sn),
            Message::Token { token, until } => self.on_token(context, from, token, until),
            Message::Start(admission) => self.on_start(context, from, admission),
            Message::IsComplete(admission) => self.on_is_complete(context, from, admission),
            Message::Busy { sn, epoch } => self.on_busy(context, from, sn, epoch),
            Message::Complete { sn, epoch } => self.on_complete(context, from, sn, epoch),
            Message::Prepare { epoch, sn, groups } => {
                self.on_prepare(context, from, epoch, &Request { sn, groups });
            }
            Message::Promise { epoch, sn, groups, lease } => {
                self.on_promise(context, from, epoch, Vote { sn, groups, lease });
            }
            Message::Nack { epoch, seen, reason } => {
                self.on_nack(context, from, epoch, seen, reason);
            }
            Message::NewEpoch { epoch } => self.on_new_epoch(context, from, epoch),
            Message::Withdraw { epoch } => self.on_withdraw(context, epoch),
            Message::Register { epoch, renewal } => {
                self.on_register(context, from, epoch, renewal);
            }
            Message::Registered { epoch, renewal, lease } => {
                self.on_registered(context, from, epoch, renewal, lease);
            }
        }
    }
}

impl Protocol for TokenLock {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;
    type Timer = Timer;

    /// Handles one input. If the durable state has changed it is persisted before anything is sent.
    fn step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Self>,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        self.check(site, now, &input)?;
        let before = self.durable.clone();
        let mut effects = Out::new();
        let mut context = StepContext { site, now, out: &mut effects };
        self.on_first_step(&mut context);
        self.end_expired_lease(&mut context);
        if let Input::Release(_) = input {
            // The caller is leaving: it need not learn that its grant has just lapsed (O14).
            context.out.retain(|effect| !matches!(effect, Effect::Lose(..)));
        }
        self.handle(&mut context, input);
        if self.durable != before {
            out.persist(Record::Token(self.durable.clone()));
        }
        for effect in effects.drain() {
            out.push(effect);
        }
        self.assert_sound();
        Ok(())
    }

    fn validity_basis(&self, claim: ClaimId) -> ValidityBasis {
        match &self.inside {
            Some(inside) if inside.id == claim => self.validity_basis(inside),
            _ => ValidityBasis::Nothing,
        }
    }

    fn view(&self) -> View {
        // Other sites know a request by its number only.
        let ticket = |site, sn| Ticket { time: sn, site, claim: ClaimId(0) };
        let inside = self.inside.iter().map(|inside| ClaimView {
            ticket: ticket(self.me, inside.sn),
            inside: true,
            held_up: false,
            missing: vec![],
        });
        let waiting = self.pending.iter().map(|pending| ClaimView {
            ticket: ticket(self.me, pending.sn),
            inside: false,
            held_up: self.held.is_some() || pending.held_up,
            missing: self.missing(),
        });
        let own = self.inside.iter().map(|inside| ticket(self.me, inside.sn));
        let held = self.held.iter();
        let followers = held.clone().flat_map(|held| &held.followers);
        let queue = held.flat_map(|held| held.token.queue.entries()).flat_map(|e| &e.waiting);
        View {
            claims: inside.chain(waiting).collect(),
            lent: own.chain(followers.map(|(&site, one)| ticket(site, one.sn))).collect(),
            queue: queue.map(|waiting| ticket(waiting.site, waiting.sn)).collect(),
            token: self.token().map(|token| token.stamp),
            ..View::default()
        }
    }

    fn is_wanted(&self) -> bool {
        self.held.as_ref().is_some_and(|held| !held.token.queue.is_empty())
    }

    /// An idle holder is vacant, but it must be kept until [`Leased::kept_until`]: the token would
    /// be lost with it.
    fn is_vacant(&self) -> bool {
        let idle = self
            .held
            .as_ref()
            .is_none_or(|held| held.followers.is_empty() && held.token.queue.is_empty());
        self.pending.is_none() && self.inside.is_none() && self.attempt.is_none() && idle
    }

    /// Nothing to do: epochs, promises and request numbers are on disk.
    fn retire(&self, _: &mut Shared) {}
}
