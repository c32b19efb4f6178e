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
mod asking;
#[cfg(feature = "mutations")]
pub mod errata;
#[cfg(feature = "mutations")]
mod holes;
mod message;
mod options;
mod permission;
mod queue;
mod repair;
mod requester;
mod turn;

use std::convert::Infallible;
use std::fmt;

use quorate_quorum::SiteId;

use self::arbiter::Arbiter;
use self::permission::Loan;
use self::queue::Entry;
use self::requester::{Phase, Requester};
use crate::{Basis, ClaimId, ClaimView, Fence, GrantNo, Input, Out, Protocol, Shared, Tick};
use crate::{Ticket, View, Violation};

pub use self::message::{Message, Pass, Release, Target};
pub use self::options::Options;
pub use crate::Fences;

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
        let ticket = message.ticket();
        if message.is_for_arbiter() && ticket.site != from {
            return Err(Violation::NotYours(ticket));
        }
        site.observe(message.latest_ticket());
        if message.is_for_arbiter() {
            self.deliver_to_arbiter(site, from, message, out)
        } else {
            self.deliver_to_requester(site, from, message, out)
        }
    }

    fn deliver_to_arbiter(
        &mut self,
        site: &mut Shared,
        from: SiteId,
        message: Message,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        let session = site.session_of(from).ok_or(Violation::NoSession(from))?;
        let arbiter = &mut self.arbiter;
        match message {
            Message::Request { ticket, held, cut } => {
                let refuses = GrantNo::default();
                arbiter.on_request(site, Entry { ticket, held, session, cut, refuses }, out);
            }
            Message::Yield { ticket, number, passed } => {
                arbiter.on_yield(site, ticket, number, passed, out);
            }
            Message::Release(release) => arbiter.on_release(site, release, out),
            Message::Cancel { ticket } => arbiter.on_cancel(site, ticket, out),
            Message::Direct { ticket, cut } => arbiter.on_direct(site, ticket, cut, out),
            Message::Have { ticket, number } => arbiter.on_have(ticket, number, out),
            Message::Lack { ticket, upto } => arbiter.on_lack(site, ticket, upto, out),
            Message::Raise { ticket, ceil } => {
                site.raise_ceil(ceil, out);
                out.send(from, Message::Raised { ticket, ceil: site.ceil() });
            }
            _ => unreachable!("everything else is the requester's"),
        }
        Ok(())
    }

    fn deliver_to_requester(
        &mut self,
        site: &mut Shared,
        from: SiteId,
        message: Message,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        let requester = &mut self.requester;
        match message {
            Message::Reply { arbiter, to, number, then, fences } => {
                requester.on_reply(site, (arbiter, to), (number, fences), then, out)?;
            }
            Message::Fail { ticket } => requester.on_fail(site, from, ticket, out)?,
            Message::Inquire { ticket, number, then, demand } => {
                let asked = Loan { arbiter: from, ticket, number };
                requester.on_inquire(site, asked, then, demand, out)?;
            }
            Message::Transfer { ticket, number, next } => {
                requester.on_transfer(Loan { arbiter: from, ticket, number }, next, out)?;
            }
            Message::Where { ticket, upto } => requester.on_where(from, ticket, upto, out),
            Message::Raised { ticket, ceil } => requester.on_raised(site, from, ticket, ceil, out),
            _ => unreachable!("everything else is the arbiter's"),
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
            Input::Acquire(claim, ()) => return self.requester.acquire(site, claim, out),
            Input::Release(claim) => return self.requester.release(site, claim, out),
            Input::Abandon(claim) => return self.requester.abandon(site, claim, out),
            Input::Turn(claim) => return self.requester.turn(site, claim, out),
            Input::Deliver(from, message) => return self.deliver(site, from, message, out),
            Input::Expire(never) => match never {},
            Input::Silent(_) => self.requester.on_silent(site, out),
            Input::Lost(peer) => {
                self.requester.on_lost(site, peer, out);
                self.requester.try_to_enter(site, out);
            }
            Input::Open(peer, _) => self.requester.on_open(site, peer, out),
            Input::Closed(client) => self.arbiter.on_closed(site, client, out),
            Input::Opened(..) => out.ignore("the client asks if it needs anything"),
            Input::Assured(_) => out.ignore("nobody is inside here on a word"),
            Input::Cleared => self.arbiter.on_cleared(site, out),
        }
        Ok(())
    }

    fn rests_on(&self, claim: ClaimId) -> Basis {
        self.requester.vouchers(claim).map_or(Basis::Nothing, Basis::Permissions)
    }

    fn view(&self) -> View {
        let claim = self.requester.phase.request().map(|request| ClaimView {
            ticket: request.ticket,
            inside: matches!(self.requester.phase, Phase::Inside(..)),
            held_up: request.permissions.values().any(|permission| permission.failed),
            missing: request.missing().collect(),
        });
        View {
            claims: claim.into_iter().collect(),
            lent: self.arbiter.lock.iter().map(|holder| holder.ticket).collect(),
            queue: self.arbiter.waiting.tickets().collect(),
            ..View::default()
        }
    }

    fn is_wanted(&self) -> bool {
        self.requester.is_wanted() || self.arbiter.is_wanted_elsewhere()
    }

    fn is_vacant(&self) -> bool {
        self.requester.phase == Phase::Idle && self.arbiter.is_vacant()
    }

    fn retire(&self, site: &mut Shared) {
        site.note_loans(self.arbiter.number.count);
    }
}
