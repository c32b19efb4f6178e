//! Any one of several groups: the quorum algorithm of Manabe & Park 2004.
//!
//! A request names a set of groups and learns on entry which of them it got. Each manager has one
//! vote. A request with the votes of a quorum enters as a *pivot* and opens an *occupancy* of one
//! group. While the pivot is inside, each of its managers admits every compatible request as a
//! *follower*. All quorums intersect, so no compatible request is blocked.
//!
//! An occupancy closes in two phases: the pivot leaves and asks whether any follower is left
//! (`release`, `finished`); only then are the votes free (`over`). `docs/protocols/group.md` lists
//! the errata of the printed algorithm as E1 to E10; the code cites these numbers.

mod check;
mod claim;
mod closing;
mod manager;
mod message;
#[cfg(feature = "mutations")]
pub mod mutations;
mod occupancy;
mod options;
mod queue;
mod read_write;
mod repair;
mod request;
mod requester;
mod spares;

use quorate_quorum::{SiteId, SiteSet};

use self::manager::{Lock, Manager};
use self::queue::Entry;
use self::requester::{Enter, OkVote, Requester};
use crate::{
    ClaimId, ClaimView, Input, Out, Protocol, SessionNo, Shared, StayTimer, Tick, Ticket,
    ValidityBasis, View, Violation,
};

pub use self::claim::{Claim, Grant, Via};
pub use self::message::Message;
pub use self::options::{Choice, Options};
pub use quorate_session::{Access, Group, Groups};

/// One site's part in a group lock: a requester for its claims, and a manager. The two share only
/// the clock and the fence floor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupLock {
    requester: Requester,
    manager: Manager,
}

impl GroupLock {
    /// A site in its initial state.
    pub fn new(options: Options) -> Self {
        Self { requester: Requester::new(options), manager: Manager::new(options) }
    }

    /// The group inside and its pivot, as this site's manager knows them.
    pub fn occupied_by(&self) -> Option<(&Group, Ticket)> {
        let occupancy = self.manager.status.occupancy()?;
        Some((&occupancy.group, occupancy.pivot))
    }

    /// Pivots of this site whose occupancy is still open, each with the managers that voted for it.
    /// The followers of a pivot are valid only while these managers contain a quorum.
    pub fn leads(&self) -> impl Iterator<Item = (Ticket, SiteSet)> + '_ {
        self.requester.leads()
    }

    /// Passes a message to the half it is addressed to.
    fn deliver(
        &mut self,
        site: &mut Shared,
        now: Tick,
        from: SiteId,
        message: Message,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        message.check(site)?;
        if message.is_for_manager() {
            let ticket = message.ticket();
            if ticket.site != from {
                return Err(Violation::NotYours(ticket));
            }
            let session = site.session_of(from).ok_or(Violation::NoSession(from))?;
            self.deliver_to_manager(site, now, session, message, out)
        } else {
            self.deliver_to_requester(site, from, message, out)
        }
    }

    fn deliver_to_manager(
        &mut self,
        site: &mut Shared,
        now: Tick,
        session: SessionNo,
        message: Message,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        let manager = &mut self.manager;
        match message {
            Message::Request { groups, .. } if groups.is_empty() => {
                return Err(Violation::NoGroups);
            }
            Message::Request { ticket, groups, held, no_wait } => {
                site.observe(ticket);
                let entry = Entry { ticket, groups, held, session, since: now };
                manager.on_request(site, entry, out);
                if no_wait && manager.waiting().any(|waiting| waiting == ticket) {
                    out.send(ticket.site, Message::Wait { ticket });
                }
            }
            Message::Cancelled { ticket } => manager.on_cancelled(site, ticket, out)?,
            Message::Lock { ticket, group, fence, right } => {
                manager.on_lock(site, now, Lock { ticket, group, fence, right }, out)?;
            }
            Message::NoNeed { ticket } => manager.on_no_need(site, ticket, out),
            Message::Release { ticket } => manager.on_release(site, ticket, out),
            Message::Over { ticket } => manager.on_over(site, ticket, out)?,
            Message::Raise { ticket, ceil } => {
                site.raise_ceil(ceil, out);
                out.send(ticket.site, Message::Raised { ticket, ceil: site.ceil() });
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
            Message::Ok { ticket, fences, waiting, clock } => {
                requester.on_ok(site, from, OkVote { ticket, fences, waiting }, out)?;
                site.clock.observe(clock);
            }
            Message::Wait { ticket } => requester.on_wait(ticket),
            Message::Cancel { ticket } => requester.on_cancel(from, ticket, out)?,
            Message::Enter { ticket, pivot, group, fence, right, clock } => {
                requester.on_enter(from, Enter { ticket, pivot, group, fence, right }, out)?;
                site.clock.observe(clock);
            }
            Message::Finished { ticket } => requester.on_finished(from, ticket, out),
            Message::Raised { ticket, ceil } => requester.on_raised(site, from, ticket, ceil, out),
            _ => unreachable!("all other messages are for the manager"),
        }
        Ok(())
    }
}

impl Protocol for GroupLock {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;
    type Timer = StayTimer;

    const CONCURRENT_CLAIMS: bool = true;

    fn step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Self>,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        match input {
            Input::Acquire(id, claim) => return self.requester.acquire(site, id, claim, out),
            Input::Release(id) => return self.requester.release(site, id, out),
            Input::Abandon(id) => return self.requester.abandon(id, out),
            Input::Turn(_) => return Err(Violation::NoTurns),
            Input::Deliver(from, message) => return self.deliver(site, now, from, message, out),
            Input::Expire(StayTimer(id)) => self.requester.on_stay(site, id, out),
            Input::Silent(_) => self.requester.on_silent(site, out),
            Input::Lost(peer) => self.requester.on_lost(site, peer, out),
            Input::Open(peer, _) => {
                self.requester.on_open(site, peer, out);
                self.manager.on_open(site, now, out);
            }
            Input::Closed(client) => {
                self.requester.on_closed(client, out);
                self.manager.on_closed(site, client, out);
            }
            Input::Opened(client, _) => self.requester.on_opened(site, client, out),
            Input::DelegationValid(_) => self.manager.on_delegation_valid(site, now, out),
            Input::Cleared => self.manager.on_cleared(site, out),
        }
        Ok(())
    }

    fn validity_basis(&self, claim: ClaimId) -> ValidityBasis {
        self.requester.validity_basis(claim)
    }

    /// A pivot delegates to its managers the right to admit followers; a manager delegates validity
    /// to the followers it admitted.
    fn delegations(&self) -> Vec<(SiteId, Ticket)> {
        self.requester.admission_rights().chain(self.manager.admitted()).collect()
    }

    fn delegation_basis(&self, about: Ticket) -> ValidityBasis {
        match self.manager.pivot_of(about) {
            Some(pivot) => ValidityBasis::Delegation(pivot.site, pivot),
            None => self.requester.lead_validity_basis(about),
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
            lent: self.manager.lent().take(most).collect(),
            queue: self.manager.waiting().take(most).collect(),
            ..View::default()
        }
    }

    fn is_wanted(&self) -> bool {
        self.manager.waiting().next().is_some()
    }

    fn is_vacant(&self) -> bool {
        self.requester.is_idle() && self.manager.is_vacant()
    }

    /// Nothing to keep: messages carry no numbers that outlive their requests and sessions.
    fn retire(&self, _: &mut Shared) {}
}
