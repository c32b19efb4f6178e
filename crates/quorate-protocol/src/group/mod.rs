//! Any one of several groups: the quorum algorithm of Manabe & Park 2004.
//!
//! A request names a set of groups, and learns when it is let in which of them it got. Managers
//! each have one vote. Who has the votes of a quorum is let in as a *pivot*: it opens a session of
//! one group, and each of its managers lets every request join that could use this group, as a
//! *follower*, while the pivot is inside. All quorums meet, so nobody who could join is kept
//! waiting.
//!
//! The session ends in two rounds: the pivot leaves and asks whether anybody is left (`release`,
//! `finished`), and only then are the votes free (`over`). `docs/protocols/group.md` lists what is
//! wrong or missing in the printed algorithm as E1 to E10, and code cites it by these numbers.

mod access;
mod claim;
mod closing;
#[cfg(feature = "mutations")]
pub mod errata;
mod manager;
mod message;
mod options;
mod queue;
mod repair;
mod request;
mod requester;
mod session;

use std::convert::Infallible;

use quorate_quorum::{SiteId, SiteSet};

use self::manager::{Lock, Manager};
use self::queue::Entry;
use self::requester::{Enter, Requester};
use crate::{
    Basis, ClaimId, Input, Out, Protocol, SessionNo, Shared, Tick, Ticket, View, Violation,
};

pub use self::claim::{Claim, Grant, Via};
pub use self::message::Message;
pub use self::options::{Choice, Options};
pub use quorate_session::{Access, Group, Groups};

/// One site's part in a group lock: a requester for each of its claims, and a manager. They share
/// nothing but the clock and the fence floor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupLock {
    requester: Requester,
    manager: Manager,
}

impl GroupLock {
    /// A site at which nothing has happened yet.
    pub fn new(options: Options) -> Self {
        Self { requester: Requester::new(options), manager: Manager::new(options) }
    }

    /// Our pivots whose session is not closed everywhere, and the votes each rests on: all who
    /// joined one are valid no longer than these contain a quorum.
    pub fn leads(&self) -> impl Iterator<Item = (Ticket, SiteSet)> + '_ {
        self.requester.leads()
    }

    /// Hands a message to the half it is meant for.
    fn deliver(
        &mut self,
        site: &mut Shared,
        now: Tick,
        (from, message): (SiteId, Message),
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        if message.is_for_manager() {
            let ticket = message.ticket();
            if ticket.site != from {
                return Err(Violation::NotYours(ticket));
            }
            let session = site.session_of(from).ok_or(Violation::NoSession(from))?;
            self.deliver_to_manager(site, now, (session, message), out)
        } else {
            self.deliver_to_requester(site, from, message, out)
        }
    }

    fn deliver_to_manager(
        &mut self,
        site: &mut Shared,
        now: Tick,
        (session, message): (SessionNo, Message),
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        let manager = &mut self.manager;
        match message {
            Message::Request { groups, .. } if groups.is_empty() => {
                return Err(Violation::NoGroups);
            }
            Message::Request { ticket, groups, held, hasty } => {
                site.observe(ticket);
                let entry = Entry { ticket, groups, held, session, since: now };
                manager.on_request(site, entry, out);
                if hasty && manager.waiting().any(|waiting| waiting == ticket) {
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
            Message::Ok { ticket, fences, waiting, clock } => {
                requester.on_ok(site, (from, ticket), (fences, waiting), out)?;
                site.clock.observe(clock);
            }
            Message::Wait { ticket } => requester.on_wait(ticket),
            Message::Cancel { ticket } => requester.on_cancel(from, ticket, out)?,
            Message::Enter { ticket, pivot, group, fence, right, clock } => {
                requester.on_enter(from, Enter { ticket, pivot, group, fence, right }, out)?;
                site.clock.observe(clock);
            }
            Message::Finished { ticket } => requester.on_finished(from, ticket, out),
            Message::Raised { ticket, ceil } => {
                requester.on_raised(site, (from, ticket), ceil, out);
            }
            _ => unreachable!("everything else is the manager's"),
        }
        Ok(())
    }
}

impl Protocol for GroupLock {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;
    type Timer = Infallible;

    const SEVERAL: bool = true;

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
            Input::Deliver(from, message) => return self.deliver(site, now, (from, message), out),
            Input::Expire(never) => match never {},
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
            Input::Assured(_) => self.manager.on_assured(site, now, out),
            Input::Cleared => self.manager.on_cleared(site, out),
        }
        Ok(())
    }

    fn rests_on(&self, claim: ClaimId) -> Basis {
        self.requester.basis(claim)
    }

    /// The word of a pivot, that a manager may let others join it; and that of the manager, on
    /// which those who joined are inside.
    fn words(&self) -> Vec<(SiteId, Ticket)> {
        self.requester.rights().chain(self.manager.admitted()).collect()
    }

    fn word_on(&self, about: Ticket) -> Basis {
        match self.manager.pivot_of(about) {
            Some(pivot) => Basis::Word(pivot.site, pivot),
            None => self.requester.lead_basis(about),
        }
    }

    fn view(&self) -> View {
        View {
            claims: self.requester.views(),
            lent: self.manager.lent().collect(),
            queue: self.manager.waiting().collect(),
            ..View::default()
        }
    }

    fn is_wanted(&self) -> bool {
        self.manager.waiting().next().is_some()
    }

    fn is_vacant(&self) -> bool {
        self.requester.is_idle() && self.manager.is_vacant()
    }

    /// Messages carry no numbers: nothing outlives the requests and sessions they name.
    fn retire(&self, _: &mut Shared) {}
}
