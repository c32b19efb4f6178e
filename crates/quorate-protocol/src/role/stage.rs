//! A group's stage: competes for the locks of a quorum, and admits members while it has them.
//!
//! Cenci & Ardenghi 2012, section 5, the player group. INACTIVE is a group without a stage, and
//! EXIT a step (A9).

use std::time::Duration;

use litemap::LiteMap;
use quorate_quorum::{SiteId, SiteSet};

use super::member::{Admitted, Request, Requests};
use super::{Message, Options, Overrun, RoleLock, Timer};
use crate::group::Group;
use crate::{ClaimId, Effect, Fence, Fences, GrantNo, Out, Shared, Tick, Ticket};

/// A stage of a group, at the site that hosts it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stage {
    options: Options,
    pub(super) group: Group,
    /// Its identity and priority; a new one for every stage.
    pub(super) pr: Ticket,
    /// Those who are members, or are to be in this stage.
    pub(super) lp: Requests,
    /// Those who wait for the next stage.
    pub(super) lw: Requests,
    /// All arbiters that were asked.
    pub(super) loans: LiteMap<SiteId, Loan>,
    /// Whether the arbiters that were asked are not just one quorum.
    pub(super) repaired: bool,
    pub(super) state: State,
}

/// What a stage does; the paper's *state*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    /// It waits for the locks of a quorum.
    Active,
    /// It has them, and admits members.
    Cs(Cs),
}

/// A stage that admits members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Cs {
    /// When it began; the note's *t0*.
    pub(super) since: Tick,
    /// When it is to end; the note's D.
    pub(super) deadline: Tick,
    /// Its fence, that of its shared members.
    pub(super) fence: Fence,
    /// The last fence it has used: each exclusive member takes the next one.
    pub(super) last: Fence,
}

/// One arbiter's lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Loan {
    /// The loan in hand; the note's *have*.
    pub(super) have: Option<GrantNo>,
    /// The last loan that was given back.
    pub(super) yielded: GrantNo,
    /// The fences that may be used with it.
    pub(super) fences: Fences,
    /// The ceiling that was asked of the arbiter.
    pub(super) raising: Fence,
    /// Whether another stage is known to wait there.
    pub(super) contended: bool,
}

impl Stage {
    /// A stage that is about to begin.
    pub(super) fn of(group: Group, site: SiteId, options: Options) -> Self {
        let pr = Ticket { time: 0, site, claim: ClaimId(0) };
        let (lp, lw, loans) = (Requests::default(), Requests::default(), LiteMap::new());
        Self { options, group, pr, lp, lw, loans, repaired: false, state: State::Active }
    }

    /// Begins a stage: it competes with a *pr* of its own, behind all that the site has heard of
    /// (A3, A10). Callers' claims count from 1, so claim 0 is the host's.
    pub(super) fn begin(&mut self, site: &mut Shared, out: &mut Out<RoleLock>) {
        self.pr.time = site.clock.advance();
        self.fill();
        self.state = State::Active;
        let quorum = site.quorum();
        self.repaired = quorum.is_none();
        self.loans.clear();
        for arbiter in quorum.unwrap_or_else(|| site.reachable()).iter() {
            self.ask(arbiter, out);
        }
    }

    /// Takes those who wait into the stage, as far as its length is not capped (A20).
    fn fill(&mut self) {
        for request in std::mem::take(&mut self.lw).0 {
            self.enlist(request);
        }
        assert!(!self.lp.is_empty(), "a stage begins for somebody");
    }

    /// Puts a request where it belongs while the stage competes.
    fn enlist(&mut self, request: Request) {
        self.lp.0.push(request);
        let long = |cap: Duration| self.lp.0.len() > 1 && self.lp.gtpo() > cap;
        if self.options.cap.is_some_and(long) {
            self.lp.0.pop();
            self.lw.0.push(request);
        }
    }

    /// Req-Process of a stage that is under way.
    pub(super) fn on_req_process(
        &mut self,
        site: &Shared,
        now: Tick,
        request: Request,
        out: &mut Out<RoleLock>,
    ) {
        if let Some(&known) = self.lp.get(request.ticket).or(self.lw.get(request.ticket)) {
            match known.admitted {
                Some(admitted) => self.reply(now, known.ticket, admitted.fence, out),
                None => out.ignore("the request is known already"),
            }
            return;
        }
        if self.state == State::Active {
            self.enlist(request);
        } else if self.accepts(now, &request) {
            self.lp.0.push(request);
            self.admit(site, now, out);
        } else {
            self.lw.0.push(request);
        }
    }

    /// The acceptance test: whether a request that comes now ends before the stage is to end (A15).
    /// With `extend`, a stage that nobody else waits for gets longer instead (A12).
    fn accepts(&mut self, now: Tick, request: &Request) -> bool {
        let State::Cs(cs) = &mut self.state else { return false };
        let end = self.lp.end_of(now, request.role, request.cost);
        let contended = self.loans.values().any(|loan| loan.contended);
        let most = self.options.cap.map_or(Tick(u64::MAX), |cap| cs.since + cap);
        if self.options.extend && !contended && end <= most {
            cs.deadline = cs.deadline.max(end);
        }
        end <= cs.deadline
    }

    /// Rel-Process: those for whom `which` is true leave, or do not wait any longer; false if there
    /// was none.
    pub(super) fn drop_requests(
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

    /// Enters the critical section if the locks in hand contain a quorum and all arbiters let us
    /// use a fence above those before.
    pub(super) fn try_to_enter(&mut self, site: &Shared, now: Tick, out: &mut Out<RoleLock>) {
        if self.state != State::Active || !self.is_complete(site) {
            return;
        }
        let floors = self.loans.values().filter(|loan| loan.have.is_some());
        let fence = floors.map(|loan| loan.fences.floor).max().expect("a quorum has a member");
        if !self.may_use(fence) {
            return self.raise(fence.plus(site.fence_block()), out);
        }
        let deadline = now + self.lp.gtpo();
        self.state = State::Cs(Cs { since: now, deadline, fence, last: fence });
        self.admit(site, now, out);
    }

    /// Admits every shared request, and an exclusive one if there is none (A6, A7).
    pub(super) fn admit(&mut self, site: &Shared, now: Tick, out: &mut Out<RoleLock>) {
        let State::Cs(cs) = self.state else { return };
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
            return self.postpone();
        }
        let fence = cs.last.next();
        if !self.may_use(fence) {
            return self.raise(fence.plus(site.fence_block()), out);
        }
        self.state = State::Cs(Cs { last: fence, ..cs });
        self.admit_at(place, now, fence, out);
    }

    /// Somebody has stayed for longer than it said: no exclusive request that is left would end in
    /// time, so all go before those who wait for the next stage.
    pub(super) fn postpone(&mut self) {
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
        self.reply(now, ticket, fence, out);
        if self.options.overrun == Overrun::Revoke {
            let timer = Timer { pr: self.pr, ticket };
            out.push(Effect::Arm(timer, cost.saturating_add(self.options.grace)));
        }
    }

    /// A member has stayed for longer than it said: it is told to leave, and stays a member until
    /// it has. Nobody new is admitted meanwhile, because the stage is past its end.
    pub(super) fn on_overdue(&self, ticket: Ticket, out: &mut Out<RoleLock>) {
        assert!(self.lp.get(ticket).is_some(), "who has left has no timer");
        let (group, pr) = (self.group.clone(), self.pr);
        out.send(ticket.site, Message::Revoke { ticket, group, pr });
    }

    fn disarm(&self, &Request { ticket, admitted, .. }: &Request, out: &mut Out<RoleLock>) {
        if admitted.is_some() && self.options.overrun == Overrun::Revoke {
            out.push(Effect::Disarm(Timer { pr: self.pr, ticket }));
        }
    }

    /// All members have stopped.
    pub(super) fn forget_members(&mut self, out: &mut Out<RoleLock>) {
        for request in std::mem::take(&mut self.lp).0 {
            self.disarm(&request, out);
        }
    }

    pub(super) fn reply(&self, now: Tick, ticket: Ticket, fence: Fence, out: &mut Out<RoleLock>) {
        let State::Cs(cs) = self.state else { unreachable!("only a stage inside has members") };
        let (group, pr, stage_fence) = (self.group.clone(), self.pr, cs.fence);
        let left = Duration::from_nanos(cs.deadline.0.saturating_sub(now.0));
        let reply = Message::RepProcess { ticket, group, pr, fence, stage_fence, left };
        out.send(ticket.site, reply);
    }

    /// Gives all locks back: the stage is over, or will not be.
    pub(super) fn end(&self, out: &mut Out<RoleLock>) {
        let floor = match self.state {
            State::Active => None,
            State::Cs(cs) => Some(cs.last.next()),
        };
        for &arbiter in self.loans.keys() {
            out.send(arbiter, Message::LibGroup { pr: self.pr, floor });
        }
    }

    /// Tells those in a hurry that they have to wait, if they do.
    pub(super) fn hold_up(&self, which: impl Fn(Ticket) -> bool, out: &mut Out<RoleLock>) {
        let waiting =
            self.lp.0.iter().chain(&self.lw.0).filter(|request| request.admitted.is_none());
        for request in waiting.filter(|request| request.hasty && which(request.ticket)) {
            let ticket = request.ticket;
            out.send(ticket.site, Message::Wait { ticket });
        }
    }

    /// Those who are members.
    pub(super) fn members(&self) -> impl Iterator<Item = Ticket> + '_ {
        let admitted = self.lp.0.iter().filter(|request| request.admitted.is_some());
        admitted.map(|request| request.ticket)
    }

    /// Those for whom it asks, or will.
    pub(super) fn requests(&self) -> impl Iterator<Item = Ticket> + '_ {
        self.lp.0.iter().chain(&self.lw.0).map(|request| request.ticket)
    }

    /// The arbiters whose lock is in hand.
    pub(super) fn held(&self) -> SiteSet {
        let held = self.loans.iter().filter(|(_, loan)| loan.have.is_some());
        held.map(|(&arbiter, _)| arbiter).collect()
    }
}
