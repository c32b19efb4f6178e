//! Groups by a token: `DRS_GME` of Swaroop & Singh 2008, extended to sets of groups.
//!
//! There is one token. Who has it opens *sessions*, each of one group: it is the *captain*, and
//! lets others join as *followers*. The token carries the queue of those who wait, an entry for
//! each group, and when captain and followers have left it goes to the first of the first entry.
//! Nobody broadcasts: a request goes to those who may have the token, the *request set*.
//!
//! A token that is lost is replaced by one of a higher *epoch*, which a quorum must promise. The
//! printed regeneration cannot do that; `docs/protocols/token.md` lists what else is wrong or
//! missing in the paper as E1 to E24, and code cites it by these numbers.

mod asking;
mod durable;
#[cfg(feature = "mutations")]
pub mod errata;
mod holding;
mod lease;
mod message;
mod options;
mod queue;
mod state;
mod voting;

use std::fmt;

use quorate_quorum::{SiteId, SiteSet};

use self::state::Vote;
use crate::group::Claim;
use crate::{
    Basis, ClaimId, ClaimView, Effect, Input, Out, Protocol, Record, Shared, Tick, Ticket, View,
    Violation,
};

pub use self::durable::Durable;
pub use self::lease::Leased;
pub use self::message::{Message, Pass, Reason};
pub use self::options::Options;
pub use self::queue::{Entry, Queue, Token, Waiting};
pub use self::state::{Grant, State, TokenLock, Via};
pub use self::voting::Regeneration;
pub use quorate_session::{Epoch, Stamp};

/// Deadlines of a token lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// A request waits for too long: it or the token may be lost.
    T1,
    /// Followers have been silent for long.
    T2,
    /// Those who vouch for the token should be asked again.
    Renew,
    /// Nobody vouches any more for the token here, or for who is inside.
    Lapse,
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Timer::T1 => "t1",
            Timer::T2 => "t2",
            Timer::Renew => "renew",
            Timer::Lapse => "lapse",
        })
    }
}

/// What a transition works with besides the state of the lock.
struct Desk<'a> {
    site: &'a mut Shared,
    now: Tick,
    out: &'a mut Out<TokenLock>,
}

impl Desk<'_> {
    fn me(&self) -> SiteId {
        self.site.site()
    }

    fn others(&self) -> SiteSet {
        let mut others = SiteSet::full(self.site.n());
        others.remove(self.me());
        others
    }

    /// Sends, if there is a session to carry it. What is not sent is like what is lost: timers
    /// find out.
    fn send(&mut self, to: SiteId, message: Message) {
        let asked = message.is_asked();
        let session = if asked { self.site.session_at(to) } else { self.site.session_of(to) };
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
    /// Whether an input is one that a correct site or caller may give.
    fn check(&self, input: &Input<Self>) -> Result<(), Violation> {
        let waits = |id: ClaimId| self.want.as_ref().is_some_and(|want| want.id == id);
        let inside = |id: ClaimId| self.inside.as_ref().is_some_and(|inside| inside.id == id);
        let busy = self.want.is_some() || self.inside.is_some();
        match input {
            Input::Acquire(_, claim) if claim.groups.is_empty() => Err(Violation::NoGroups),
            Input::Acquire(..) if busy => Err(Violation::Busy),
            &Input::Release(id) if !inside(id) => Err(Violation::NotInside(id)),
            &Input::Abandon(id) if !waits(id) => Err(Violation::NotWaiting(id)),
            Input::Turn(_) => Err(Violation::NoTurns),
            Input::Deliver(
                _,
                Message::Request { groups, .. } | Message::Prepare { groups, .. },
            ) if groups.is_empty() => Err(Violation::NoGroups),
            _ => Ok(()),
        }
    }

    fn handle(&mut self, desk: &mut Desk<'_>, input: Input<Self>) {
        match input {
            Input::Acquire(id, claim) => self.acquire(desk, id, claim),
            Input::Release(_) => self.release(desk),
            Input::Abandon(_) => self.abandon(desk),
            Input::Deliver(from, message) => self.deliver(desk, from, message),
            Input::Expire(Timer::T1) => self.on_t1(desk),
            Input::Expire(Timer::T2) => self.on_t2(desk),
            Input::Expire(Timer::Renew) => self.renew(desk),
            Input::Lost(peer) => self.on_lost(desk, peer),
            Input::Open(peer, _) => self.on_open(desk, peer),
            Input::Closed(client) => self.on_closed(desk, client),
            Input::Cleared if self.state() == State::R => self.ask_or_prepare(desk),
            // What lapses is over already when this is read; else it was renewed meanwhile.
            Input::Expire(Timer::Lapse)
            | Input::Turn(_)
            | Input::Silent(_)
            | Input::Opened(..)
            | Input::Assured(_)
            | Input::Cleared => {}
        }
    }

    fn deliver(&mut self, desk: &mut Desk<'_>, from: SiteId, message: Message) {
        match message {
            Message::Request { sn, groups, again } => {
                self.on_request(desk, from, (sn, &groups), again);
            }
            Message::Hint => self.on_hint(desk, from),
            Message::Alive { sn } => self.on_alive(desk, sn),
            Message::Token { token, until } => self.on_token(desk, from, token, until),
            Message::Start(pass) => self.on_start(desk, from, pass),
            Message::IsComplete(pass) => self.on_is_complete(desk, from, pass),
            Message::Busy { sn, epoch } => self.on_busy(desk, from, sn, epoch),
            Message::Complete { sn, epoch } => self.on_complete(desk, from, sn, epoch),
            Message::Prepare { epoch, sn, groups } => {
                self.on_prepare(desk, from, epoch, (sn, &groups));
            }
            Message::Promise { epoch, sn, groups, lease } => {
                self.on_promise(desk, from, epoch, Vote { sn, groups, lease });
            }
            Message::Nack { epoch, seen, reason } => {
                self.on_nack(desk, from, epoch, (seen, reason));
            }
            Message::NewEpoch { epoch } => self.on_new_epoch(desk, from, epoch),
            Message::Withdraw { epoch } => self.on_withdraw(desk, epoch),
            Message::Register { epoch, round } => self.on_register(desk, from, epoch, round),
            Message::Registered { epoch, round, lease } => {
                self.on_registered(desk, from, epoch, (round, lease));
            }
        }
    }
}

impl Protocol for TokenLock {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;
    type Timer = Timer;

    /// What changed of what must survive a restart goes to disk before anything leaves the site.
    fn step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Self>,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        self.check(&input)?;
        let before = self.durable.clone();
        let mut effects = Out::new();
        let mut desk = Desk { site, now, out: &mut effects };
        self.wake(&mut desk);
        self.lapse_if_due(&mut desk);
        if let Input::Release(_) = input {
            // Who leaves need not be told that it has just lost.
            desk.out.retain(|effect| !matches!(effect, Effect::Lose(..)));
        }
        self.handle(&mut desk, input);
        if self.durable != before {
            out.persist(Record::Token(self.durable.clone()));
        }
        for effect in effects.drain() {
            out.push(effect);
        }
        self.assert_sound();
        Ok(())
    }

    fn rests_on(&self, claim: ClaimId) -> Basis {
        match &self.inside {
            Some(inside) if inside.id == claim => self.basis(inside),
            _ => Basis::Nothing,
        }
    }

    fn view(&self) -> View {
        // A request is known to other sites by its number alone.
        let ticket = |site, sn| Ticket { time: sn, site, claim: ClaimId(0) };
        let inside = self.inside.iter().map(|inside| ClaimView {
            ticket: ticket(self.me, inside.sn),
            inside: true,
            held_up: false,
            missing: vec![],
        });
        let waiting = self.want.iter().map(|want| ClaimView {
            ticket: ticket(self.me, want.sn),
            inside: false,
            held_up: self.held.is_some() || want.held_up,
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

    /// An idle holder is vacant, but must not be forgotten: the token would be lost with it.
    fn is_vacant(&self) -> bool {
        let idle = self
            .held
            .as_ref()
            .is_none_or(|held| held.followers.is_empty() && held.token.queue.is_empty());
        self.want.is_none() && self.inside.is_none() && self.attempt.is_none() && idle
    }

    /// Epochs, promises and numbers of requests are on disk.
    fn retire(&self, _: &mut Shared) {}
}
