//! One holder at a time: the delay-optimal quorum algorithm of Cao & Singhal 2001.
//!
//! A request collects one permission from every arbiter of its quorum; all quorums meet, so one
//! request at a time has them all. With Maekawa a leaving holder returns the permissions and each
//! arbiter lends its own again: two messages, one after the other, between two holders. Here each
//! arbiter tells the holder who comes next, and the holder hands the permission over itself: one.
//!
//! The price is that an arbiter has only a delayed view of where its permission is, and that
//! messages about one permission reach a site over different channels. The printed pseudo-code
//! stumbles over that in nine places, E1 to E9; `docs/protocols/mutex.md` lists them, and code
//! cites it by these numbers.

mod arbiter;
pub mod errata;
mod message;
mod options;
mod requester;

use std::convert::Infallible;
use std::fmt;

use quorate_quorum::SiteId;

use self::arbiter::Arbiter;
use self::requester::{Loan, Phase, Requester};
use crate::{Basis, ClaimId, ClaimView, Fence, Input, Out, Protocol, Shared, Tick, Ticket};
use crate::{View, Violation};

pub use self::message::{Message, Pass, Release};
pub use self::options::Options;

/// One site's part in the mutex: a requester and an arbiter that share nothing but the clock and
/// the fence floor.
///
/// It takes one claim at a time; a queue of local callers belongs in front of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mutex {
    requester: Requester,
    arbiter: Arbiter,
}

/// What a holder has: its request, and a fence above those of all holders before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The request that was let in.
    pub ticket: Ticket,
    /// Its fence.
    pub fence: Fence,
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with {}, fence {}", self.ticket, self.fence)
    }
}

impl Mutex {
    /// A site at which nothing has happened yet.
    pub fn new(options: Options) -> Self {
        Self { requester: Requester::new(options), arbiter: Arbiter::new(options) }
    }

    /// Hands a message to the half it is meant for.
    fn deliver(
        &mut self,
        site: &mut Shared,
        from: SiteId,
        message: Message,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        if message.is_for_arbiter() && message.ticket().site != from {
            return Err(Violation::NotYours(message.ticket()));
        }
        site.observe(message.latest_ticket());
        let (requester, arbiter) = (&mut self.requester, &mut self.arbiter);
        match message {
            Message::Request { ticket } => arbiter.on_request(site, ticket, out),
            Message::Yield { ticket, number, passed } => {
                arbiter.on_yield(site, ticket, number, passed, out);
            }
            Message::Release(release) => arbiter.on_release(site, release, out),
            Message::Cancel { ticket } => arbiter.on_cancel(site, ticket, out),
            Message::Reply { arbiter, ticket, number, then, floor } => {
                requester.on_reply(Loan { arbiter, ticket, number }, then, floor, out)?;
            }
            Message::Fail { ticket } => requester.on_fail(from, ticket, out)?,
            Message::Inquire { ticket, number, then } => {
                requester.on_inquire(Loan { arbiter: from, ticket, number }, then, out)?;
            }
            Message::Transfer { ticket, number, next } => {
                requester.on_transfer(Loan { arbiter: from, ticket, number }, next, out)?;
            }
        }
        Ok(())
    }
}

impl Protocol for Mutex {
    type Message = Message;
    type Claim = ();
    type Grant = Grant;
    type Timer = Infallible;

    fn step(
        &mut self,
        site: &mut Shared,
        _now: Tick,
        input: Input<Self>,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        match input {
            Input::Acquire(claim, ()) => self.requester.acquire(site, claim, out),
            Input::Release(claim) => self.requester.release(claim, out),
            Input::Abandon(claim) => self.requester.abandon(claim, out),
            Input::Deliver(from, message) => self.deliver(site, from, message, out),
            Input::Expire(never) => match never {},
            Input::Silent(_)
            | Input::Lost(_)
            | Input::Open(..)
            | Input::Closed(_)
            | Input::Opened(..) => {
                out.ignore("the paper's channels never fail");
                Ok(())
            }
        }
    }

    fn rests_on(&self, claim: ClaimId) -> Basis {
        self.requester.vouchers(claim).map_or(Basis::Nothing, Basis::Permissions)
    }

    fn view(&self) -> View {
        let claim = self.requester.phase.request().map(|request| ClaimView {
            ticket: request.ticket,
            inside: matches!(self.requester.phase, Phase::Inside(..)),
            missing: request.missing().collect(),
        });
        View {
            claims: claim.into_iter().collect(),
            lent: self.arbiter.lock.into_iter().collect(),
            queue: self.arbiter.waiting.iter().copied().collect(),
        }
    }

    fn is_vacant(&self) -> bool {
        self.requester.phase == Phase::Idle && self.arbiter.is_vacant()
    }
}
