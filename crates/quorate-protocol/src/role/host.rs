//! The stages that a site hosts, one for each group with a request here.
//!
//! Finds the stage that a message is about; `stage.rs` and `loans.rs` have what the stage does, and
//! `repair.rs` what happens when sessions end.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_quorum::{SiteId, SiteSet};

use super::loans::RecGroup;
use super::requests::Request;
use super::stage::{Stage, StageState};
use super::{Options, Role, RoleLock};
use crate::group::Group;
use crate::{Eta, Fence, GrantNo, Out, Shared, Tick, Ticket, Violation};

/// The stages of a site. A group without one is INACTIVE.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Host {
    options: Options,
    pub(super) stages: BTreeMap<Group, Stage>,
}

/// The fields of a Req-Process message.
pub(super) struct ProcessRequest {
    pub(super) ticket: Ticket,
    pub(super) group: Group,
    pub(super) role: Role,
    pub(super) time: Duration,
    pub(super) no_wait: bool,
}

impl Host {
    pub(super) fn new(options: Options) -> Self {
        Self { options, stages: BTreeMap::new() }
    }

    /// Section 5, Req-Process: begins a stage, or adds the request to the present one.
    pub(super) fn on_req_process(
        &mut self,
        site: &mut Shared,
        now: Tick,
        ProcessRequest { ticket, group, role, time, no_wait }: ProcessRequest,
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        if !site.may_ask() {
            return Err(Violation::NoQuorum);
        }
        site.observe(ticket);
        let local = ticket.site == site.site();
        let round_trip = if local { Duration::ZERO } else { self.options.tc.saturating_mul(2) };
        let cost = time.saturating_add(round_trip);
        let request = Request { ticket, role, cost, admitted: None, no_wait };
        if let Some(stage) = self.stages.get_mut(&group) {
            stage.on_req_process(site, now, request, out);
            stage.send_wait(|waiting| waiting == ticket, out);
            return Ok(());
        }
        let mut stage = Stage::new(group.clone(), site.site(), self.options);
        stage.lw.0.push(request);
        stage.begin(site, out);
        self.stages.insert(group, stage);
        Ok(())
    }

    /// Section 5, Rel-Process: a member leaves, or a process gives up.
    pub(super) fn on_rel_process(
        &mut self,
        site: &mut Shared,
        now: Tick,
        ticket: Ticket,
        group: &Group,
        out: &mut Out<RoleLock>,
    ) {
        let stage = self.stages.get_mut(group);
        if !stage.is_some_and(|stage| stage.remove_requests(site, now, |t| t == ticket, out)) {
            return out.ignore("the request is not here, or not any more");
        }
        self.end_empty_stages(site, out);
    }

    /// Section 5, Rec-Group: a stage gets a lock, and enters with the last one.
    pub(super) fn on_rec_group(
        &mut self,
        site: &Shared,
        now: Tick,
        arbiter: SiteId,
        pr: Ticket,
        lock: RecGroup,
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        let Some(stage) = self.stage(pr) else {
            out.ignore("the stage is over");
            return Ok(());
        };
        stage.on_rec_group(arbiter, lock, out)?;
        stage.try_to_enter(site, now, out);
        Ok(())
    }

    /// Section 5, Rel-Group: a stage gives a lock back, unless it has members.
    pub(super) fn on_rel_group(
        &mut self,
        arbiter: SiteId,
        pr: Ticket,
        number: GrantNo,
        better: bool,
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        let Some(stage) = self.stage(pr) else {
            out.ignore("the stage is over");
            return Ok(());
        };
        stage.on_rel_group(arbiter, number, better, out)
    }

    /// Queued: an arbiter has lent its lock to another stage.
    pub(super) fn on_queued(&mut self, pr: Ticket, out: &mut Out<RoleLock>) {
        match self.stage(pr) {
            Some(stage) => stage.send_wait(|_| true, out),
            None => out.ignore("the stage is over"),
        }
    }

    /// Raised: an arbiter has raised its fence ceiling.
    pub(super) fn on_raised(
        &mut self,
        site: &mut Shared,
        now: Tick,
        arbiter: SiteId,
        pr: Ticket,
        ceil: Fence,
        out: &mut Out<RoleLock>,
    ) {
        let Some(stage) = self.stage(pr) else { return out.ignore("the stage is over") };
        stage.on_raised(arbiter, ceil);
        stage.enter_or_admit(site, now, out);
        self.end_empty_stages(site, out);
    }

    /// The timer of a member: it has exceeded its declared time.
    pub(super) fn on_overdue(&mut self, pr: Ticket, ticket: Ticket, out: &mut Out<RoleLock>) {
        if let Some(stage) = self.stage(pr) {
            stage.on_overdue(ticket, out);
        }
    }

    /// Ends the stages without members or pending requests. Their locks go back first; then the
    /// requests that wait for the next stage compete with a new priority (A10).
    pub(super) fn end_empty_stages(&mut self, site: &mut Shared, out: &mut Out<RoleLock>) {
        self.stages.retain(|_, stage| {
            if !stage.lp.is_empty() {
                return true;
            }
            stage.disarm_stay(out);
            stage.send_lib_group(out);
            let has_next = !stage.lw.is_empty();
            if has_next {
                stage.begin(site, out);
            }
            has_next
        });
    }

    /// All members, each with its stage.
    pub(super) fn members(&self) -> impl Iterator<Item = (Ticket, &Stage)> + '_ {
        self.stages.values().flat_map(|stage| stage.members().map(move |ticket| (ticket, stage)))
    }

    /// When waiting requests can be admitted at the earliest.
    pub(super) fn etas(&self) -> impl Iterator<Item = Eta> + '_ {
        self.stages.values().flat_map(Stage::etas)
    }

    /// Our stages in the critical section, and the arbiters whose locks each holds.
    pub(super) fn leads(&self) -> impl Iterator<Item = (Ticket, SiteSet)> + '_ {
        let leads = self.stages.values().filter(|stage| matches!(stage.state, StageState::Cs(_)));
        leads.map(|stage| (stage.pr, stage.held()))
    }

    pub(super) fn stage(&mut self, pr: Ticket) -> Option<&mut Stage> {
        self.stages.values_mut().find(|stage| stage.pr == pr)
    }
}
