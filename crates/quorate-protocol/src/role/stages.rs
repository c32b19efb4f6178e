//! The stages that a site hosts, one for each group that was asked of it.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_quorum::{SiteId, SiteSet};

use super::member::Request;
use super::stage::{Stage, State};
use super::{Options, Role, RoleLock, Timer};
use crate::group::Group;
use crate::{Eta, Fence, Fences, GrantNo, Out, Shared, Tick, Ticket, Violation};

/// The stages of a site. A group without one is INACTIVE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Stages {
    options: Options,
    pub(super) stages: BTreeMap<Group, Stage>,
}

/// A process's message that it wants to be a member.
pub(super) struct Ask {
    pub(super) ticket: Ticket,
    pub(super) group: Group,
    pub(super) role: Role,
    pub(super) time: Duration,
    pub(super) hasty: bool,
}

impl Stages {
    /// All members, each with its stage.
    pub(super) fn members(&self) -> impl Iterator<Item = (Ticket, &Stage)> + '_ {
        self.stages.values().flat_map(|stage| stage.members().map(move |ticket| (ticket, stage)))
    }

    pub(super) fn new(options: Options) -> Self {
        Self { options, stages: BTreeMap::new() }
    }

    /// Req-Process: begins a stage, or asks the one that is under way.
    pub(super) fn on_req_process(
        &mut self,
        site: &mut Shared,
        now: Tick,
        Ask { ticket, group, role, time, hasty }: Ask,
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        if !site.may_ask() {
            return Err(Violation::NoQuorum);
        }
        site.observe(ticket);
        let near = ticket.site == site.site();
        let way = if near { Duration::ZERO } else { self.options.tc.saturating_mul(2) };
        let cost = time.saturating_add(way);
        let request = Request { ticket, role, cost, admitted: None, hasty };
        if let Some(stage) = self.stages.get_mut(&group) {
            stage.on_req_process(site, now, request, out);
            stage.hold_up(|held| held == ticket, out);
            return Ok(());
        }
        let mut stage = Stage::of(group.clone(), site.site(), self.options);
        stage.lw.0.push(request);
        stage.begin(site, out);
        self.stages.insert(group, stage);
        Ok(())
    }

    /// Rel-Process: a member leaves, or a process does not wait any longer.
    pub(super) fn on_rel_process(
        &mut self,
        site: &mut Shared,
        now: Tick,
        (ticket, group): (Ticket, &Group),
        out: &mut Out<RoleLock>,
    ) {
        let stage = self.stages.get_mut(group);
        if !stage.is_some_and(|stage| stage.drop_requests(site, now, |t| t == ticket, out)) {
            return out.ignore("the request is not here, or not any more");
        }
        self.conclude(site, out);
    }

    /// Rec-Group: enters with the last lock.
    pub(super) fn on_rec_group(
        &mut self,
        site: &Shared,
        now: Tick,
        (arbiter, pr, number): (SiteId, Ticket, GrantNo),
        terms: (Fences, bool),
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        let Some(stage) = self.stage(pr) else {
            out.ignore("the stage is over");
            return Ok(());
        };
        stage.on_rec_group(arbiter, number, terms, out)?;
        stage.try_to_enter(site, now, out);
        Ok(())
    }

    /// An arbiter has lent its lock to another stage.
    pub(super) fn on_queued(&mut self, pr: Ticket, out: &mut Out<RoleLock>) {
        match self.stage(pr) {
            Some(stage) => stage.hold_up(|_| true, out),
            None => out.ignore("the stage is over"),
        }
    }

    /// Rel-Group: gives a lock back, unless there are members.
    pub(super) fn on_rel_group(
        &mut self,
        (arbiter, pr, number): (SiteId, Ticket, GrantNo),
        better: bool,
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        let Some(stage) = self.stage(pr) else {
            out.ignore("the stage is over");
            return Ok(());
        };
        stage.on_rel_group(arbiter, number, better, out)
    }

    /// An arbiter lets a stage use more fences.
    pub(super) fn on_raised(
        &mut self,
        site: &mut Shared,
        now: Tick,
        (arbiter, pr, ceil): (SiteId, Ticket, Fence),
        out: &mut Out<RoleLock>,
    ) {
        let Some(stage) = self.stage(pr) else { return out.ignore("the stage is over") };
        stage.on_raised(arbiter, ceil);
        stage.go_on(site, now, out);
        self.conclude(site, out);
    }

    /// A member has stayed for longer than it said.
    pub(super) fn on_overdue(&mut self, Timer { pr, ticket }: Timer, out: &mut Out<RoleLock>) {
        if let Some(stage) = self.stage(pr) {
            stage.on_overdue(ticket, out);
        }
    }

    /// What those who wait can expect.
    pub(super) fn etas(&self) -> impl Iterator<Item = Eta> + '_ {
        self.stages.values().flat_map(Stage::etas)
    }

    /// Nothing was heard of a site for half a lease: asks others in its place, and keeps it.
    pub(super) fn on_silent(&mut self, site: &Shared, out: &mut Out<RoleLock>) {
        for stage in self.stages.values_mut() {
            stage.ask_a_quorum(site, out);
        }
    }

    /// Our session at `peer` is over, and with it what it lent us.
    pub(super) fn on_lost(
        &mut self,
        site: &mut Shared,
        now: Tick,
        peer: SiteId,
        out: &mut Out<RoleLock>,
    ) {
        for stage in self.stages.values_mut() {
            stage.lose_peer(site, peer, out);
            stage.go_on(site, now, out);
        }
        self.conclude(site, out);
    }

    /// We have a session at `peer` again: every stage that has asked too few asks it.
    pub(super) fn on_open(&mut self, site: &Shared, peer: SiteId, out: &mut Out<RoleLock>) {
        for stage in self.stages.values_mut() {
            if !stage.has_asked_enough(site) {
                stage.ask_another(peer, out);
            }
        }
    }

    /// The session of `client` is over here: its processes have stopped, and do not wait.
    pub(super) fn on_closed(
        &mut self,
        site: &mut Shared,
        now: Tick,
        client: SiteId,
        out: &mut Out<RoleLock>,
    ) {
        for stage in self.stages.values_mut() {
            stage.drop_requests(site, now, |ticket| ticket.site == client, out);
        }
        self.conclude(site, out);
    }

    /// Ends the stages that nobody is in. Their locks go back first, and then those who wait
    /// compete with a stage of their own (A10).
    pub(super) fn conclude(&mut self, site: &mut Shared, out: &mut Out<RoleLock>) {
        self.stages.retain(|_, stage| {
            if !stage.lp.is_empty() {
                return true;
            }
            stage.end(out);
            let goes_on = !stage.lw.is_empty();
            if goes_on {
                stage.begin(site, out);
            }
            goes_on
        });
    }

    /// Our stages that have members, and the arbiters each rests on.
    pub(super) fn leads(&self) -> impl Iterator<Item = (Ticket, SiteSet)> + '_ {
        let leads = self.stages.values().filter(|stage| matches!(stage.state, State::Cs(_)));
        leads.map(|stage| (stage.pr, stage.held()))
    }

    fn stage(&mut self, pr: Ticket) -> Option<&mut Stage> {
        self.stages.values_mut().find(|stage| stage.pr == pr)
    }
}

impl Stage {
    /// One arbiter less: asks another in its place. A stage with members and without a quorum is
    /// lost, and its members have stopped; those who are not admitted yet wait for the next one.
    pub(super) fn lose_peer(&mut self, site: &Shared, peer: SiteId, out: &mut Out<RoleLock>) {
        if self.loans.remove(&peer).is_some() {
            self.repaired = true;
        }
        if matches!(self.state, State::Cs(_)) && !self.is_complete(site) {
            self.postpone();
            self.forget_members(out);
        } else {
            self.ask_a_quorum(site, out);
        }
    }

    /// Whatever it waited for may have come.
    pub(super) fn go_on(&mut self, site: &Shared, now: Tick, out: &mut Out<RoleLock>) {
        self.try_to_enter(site, now, out);
        self.admit(site, now, out);
    }
}
