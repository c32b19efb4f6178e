//! Members of a group, shared or exclusive, for a declared time: GME-RP of Cenci & Ardenghi 2012.
//!
//! One group at a time owns the resource; one ownership is a *stage*. A *process* asks the host of
//! a group to become a member, declares its role and how long it will stay, and waits. The *stage*
//! of the group competes for the locks of a quorum of *arbiters*, admits its processes while it
//! holds them, and ends when the last member has left. A latecomer is admitted if it can leave
//! before the stage's deadline.
//!
//! Every site is an arbiter, hosts the stages of some groups, and has a process for each claim.
//! `docs/protocols/role.md` lists the errata of the paper as A1 to A21; the code cites these
//! numbers. The paper names its events by their message (section 5), and so does the code.

mod arbiter;
mod check;
mod claim;
mod eta;
mod host;
mod loans;
mod message;
#[cfg(feature = "mutations")]
pub mod mutations;
mod options;
mod placement;
mod process;
mod repair;
mod requests;
mod spares;
mod stage;

use std::fmt;

use quorate_quorum::{SiteId, SiteSet};

use self::arbiter::{Arbiter, Entry};
use self::host::{Host, ProcessRequest};
use self::loans::RecGroup;
use self::process::{Admission, Processes};
use crate::group::Group;
use crate::{
    ClaimId, ClaimView, GrantNo, Input, Out, Protocol, Shared, Tick, Ticket, ValidityBasis, View,
    Violation,
};

pub use self::claim::{Claim, Grant};
pub use self::message::Message;
pub use self::options::{Options, Overrun};
pub use quorate_session::Role;

/// The timers of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// A member has exceeded its declared time.
    Overdue {
        /// The stage.
        pr: Ticket,
        /// The member's request.
        ticket: Ticket,
    },
    /// This stage has been in the critical section for some time: it collects spare locks.
    Stay(Ticket),
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Timer::Overdue { ticket, .. } => write!(f, "overdue-{ticket}"),
            Timer::Stay(pr) => write!(f, "stay-{pr}"),
        }
    }
}

/// One site's part in a role lock: a process for each of its claims, the stages it hosts, and an
/// arbiter. They share only the clock and the fence floor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RoleLock {
    processes: Processes,
    host: Host,
    arbiter: Arbiter,
}

impl RoleLock {
    /// A site in its initial state.
    pub fn new(options: Options) -> Self {
        let (host, arbiter) = (Host::new(options), Arbiter::new(options));
        Self { processes: Processes::default(), host, arbiter }
    }

    /// The site that processes ask to become members of `group`; `None` if none can be reached.
    pub fn host_of(group: &Group, site: &Shared) -> Option<SiteId> {
        placement::host_of(group, site)
    }

    /// The stages that this site hosts, and whether each is in its critical section.
    pub fn hosted(&self) -> impl Iterator<Item = (&Group, Ticket, bool)> + '_ {
        let stages = self.host.stages.iter();
        stages.map(|(group, stage)| (group, stage.pr, stage.state != stage::StageState::Active))
    }

    /// Our stages in the critical section, each with the arbiters whose locks it holds. The members
    /// of a stage are valid only while these arbiters contain a quorum.
    pub fn leads(&self) -> impl Iterator<Item = (Ticket, SiteSet)> + '_ {
        self.host.leads()
    }

    /// Passes a message to the part it is addressed to.
    fn deliver(
        &mut self,
        site: &mut Shared,
        now: Tick,
        from: SiteId,
        message: Message,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        let ticket = message.ticket();
        let owner = if message.is_asked() { from } else { site.site() };
        if ticket.site != owner {
            return Err(Violation::NotYours(ticket));
        }
        message.check(site)?;
        if message.is_asked() {
            self.deliver_request(site, now, from, message, out)
        } else {
            self.deliver_reply(site, now, from, message, out)
        }
    }

    /// Passes on a message to the host or the arbiter.
    fn deliver_request(
        &mut self,
        site: &mut Shared,
        now: Tick,
        from: SiteId,
        message: Message,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        let session = site.session_of(from).ok_or(Violation::NoSession(from))?;
        match message {
            Message::ReqProcess { ticket, group, role, time, no_wait } => {
                let request = ProcessRequest { ticket, group, role, time, no_wait };
                self.host.on_req_process(site, now, request, out)?;
            }
            Message::RelProcess { ticket, group } => {
                self.host.on_rel_process(site, now, ticket, &group, out);
            }
            Message::ReqGroup { pr, held, no_wait } => {
                site.observe(pr);
                let entry = Entry { pr, held, number: GrantNo::default(), session };
                self.arbiter.on_req_group(site, entry, out);
                if no_wait && self.arbiter.waiting().any(|waiting| waiting == pr) {
                    out.send(from, Message::Queued { pr });
                }
            }
            Message::RepRelGroup { pr, number } => {
                self.arbiter.on_rep_rel_group(site, pr, number, out);
            }
            Message::LibGroup { pr, floor } => self.arbiter.on_lib_group(site, pr, floor, out),
            Message::Raise { pr, ceil } => {
                site.raise_ceil(ceil, out);
                out.send(from, Message::Raised { pr, ceil: site.ceil() });
            }
            _ => unreachable!("all other messages are replies"),
        }
        Ok(())
    }

    /// Passes on a message from a host to a process, or from an arbiter to a stage.
    fn deliver_reply(
        &mut self,
        site: &mut Shared,
        now: Tick,
        from: SiteId,
        message: Message,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        match message {
            Message::RepProcess { ticket, group, pr, fence, stage_fence, .. } => {
                let admission = Admission { ticket, group, pr, fence, stage_fence };
                self.processes.on_rep_process(from, admission, out);
            }
            Message::Wait { ticket } => self.processes.on_wait(ticket),
            Message::Queued { pr } => self.host.on_queued(pr, out),
            Message::Revoke { ticket, group, pr } => {
                self.processes.on_revoke(ticket, group, pr, out);
            }
            Message::RecGroup { pr, number, fences, contended, clock } => {
                let lock = RecGroup { number, fences, contended };
                self.host.on_rec_group(site, now, from, pr, lock, out)?;
                site.clock.observe(clock);
            }
            Message::RelGroup { pr, number, better } => {
                self.host.on_rel_group(from, pr, number, better, out)?;
            }
            Message::Raised { pr, ceil } => self.host.on_raised(site, now, from, pr, ceil, out),
            _ => unreachable!("all other messages are requests"),
        }
        Ok(())
    }
}

impl Protocol for RoleLock {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;
    type Timer = Timer;

    const CONCURRENT_CLAIMS: bool = true;

    fn step(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<Self>,
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        match input {
            Input::Acquire(id, claim) => return self.processes.acquire(site, id, claim, out),
            Input::Release(id) => return self.processes.release(id, out),
            Input::Abandon(id) => return self.processes.abandon(id, out),
            Input::Turn(_) => return Err(Violation::NoTurns),
            Input::Deliver(from, message) => return self.deliver(site, now, from, message, out),
            Input::Expire(Timer::Overdue { pr, ticket }) => self.host.on_overdue(pr, ticket, out),
            Input::Expire(Timer::Stay(pr)) => self.host.on_stay(site, pr, out),
            Input::Silent(_) => self.host.on_silent(site, out),
            Input::Lost(peer) => {
                self.host.on_lost(site, now, peer, out);
                self.processes.on_lost(site, peer, out);
            }
            Input::Open(peer, _) => {
                self.host.on_open(site, peer, out);
                self.processes.on_open(site, out);
            }
            Input::Closed(client) => {
                self.arbiter.on_closed(site, client, out);
                self.host.on_closed(site, now, client, out);
            }
            Input::Opened(..) => out.ignore("the client asks if it needs anything"),
            Input::DelegationValid(_) => out.ignore("no admission depends on a delegation"),
            Input::Cleared => self.arbiter.on_cleared(site, out),
        }
        Ok(())
    }

    fn validity_basis(&self, claim: ClaimId) -> ValidityBasis {
        self.processes.validity_basis(claim)
    }

    /// A host delegates validity to the members of its stages.
    fn delegations(&self) -> Vec<(SiteId, Ticket)> {
        self.host.members().map(|(ticket, _)| (ticket.site, ticket)).collect()
    }

    fn delegation_basis(&self, about: Ticket) -> ValidityBasis {
        let stage = self.host.members().find(|(ticket, _)| *ticket == about);
        stage.map_or(ValidityBasis::Nothing, |(_, stage)| ValidityBasis::Permissions(stage.held()))
    }

    /// A stage competes for all its processes, at any site.
    fn on_behalf(&self, request: Ticket) -> Vec<Ticket> {
        match self.host.stages.values().find(|stage| stage.pr == request) {
            Some(stage) => stage.requests().collect(),
            None => vec![request],
        }
    }

    fn view(&self) -> View {
        View { claims: self.processes.views(), ..self.view_without_claims(usize::MAX) }
    }

    fn claim_view(&self, claim: ClaimId) -> Option<ClaimView> {
        self.processes.view_of(claim)
    }

    fn view_without_claims(&self, most: usize) -> View {
        View {
            lent: self.arbiter.holder.iter().map(|holder| holder.entry.pr).collect(),
            queue: self.arbiter.waiting().take(most).collect(),
            etas: self.host.etas().take(most).collect(),
            ..View::default()
        }
    }

    fn is_wanted(&self) -> bool {
        self.arbiter.waiting().next().is_some()
    }

    fn is_vacant(&self) -> bool {
        let idle = self.processes.processes.is_empty() && self.host.stages.is_empty();
        idle && self.arbiter.is_vacant()
    }

    /// Nothing to keep: a loan number counts the loans to one stage in one session.
    fn retire(&self, _: &mut Shared) {}
}
