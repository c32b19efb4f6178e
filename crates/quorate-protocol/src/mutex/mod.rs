//! One holder at a time: the delay-optimal quorum algorithm of Cao & Singhal 2001.
//!
//! A request collects one permission from every arbiter of its quorum. Any two quorums intersect,
//! so only one request at a time has all of them. In Maekawa's algorithm a leaving holder returns
//! the permissions and each arbiter lends its own again: two serial messages between two holders.
//! Here each arbiter tells the holder which request comes next, and the holder passes the
//! permission on itself: one message.
//!
//! The price is that an arbiter has only a delayed view of where its permission is, and that
//! messages about one permission reach a site over different channels. The printed pseudo-code
//! has nine errors, most of them for this reason. `docs/protocols/mutex.md` lists them as E1 to
//! E9, and code cites them by these numbers.

mod arbiter;
mod check;
mod message;
#[cfg(feature = "mutations")]
pub mod mutations;
mod options;
mod permission;
mod queue;
mod repair;
mod request;
mod requester;
mod spares;
mod turn;

use std::fmt;

use quorate_quorum::SiteId;

use self::arbiter::Arbiter;
use self::permission::Loan;
use self::queue::Entry;
use self::requester::{Phase, Requester};
use crate::{
    ClaimId, ClaimView, Fence, GrantNo, Input, Out, Protocol, Shared, StayTimer, Tick,
    ValidityBasis,
};
use crate::{Ticket, View, Violation};

pub use self::message::{Message, Pass, Release, Target};
pub use self::options::Options;
pub use crate::Fences;

/// One site's part in the mutex: a requester and an arbiter that share only the Lamport clock and
/// the fences.
///
/// It takes one claim at a time; local callers queue in front of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mutex {
    requester: Requester,
    arbiter: Arbiter,
}

/// What a holder gets: its request, and a fence above those of all earlier holders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The request that entered.
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

    /// The requests to which this site's request will pass permissions, each with the arbiter
    /// whose permission it is.
    pub fn next(&self) -> impl Iterator<Item = (Ticket, SiteId)> + '_ {
        let permissions = self.requester.phase.request().into_iter().flat_map(|r| &r.permissions);
        permissions.flat_map(|(&arbiter, permission)| {
            let next = permission.next.iter().flat_map(|next| &next.1);
            next.map(move |target| (target.ticket, arbiter))
        })
    }

    /// Routes a message to the half it is for.
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
        message.check(site)?;
        self.arbiter.check_loan(site, &message)?;
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
                let entry = Entry { ticket, held, session, cut, asked: false, refuses };
                arbiter.on_request(site, entry, out);
            }
            Message::Yield { ticket, number, passed } => {
                arbiter.on_yield(site, ticket, number, passed, out);
            }
            Message::Release(release) => arbiter.on_release(site, release, out),
            Message::Cancel { ticket } => arbiter.on_cancel(site, ticket, out),
            Message::Direct { ticket, cut } => arbiter.on_direct(site, ticket, cut, out),
            Message::Have { ticket, number } => arbiter.on_have(site, ticket, number, out)?,
            Message::Lack { ticket, upto } => arbiter.on_lack(site, ticket, upto, out),
            Message::Raise { ticket, ceil } => {
                site.raise_ceil(ceil, out);
                out.send(from, Message::Raised { ticket, ceil: site.ceil() });
            }
            _ => unreachable!("all other messages are for the requester"),
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
                let loan = Loan { arbiter, ticket: to.ticket, number };
                requester.on_reply(site, loan, to.session, fences, then, out)?;
            }
            Message::Fail { ticket } => requester.on_fail(site, from, ticket, out)?,
            Message::Inquire { ticket, number, then, demand } => {
                let loan = Loan { arbiter: from, ticket, number };
                requester.on_inquire(site, loan, then, demand, out)?;
            }
            Message::Transfer { ticket, number, next } => {
                requester.on_transfer(Loan { arbiter: from, ticket, number }, next, out)?;
            }
            Message::Where { ticket, upto } => requester.on_where(from, ticket, upto, out),
            Message::Raised { ticket, ceil } => requester.on_raised(site, from, ticket, ceil, out),
            _ => unreachable!("all other messages are for the arbiter"),
        }
        Ok(())
    }
}

impl Protocol for Mutex {
    type Message = Message;
    type Claim = ();
    type Grant = Grant;
    type Timer = StayTimer;

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
            Input::Expire(StayTimer(claim)) => self.requester.on_stay(site, claim, out),
            Input::Silent(_) => self.requester.on_silent(site, out),
            Input::Lost(peer) => {
                self.requester.on_lost(site, peer, out);
                self.requester.try_to_enter(site, out);
            }
            Input::Open(peer, _) => self.requester.on_open(site, peer, out),
            Input::Closed(client) => self.arbiter.on_closed(site, client, out),
            Input::Opened(..) => out.ignore("the client asks if it needs anything"),
            Input::DelegationValid(_) => out.ignore("no holder here depends on a delegation"),
            Input::Cleared => self.arbiter.on_cleared(site, out),
        }
        Ok(())
    }

    fn validity_basis(&self, claim: ClaimId) -> ValidityBasis {
        self.requester.lenders(claim).map_or(ValidityBasis::Nothing, ValidityBasis::Permissions)
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
        self.requester.is_wanted() || self.arbiter.has_waiters()
    }

    fn is_vacant(&self) -> bool {
        self.requester.phase == Phase::Idle && self.arbiter.is_vacant()
    }

    fn retire(&self, site: &mut Shared) {
        site.note_loans(self.arbiter.number.count);
    }
}
