//! Members of a group, shared or exclusive, for a declared time: GME-RP of Cenci & Ardenghi 2012.
//!
//! One group at a time owns the resource; its ownership is a *stage*. A *process* asks the host of
//! its group to be a member, says in which role and for how long, and waits. The *stage* of the
//! group competes for the locks of a quorum of *arbiters*, admits those who asked while it has
//! them, and ends when its last member has left. Who comes late is admitted if it ends in time.
//!
//! Every site is an arbiter, hosts the stages that are asked of it, and has a process for each
//! claim. `docs/protocols/role.md` lists what is wrong or missing in the paper as A1 to A21, and
//! code cites it by these numbers.

mod arbiter;
mod claim;
#[cfg(feature = "mutations")]
pub mod errata;
mod eta;
mod host;
mod locks;
mod member;
mod message;
mod options;
mod process;
mod stage;
mod stages;

use std::fmt;

use quorate_quorum::{SiteId, SiteSet};

use self::arbiter::{Arbiter, Entry};
use self::process::{Admission, Processes};
use self::stages::{Ask, Stages};
use crate::group::Group;
use crate::{Basis, ClaimId, GrantNo, Input, Out, Protocol, Shared, Tick, Ticket, View, Violation};

pub use self::claim::{Claim, Grant};
pub use self::message::Message;
pub use self::options::{Options, Overrun};
pub use quorate_session::Role;

/// When a member has stayed for longer than it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timer {
    /// The stage it is a member of.
    pub pr: Ticket,
    /// Its request.
    pub ticket: Ticket,
}

impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "overdue-{}", self.ticket)
    }
}

/// One site's part in a role lock: a process for each of its claims, the stages it hosts, and an
/// arbiter. They share nothing but the clock and the fence floor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RoleLock {
    processes: Processes,
    stages: Stages,
    arbiter: Arbiter,
}

impl RoleLock {
    /// A site at which nothing has happened yet.
    pub fn new(options: Options) -> Self {
        let (stages, arbiter) = (Stages::new(options), Arbiter::new(options));
        Self { processes: Processes::default(), stages, arbiter }
    }

    /// The site that a process asks to be a member of `group`; `None` if none can be reached.
    pub fn host_of(group: &Group, site: &Shared) -> Option<SiteId> {
        host::host_of(group, site)
    }

    /// Our stages that have members, and the arbiters each rests on: all members are valid no
    /// longer than these contain a quorum.
    pub fn leads(&self) -> impl Iterator<Item = (Ticket, SiteSet)> + '_ {
        self.stages.leads()
    }

    /// Hands a message to the part it is meant for.
    fn deliver(
        &mut self,
        site: &mut Shared,
        now: Tick,
        (from, message): (SiteId, Message),
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        let ticket = message.ticket();
        let speaker = if message.is_asked() { from } else { site.site() };
        if ticket.site != speaker {
            return Err(Violation::NotYours(ticket));
        }
        if message.is_asked() {
            self.deliver_question(site, now, (from, message), out)
        } else {
            self.deliver_answer(site, now, (from, message), out)
        }
    }

    /// What is asked of us, as a host or as an arbiter.
    fn deliver_question(
        &mut self,
        site: &mut Shared,
        now: Tick,
        (from, message): (SiteId, Message),
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        let session = site.session_of(from).ok_or(Violation::NoSession(from))?;
        match message {
            Message::ReqProcess { ticket, group, role, time, hasty } => {
                let ask = Ask { ticket, group, role, time, hasty };
                self.stages.on_req_process(site, now, ask, out)?;
            }
            Message::RelProcess { ticket, group } => {
                self.stages.on_rel_process(site, now, (ticket, &group), out);
            }
            Message::ReqGroup { pr, held, hasty } => {
                site.observe(pr);
                let entry = Entry { pr, held, number: GrantNo::default(), session };
                self.arbiter.on_req_group(site, entry, out);
                if hasty && self.arbiter.waiting().any(|waiting| waiting == pr) {
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
            _ => unreachable!("everything else is an answer"),
        }
        Ok(())
    }

    /// What a host or an arbiter says to us.
    fn deliver_answer(
        &mut self,
        site: &mut Shared,
        now: Tick,
        (from, message): (SiteId, Message),
        out: &mut Out<Self>,
    ) -> Result<(), Violation> {
        match message {
            Message::RepProcess { ticket, group, pr, fence, stage_fence, .. } => {
                let admission = Admission { ticket, group, pr, fence, stage_fence };
                self.processes.on_rep_process(from, admission, out);
            }
            Message::Wait { ticket } => self.processes.on_wait(ticket),
            Message::Queued { pr } => self.stages.on_queued(pr, out),
            Message::Revoke { ticket, group, pr } => {
                self.processes.on_revoke((ticket, group, pr), out);
            }
            Message::RecGroup { pr, number, fences, contended, clock } => {
                let terms = (fences, contended);
                self.stages.on_rec_group(site, now, (from, pr, number), terms, out)?;
                site.clock.observe(clock);
            }
            Message::RelGroup { pr, number, better } => {
                self.stages.on_rel_group((from, pr, number), better, out)?;
            }
            Message::Raised { pr, ceil } => {
                self.stages.on_raised(site, now, (from, pr, ceil), out);
            }
            _ => unreachable!("everything else is a question"),
        }
        Ok(())
    }
}

impl Protocol for RoleLock {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;
    type Timer = Timer;

    const SEVERAL: bool = true;

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
            Input::Deliver(from, message) => return self.deliver(site, now, (from, message), out),
            Input::Expire(timer) => self.stages.on_overdue(timer, out),
            Input::Silent(_) => self.stages.on_silent(site, out),
            Input::Lost(peer) => {
                self.stages.on_lost(site, now, peer, out);
                self.processes.on_lost(site, peer, out);
            }
            Input::Open(peer, _) => {
                self.stages.on_open(site, peer, out);
                self.processes.on_open(site, out);
            }
            Input::Closed(client) => {
                self.arbiter.on_closed(site, client, out);
                self.stages.on_closed(site, now, client, out);
            }
            Input::Opened(..) => out.ignore("the client asks if it needs anything"),
            Input::Assured(_) => out.ignore("nobody is let in on another's word"),
            Input::Cleared => self.arbiter.on_cleared(site, out),
        }
        Ok(())
    }

    fn rests_on(&self, claim: ClaimId) -> Basis {
        self.processes.basis(claim)
    }

    /// The word of a host, on which its members are inside.
    fn words(&self) -> Vec<(SiteId, Ticket)> {
        self.stages.members().map(|(ticket, _)| (ticket.site, ticket)).collect()
    }

    fn word_on(&self, about: Ticket) -> Basis {
        let stage = self.stages.members().find(|(ticket, _)| *ticket == about);
        stage.map_or(Basis::Nothing, |(_, stage)| Basis::Permissions(stage.held()))
    }

    /// A stage asks for all its members, wherever they are.
    fn on_behalf(&self, request: Ticket) -> Vec<Ticket> {
        match self.stages.stages.values().find(|stage| stage.pr == request) {
            Some(stage) => stage.requests().collect(),
            None => vec![request],
        }
    }

    fn view(&self) -> View {
        View {
            claims: self.processes.views(),
            lent: self.arbiter.holder.iter().map(|holder| holder.entry.pr).collect(),
            queue: self.arbiter.waiting().collect(),
            etas: self.stages.etas().collect(),
            ..View::default()
        }
    }

    fn is_wanted(&self) -> bool {
        self.arbiter.waiting().next().is_some()
    }

    fn is_vacant(&self) -> bool {
        let idle = self.processes.processes.is_empty() && self.stages.stages.is_empty();
        idle && self.arbiter.is_vacant()
    }

    /// A loan's number counts the loans of one stage in one session: nothing outlives them.
    fn retire(&self, _: &mut Shared) {}
}
