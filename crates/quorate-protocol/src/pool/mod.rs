//! h of k units: the permission-based algorithm of Manabe & Tajima, on (h,k)-arbiters.
//!
//! Each arbiter has k units to lend. A request for h units collects h of them from every arbiter of
//! one of the quorums for h. Requests for more than k units together have an arbiter in common,
//! which cannot serve all of them. When a request with a lower ticket arrives, the arbiter recalls
//! units from requests that are not inside, so the first in the queue enters and no request
//! starves.
//!
//! The printed algorithm has one real error, and does not cover sessions that end, requests that
//! are given up, or messages that overtake each other. `docs/protocols/pool.md` lists the repairs
//! as E1 to E5, and code cites them by these numbers.

mod arbiter;
mod check;
mod claim;
mod message;
#[cfg(feature = "mutations")]
pub mod mutations;
mod naming;
mod options;
mod permission;
mod queue;
mod repair;
mod request;
mod requester;
mod spares;
mod unit_quorums;

use std::sync::Arc;

use quorate_quorum::{Arbiters, QuorumSystem, SiteId};

use self::arbiter::Arbiter;
use self::queue::Entry;
use self::requester::Requester;
use self::unit_quorums::UnitQuorums;
use crate::{
    ClaimId, ClaimView, Input, Out, Protocol, Shared, StayTimer, Tick, ValidityBasis, View,
    Violation,
};

pub use self::claim::{Claim, Grant};
pub use self::message::{Message, TryNo};
pub use self::options::Options;
pub use quorate_session::Units;

/// One site's part in a pool: a requester for each of its claims, and an arbiter. They share only
/// the Lamport clock and the fences.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pool {
    requester: Requester,
    arbiter: Arbiter,
}

impl Pool {
    /// A site in its initial state. The pool has as many units as `arbiters` are for.
    pub fn new(arbiters: &Arc<Arbiters>, options: Options) -> Self {
        let quorums = UnitQuorums::new(arbiters);
        let arbiter = Arbiter::new(quorums.units(), options);
        Self { requester: Requester::new(quorums, options.spares), arbiter }
    }

    /// How many units this site's arbiter has not lent.
    pub fn free_units(&self) -> u32 {
        self.arbiter.free
    }

    /// Routes a message to the half it is for.
    fn deliver(
        &mut self,
        site: &mut Shared,
        from: SiteId,
        message: Message,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        message.check(site)?;
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
        let ticket = message.ticket();
        if ticket.site != from {
            return Err(Violation::NotYours(ticket));
        }
        let session = site.session_of(from).ok_or(Violation::NoSession(from))?;
        let arbiter = &mut self.arbiter;
        if let Message::Request { units, numbers, .. } = &message {
            let quorums = &self.requester.quorums;
            quorums.check(Units { count: *units, of: quorums.units() })?;
            arbiter.check_named(ticket, *units, numbers)?;
        }
        site.observe(ticket);
        match message {
            Message::Request { units, held, numbers, no_wait, attempt, .. } => {
                let entry = Entry { attempt, numbers, ..Entry::new(ticket, units, held, session) };
                arbiter.on_request(site, entry, out);
                if no_wait && arbiter.queue.get_mut(ticket).is_some_and(|entry| entry.waits()) {
                    out.send(from, Message::Wait { ticket });
                }
            }
            Message::Name { numbers, .. } => arbiter.on_name(site, ticket, numbers, out)?,
            Message::Cancelled { number, .. } => arbiter.on_cancelled(site, ticket, number, out),
            Message::Release { floor, .. } => arbiter.on_release(site, ticket, floor, out),
            Message::Raise { ceil, .. } => {
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
        if requester.has_withdrawn(&message) {
            out.ignore("it answers a former try");
            return Ok(());
        }
        match message {
            Message::Ok { ticket, number, fences, clock, .. } => {
                requester.on_ok(site, from, ticket, number, fences, out)?;
                site.clock.observe(clock);
            }
            Message::Wait { ticket } => requester.on_wait(ticket),
            Message::Cancel { ticket, number, .. } => {
                requester.on_cancel(from, ticket, number, out)?;
            }
            Message::Raised { ticket, ceil } => requester.on_raised(site, from, ticket, ceil, out),
            Message::Named { ticket, fences, .. } => {
                requester.on_named(site, from, ticket, fences, out);
            }
            Message::Taken { ticket, by_others, .. } => {
                requester.on_taken(site, from, ticket, &by_others, out)?;
            }
            _ => unreachable!("all other messages are for the arbiter"),
        }
        Ok(())
    }
}

impl Protocol for Pool {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;
    type Timer = StayTimer;

    const CONCURRENT_CLAIMS: bool = true;

    fn step(
        &mut self,
        site: &mut Shared,
        _now: Tick,
        input: Input<Self>,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        match input {
            Input::Acquire(id, claim) => return self.requester.acquire(site, id, claim, out),
            Input::Release(id) => return self.requester.release(id, out),
            Input::Abandon(id) => return self.requester.abandon(id, out),
            Input::Turn(_) => return Err(Violation::NoTurns),
            Input::Deliver(from, message) => return self.deliver(site, from, message, out),
            Input::Expire(StayTimer(id)) => self.requester.on_stay(site, id, out),
            Input::Silent(_) => self.requester.on_silent(site, out),
            Input::Lost(peer) => {
                self.requester.on_lost(site, peer, out);
                self.requester.try_to_enter_all(site, out);
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

    fn quorums_of<'a>(&'a self, site: &'a Shared, claim: ClaimId) -> &'a dyn QuorumSystem {
        match self.requester.units(claim) {
            Some(units) => self.requester.quorums.of(units),
            None => site.quorums(),
        }
    }

    fn view(&self) -> View {
        View { claims: self.requester.views(), ..self.view_without_claims(usize::MAX) }
    }

    fn claim_view(&self, claim: ClaimId) -> Option<ClaimView> {
        self.requester.view_of(claim)
    }

    fn view_without_claims(&self, most: usize) -> View {
        View {
            lent: self.arbiter.queue.lent().take(most).collect(),
            queue: self.arbiter.queue.waiting().take(most).collect(),
            ..View::default()
        }
    }

    fn is_wanted(&self) -> bool {
        self.arbiter.queue.waiting().next().is_some()
    }

    fn is_vacant(&self) -> bool {
        self.requester.is_idle() && self.arbiter.queue.is_empty()
    }

    /// Nothing: the number of a loan counts the loans to one request in one session.
    fn retire(&self, _: &mut Shared) {}
}
