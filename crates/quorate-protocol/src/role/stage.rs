//! A group's stage: competes for the locks of a quorum, and admits members while it holds them.
//!
//! Cenci & Ardenghi 2012, section 5, the player group. A group without a stage is INACTIVE; EXIT is
//! a step, not a state (A9). `loans.rs` has the exchange with arbiters, `requests.rs` the time
//! accounting.

use std::time::Duration;

use litemap::LiteMap;
use quorate_quorum::SiteId;

use super::loans::Loan;
use super::requests::{Admitted, Request, Requests};
use super::{Message, Options, Overrun, RoleLock, Timer};
use crate::group::Group;
use crate::{ClaimId, Effect, Fence, Out, Shared, Tick, Ticket};

/// A stage of a group, at the site that hosts it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stage {
    pub(super) options: Options,
    pub(super) group: Group,
    /// Identity and priority of the stage, new for every stage; the paper's *priori*.
    pub(super) pr: Ticket,
    /// The members of this stage and its pending requests; the paper's LP.
    pub(super) lp: Requests,
    /// The requests that wait for the next stage; the paper's LW.
    pub(super) lw: Requests,
    /// All arbiters that were asked.
    pub(super) loans: LiteMap<SiteId, Loan>,
    /// Whether the arbiters asked differ from one quorum.
    pub(super) repaired: bool,
    /// Whether it has been in the critical section for long, and asks every site it reaches.
    pub(super) stays: bool,
    pub(super) state: StageState,
}

/// The state of a stage; the paper's *state*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum StageState {
    /// It waits for the locks of a quorum.
    Active,
    /// It holds them, and admits members.
    Cs(Cs),
}

/// A stage in the critical section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Cs {
    /// When it entered: the time at which the last lock arrived.
    pub(super) since: Tick,
    /// When it is planned to end: *gtpo* after it entered, unless it was extended.
    pub(super) deadline: Tick,
    /// Its fence, which its shared members use.
    pub(super) fence: Fence,
    /// The last fence used: each exclusive member takes the next one.
    pub(super) last: Fence,
}

impl Stage {
    /// A stage before [`begin`](Self::begin).
    pub(super) fn new(group: Group, site: SiteId, options: Options) -> Self {
        let pr = Ticket { time: 0, site, claim: ClaimId(0) };
        let (lp, lw, loans) = (Requests::default(), Requests::default(), LiteMap::new());
        let (repaired, stays, state) = (false, false, StageState::Active);
        Self { options, group, pr, lp, lw, loans, repaired, stays, state }
    }

    /// Begins a stage: sends Req-Group to a quorum, with a new priority behind all requests the
    /// site knows of (A3, A10). Callers' claims count from 1; claim 0 is the host's.
    pub(super) fn begin(&mut self, site: &mut Shared, out: &mut Out<RoleLock>) {
        self.pr.time = site.clock.advance();
        self.enlist_waiting();
        self.state = StageState::Active;
        let quorum = site.quorum();
        (self.repaired, self.stays) = (quorum.is_none(), false);
        self.loans.clear();
        for arbiter in quorum.unwrap_or_else(|| site.reachable()).iter() {
            self.send_req_group(arbiter, out);
        }
    }

    /// Takes the waiting requests into the stage, as far as the cap on its length allows (A20).
    fn enlist_waiting(&mut self) {
        for request in std::mem::take(&mut self.lw).0 {
            self.enlist(request);
        }
        assert!(!self.lp.is_empty(), "a stage begins with a request");
    }

    /// Adds a request to LP while the stage competes, or to LW if it would exceed the cap.
    fn enlist(&mut self, request: Request) {
        self.lp.0.push(request);
        let exceeds = |cap: Duration| self.lp.0.len() > 1 && self.lp.gtpo() > cap;
        if self.options.cap.is_some_and(exceeds) {
            self.lp.0.pop();
            self.lw.0.push(request);
        }
    }

    /// Section 5, Req-Process: adds a request to a stage that has begun.
    pub(super) fn on_req_process(
        &mut self,
        site: &Shared,
        now: Tick,
        request: Request,
        out: &mut Out<RoleLock>,
    ) {
        if let Some(&known) = self.lp.get(request.ticket).or(self.lw.get(request.ticket)) {
            match known.admitted {
                Some(admitted) => self.send_rep_process(now, known.ticket, admitted.fence, out),
                None => out.ignore("the request is known already"),
            }
            return;
        }
        if self.state == StageState::Active {
            self.enlist(request);
        } else if self.accepts(now, &request) {
            self.lp.0.push(request);
            self.admit(site, now, out);
        } else {
            self.lw.0.push(request);
        }
    }

    /// Section 5, test (2): whether a request that arrives now can end by the deadline (A15). With
    /// `extend`, an uncontended stage moves its deadline instead (A12).
    fn accepts(&mut self, now: Tick, request: &Request) -> bool {
        let StageState::Cs(cs) = &mut self.state else { return false };
        let end = self.lp.end_of(now, request.role, request.cost);
        let contended = self.loans.values().any(|loan| loan.contended);
        let latest = self.options.cap.map_or(Tick(u64::MAX), |cap| cs.since + cap);
        if self.options.extend && !contended && end <= latest {
            cs.deadline = cs.deadline.max(end);
        }
        end <= cs.deadline
    }

    /// Section 5, Rel-Process: removes the members that leave and the requests that were given up;
    /// false if there was none.
    pub(super) fn remove_requests(
        &mut self,
        site: &Shared,
        now: Tick,
        which: impl Fn(Ticket) -> bool,
        out: &mut Out<RoleLock>,
    ) -> bool {
        let waited = self.lw.remove(&which);
        for request in self.lp.0.iter().filter(|request| which(request.ticket)) {
            self.disarm(request, out);
        }
        let left = self.lp.remove(&which);
        if left {
            self.admit(site, now, out);
        }
        waited || left
    }

    /// Section 5, Rec-Group with all locks: enters the critical section if the locks held contain a
    /// quorum and allow a new fence.
    pub(super) fn try_to_enter(&mut self, site: &Shared, now: Tick, out: &mut Out<RoleLock>) {
        if self.state != StageState::Active || !self.is_complete(site) {
            return;
        }
        let floors = self.loans.values().filter(|loan| loan.have.is_some());
        let fence = floors.map(|loan| loan.fences.floor).max().expect("a quorum has a member");
        if !self.may_use(fence) {
            return self.send_raise(fence.plus(site.fence_block()), out);
        }
        let deadline = now + self.lp.gtpo();
        self.state = StageState::Cs(Cs { since: now, deadline, fence, last: fence });
        self.arm_stay(out);
        self.admit(site, now, out);
    }

    /// Admits every shared request, and an exclusive one if no exclusive member is inside (A6, A7).
    pub(super) fn admit(&mut self, site: &Shared, now: Tick, out: &mut Out<RoleLock>) {
        let StageState::Cs(cs) = self.state else { return };
        for place in 0..self.lp.0.len() {
            let request = &self.lp.0[place];
            if !request.is_exclusive() && request.admitted.is_none() {
                self.admit_at(place, now, cs.fence, out);
            }
        }
        if self.lp.exclusive().is_some() {
            return;
        }
        let Some(place) = self.lp.oldest_pending() else { return };
        let first = cs.last == cs.fence;
        if !first && now + self.lp.0[place].cost > cs.deadline {
            return self.postpone_pending();
        }
        let fence = cs.last.next();
        if !self.may_use(fence) {
            return self.send_raise(fence.plus(site.fence_block()), out);
        }
        self.state = StageState::Cs(Cs { last: fence, ..cs });
        self.admit_at(place, now, fence, out);
    }

    /// Moves the pending exclusive requests to the front of the next stage. Needed when a member
    /// has overstayed, so that none of them could end by the deadline.
    pub(super) fn postpone_pending(&mut self) {
        let mut next = self.lp.take_pending();
        next.append(&mut self.lw.0);
        self.lw.0 = next;
    }

    fn admit_at(&mut self, place: usize, now: Tick, fence: Fence, out: &mut Out<RoleLock>) {
        let exclusive = self.lp.0[place].is_exclusive();
        assert!(!exclusive || self.lp.exclusive().is_none(), "one exclusive member at a time");
        let request = &mut self.lp.0[place];
        assert!(request.admitted.is_none(), "a request is admitted once");
        request.admitted = Some(Admitted { at: now, fence });
        let (ticket, cost) = (request.ticket, request.cost);
        self.send_rep_process(now, ticket, fence, out);
        if self.options.overrun == Overrun::Revoke {
            let timer = Timer::Overdue { pr: self.pr, ticket };
            out.push(Effect::Arm(timer, cost.saturating_add(self.options.grace)));
        }
    }

    /// Sends Revoke to a member that has exceeded its declared time. It stays a member until it has
    /// left. No new member is admitted meanwhile, because the deadline has passed.
    pub(super) fn on_overdue(&self, ticket: Ticket, out: &mut Out<RoleLock>) {
        assert!(self.lp.get(ticket).is_some(), "a process that has left has no timer");
        let (group, pr) = (self.group.clone(), self.pr);
        out.send(ticket.site, Message::Revoke { ticket, group, pr });
    }

    fn disarm(&self, &Request { ticket, admitted, .. }: &Request, out: &mut Out<RoleLock>) {
        if admitted.is_some() && self.options.overrun == Overrun::Revoke {
            out.push(Effect::Disarm(Timer::Overdue { pr: self.pr, ticket }));
        }
    }

    /// Removes all members; they have stopped.
    pub(super) fn remove_members(&mut self, out: &mut Out<RoleLock>) {
        for request in std::mem::take(&mut self.lp).0 {
            self.disarm(&request, out);
        }
    }

    /// Sends Rep-Process to a member, with the time left until the deadline.
    pub(super) fn send_rep_process(
        &self,
        now: Tick,
        ticket: Ticket,
        fence: Fence,
        out: &mut Out<RoleLock>,
    ) {
        let StageState::Cs(cs) = self.state else { unreachable!("only a stage in Cs has members") };
        let (group, pr, stage_fence) = (self.group.clone(), self.pr, cs.fence);
        let left = Duration::from_nanos(cs.deadline.0.saturating_sub(now.0));
        let reply = Message::RepProcess { ticket, group, pr, fence, stage_fence, left };
        out.send(ticket.site, reply);
    }

    /// Sends Lib-Group to all arbiters asked: the stage is over or withdrawn.
    pub(super) fn send_lib_group(&self, out: &mut Out<RoleLock>) {
        let floor = match self.state {
            StageState::Active => None,
            StageState::Cs(cs) => Some(cs.last.next()),
        };
        for &arbiter in self.loans.keys() {
            out.send(arbiter, Message::LibGroup { pr: self.pr, floor });
        }
    }

    /// Sends Wait to the waiting requests with `no_wait`.
    pub(super) fn send_wait(&self, which: impl Fn(Ticket) -> bool, out: &mut Out<RoleLock>) {
        let waiting =
            self.lp.0.iter().chain(&self.lw.0).filter(|request| request.admitted.is_none());
        for request in waiting.filter(|request| request.no_wait && which(request.ticket)) {
            let ticket = request.ticket;
            out.send(ticket.site, Message::Wait { ticket });
        }
    }

    /// The members.
    pub(super) fn members(&self) -> impl Iterator<Item = Ticket> + '_ {
        let admitted = self.lp.0.iter().filter(|request| request.admitted.is_some());
        admitted.map(|request| request.ticket)
    }

    /// All requests of this stage and the next.
    pub(super) fn requests(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.lp.0.iter().chain(&self.lw.0).map(|request| request.ticket)
    }
}
