//! h of k units on the ordinary quorums of a cluster: entering is a critical section, being inside
//! is not.
//!
//! Each arbiter has one permission, and a *ledger* of the callers inside that are registered with
//! it. A request that has the permissions of a quorum is *at the door*: it learns from the ledgers
//! who is inside, waits until enough units are free, registers its callers while it gives the
//! permissions back, and is inside. The quorum of any later request meets the quorum where they are
//! registered.
//!
//! There is no paper. `docs/protocols/ledger.md` has the rules, numbered L1 to L9, and code cites
//! them by these numbers.

mod arbiter;
mod check;
mod door;
mod journal;
mod known;
mod message;
#[cfg(feature = "mutations")]
pub mod mutations;
mod options;
mod registrar;
mod repair;
mod request;
mod requester;
mod stay;

use quorate_quorum::SiteId;

use self::arbiter::Arbiter;
use self::requester::Requester;
use crate::{
    ClaimId, ClaimView, Input, Out, Protocol, Shared, StayTimer, Tick, Ticket, ValidityBasis, View,
    Violation,
};

pub use self::known::{Change, Update};
pub use self::message::{Message, Try};
pub use self::options::Options;
pub use crate::pool::{Claim, Grant, Units};

/// One site's part in a ledger pool: a requester for its callers, and an arbiter. They share only
/// the Lamport clock and the fences.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LedgerPool {
    requester: Requester,
    arbiter: Arbiter,
}

impl LedgerPool {
    /// A site in its initial state, of a pool of so many units.
    pub fn new(units: u32, options: Options) -> Self {
        let requester = Requester::new(units, options);
        Self { requester, arbiter: Arbiter::new(options) }
    }

    /// The callers that are registered with this site's arbiter, and their units, for display.
    pub fn registered(&self) -> String {
        self.arbiter.journal.ledger.to_string()
    }

    /// Routes a message to the half it is for.
    fn deliver(
        &mut self,
        site: &mut Shared,
        from: SiteId,
        message: Message,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        message.check(site, self.requester.units)?;
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
        if let Some(ticket) = message.owners().find(|ticket| ticket.site != from) {
            return Err(Violation::NotYours(ticket));
        }
        site.session_of(from).ok_or(Violation::NoSession(from))?;
        let arbiter = &mut self.arbiter;
        match message {
            Message::Request { of, known } => {
                site.observe(of.ticket);
                arbiter.on_request(site, of, known, out);
            }
            Message::Yield { of } => arbiter.on_yield(site, of, out),
            Message::Cancel { of } => arbiter.on_cancel(site, of, out),
            Message::Enter { of, callers, floor } => {
                arbiter.on_enter(site, of, callers, floor, out)?;
            }
            Message::Register { ticket, numbers } => {
                arbiter.on_register(site, ticket, numbers, out);
            }
            Message::Ack { of, about, session } => arbiter.on_ack(site, of, about, session, out),
            Message::Left { ticket } => arbiter.on_left(site, ticket, out),
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
            Message::Part { update } => requester.on_part(from, update),
            Message::Reply { of, update, fences, clock } => {
                requester.on_reply(site, from, of, (update, fences), out)?;
                site.clock.observe(clock);
            }
            Message::Fail { of } => requester.on_fail(site, from, of, out)?,
            Message::Inquire { of } => requester.on_inquire(site, from, of, out)?,
            Message::Joined { of, about, numbers, session, version } => {
                let change = Change::Join(about, numbers);
                requester.on_joined(from, of, change, (session, version), out);
            }
            Message::Gone { about, closed, version } => {
                requester.on_gone(site, from, about, closed, version, out);
            }
            Message::Registered { ticket } => requester.on_registered(from, ticket, out),
            Message::Raised { ticket, ceil } => requester.on_raised(site, from, ticket, ceil, out),
            _ => unreachable!("all other messages are for the arbiter"),
        }
        Ok(())
    }
}

impl Protocol for LedgerPool {
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
            Input::Release(id) => return self.requester.release(site, id, out),
            Input::Abandon(id) => return self.requester.abandon(site, id, out),
            Input::Turn(_) => return Err(Violation::NoTurns),
            Input::Deliver(from, message) => return self.deliver(site, from, message, out),
            Input::Expire(StayTimer(claim)) => self.requester.on_stay(site, claim, out),
            Input::Silent(_) => self.requester.on_silent(site, out),
            Input::Lost(peer) => self.requester.on_lost(site, peer, out),
            Input::Open(..) => self.requester.on_open(site, out),
            Input::Closed(client) => self.arbiter.on_closed(site, client, out),
            Input::Opened(..) => out.ignore("the client asks if it needs anything"),
            Input::DelegationValid(_) => out.ignore("no holder here depends on a delegation"),
            Input::Cleared => self.arbiter.on_cleared(site, out),
        }
        Ok(())
    }

    fn validity_basis(&self, claim: ClaimId) -> ValidityBasis {
        let registrars = self.requester.registrars(claim);
        registrars.map_or(ValidityBasis::Nothing, ValidityBasis::Permissions)
    }

    /// The request of a site stands for all its callers that wait.
    fn on_behalf(&self, request: Ticket) -> Vec<Ticket> {
        self.requester.on_behalf(request)
    }

    fn view(&self) -> View {
        View { claims: self.requester.views(), ..self.view_without_claims(usize::MAX) }
    }

    fn claim_view(&self, claim: ClaimId) -> Option<ClaimView> {
        self.requester.view_of(claim)
    }

    fn view_without_claims(&self, most: usize) -> View {
        View {
            lent: self.arbiter.lent().take(most).collect(),
            queue: self.arbiter.waiting.keys().copied().take(most).collect(),
            ..View::default()
        }
    }

    fn is_wanted(&self) -> bool {
        !self.arbiter.waiting.is_empty()
    }

    fn is_vacant(&self) -> bool {
        self.requester.is_idle() && self.arbiter.is_vacant()
    }

    fn retire(&self, site: &mut Shared) {
        site.note_loans(self.arbiter.journal.ledger.version);
    }
}
