//! The process half: asks hosts for membership of a group, is a member, and leaves.
//!
//! Cenci & Ardenghi 2012, section 4, the player process. A request that names several groups asks
//! the host of each with the same ticket; the first admission counts, and the other requests are
//! withdrawn. `repair.rs` has what happens when sessions end.

use std::collections::BTreeMap;

use litemap::LiteMap;
use quorate_quorum::SiteId;

use super::placement::host_of;
use super::{Claim, Grant, Message, RoleLock};
use crate::group::Group;
use crate::no_wait::NoWait;
use crate::{ClaimId, ClaimView, Fence, Out, Shared, Ticket, ValidityBasis, Violation, Why};

/// The processes of a site: one for each claim of its callers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Processes {
    pub(super) processes: LiteMap<ClaimId, Process>,
}

/// A process that waits or is a member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    /// Identifies its request in all messages between it and a host (A8).
    pub(super) ticket: Ticket,
    claim: Claim,
    pub(super) state: ProcessState,
    no_wait: NoWait,
}

/// The state of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ProcessState {
    /// It waits. The host asked for each group; `None` if no host can be reached.
    Waiting(BTreeMap<Group, Option<SiteId>>),
    /// It is a member of this group, in this stage.
    Inside(Group, Ticket),
    /// It is a member, and its caller was told to stop.
    Stopping(Group, Ticket),
}

/// The fields of a Rep-Process message.
pub(super) struct Admission {
    pub(super) ticket: Ticket,
    pub(super) group: Group,
    pub(super) pr: Ticket,
    pub(super) fence: Fence,
    pub(super) stage_fence: Fence,
}

impl Processes {
    /// Section 4, a process wants to participate: sends Req-Process to the host of every group.
    pub(super) fn acquire(
        &mut self,
        site: &mut Shared,
        id: ClaimId,
        claim: Claim,
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        if claim.groups.is_empty() {
            return Err(Violation::NoGroups);
        }
        if self.processes.contains_key(&id) {
            return Err(Violation::Busy);
        }
        if claim.groups.keys().all(|group| host_of(group, site).is_none()) {
            return Err(Violation::NoQuorum);
        }
        let ticket = Ticket { time: site.ticket_time(), site: site.site(), claim: id };
        let no_hosts = claim.groups.keys().map(|group| (group.clone(), None)).collect();
        let (state, no_wait) = (ProcessState::Waiting(no_hosts), NoWait::new(claim.no_wait));
        let mut process = Process { ticket, claim, state, no_wait };
        process.ask_hosts(site, out);
        self.processes.insert(id, process);
        Ok(())
    }

    /// Section 5, Rep-Process: becomes a member if the process waits for this admission.
    ///
    /// An admission that no process waits for is returned: the *refusal row* of
    /// `docs/protocols/role.md`. It frees a duplicated request, one that arrived after its own
    /// release, and one that was admitted by another group.
    pub(super) fn on_rep_process(
        &mut self,
        from: SiteId,
        Admission { ticket, group, pr, fence, stage_fence }: Admission,
        out: &mut Out<RoleLock>,
    ) {
        let process = self.processes.get_mut(&ticket.claim);
        match process.filter(|process| process.ticket == ticket) {
            Some(process) if process.waits_for(&group, from) => {
                process.withdraw(Some(&group), out);
                process.state = ProcessState::Inside(group.clone(), pr);
                let Claim { ref groups, time, .. } = process.claim;
                let role = groups[&group];
                let grant = Grant { ticket, group, role, stage: pr, fence, stage_fence, time };
                out.grant(ticket.claim, grant);
            }
            Some(process) if process.stage() == Some((&group, pr)) => {
                out.ignore("the process is inside already");
            }
            _ => out.send(from, Message::RelProcess { ticket, group }),
        }
    }

    /// Wait: a host cannot admit the request at once.
    pub(super) fn on_wait(&mut self, ticket: Ticket) {
        let process = self.processes.get_mut(&ticket.claim);
        if let Some(process) = process.filter(|process| process.ticket == ticket) {
            process.no_wait.hold_up();
        }
    }

    /// Revoke: tells the caller to stop. The process stays a member until the caller has stopped.
    pub(super) fn on_revoke(
        &mut self,
        ticket: Ticket,
        group: Group,
        pr: Ticket,
        out: &mut Out<RoleLock>,
    ) {
        let process = self.processes.get_mut(&ticket.claim);
        let inside = ProcessState::Inside(group.clone(), pr);
        match process.filter(|process| process.ticket == ticket && process.state == inside) {
            Some(process) => {
                process.state = ProcessState::Stopping(group, pr);
                out.lose(ticket.claim, Why::Overdue);
            }
            None => out.ignore("the process is not inside any more"),
        }
    }

    /// Section 4, a process finishes: sends Rel-Process to the host of its stage.
    pub(super) fn release(
        &mut self,
        id: ClaimId,
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        let process = self.processes.get(&id);
        let inside = process.and_then(|process| Some((process.ticket, process.stage()?)));
        let (ticket, (group, pr)) = inside.ok_or(Violation::NotInside(id))?;
        out.send(pr.site, Message::RelProcess { ticket, group: group.clone() });
        self.processes.remove(&id);
        Ok(())
    }

    /// The caller gives up: sends Rel-Process to all hosts asked. Not in the paper.
    pub(super) fn abandon(
        &mut self,
        id: ClaimId,
        out: &mut Out<RoleLock>,
    ) -> Result<(), Violation> {
        let waits = self.processes.get(&id).filter(|process| !process.is_inside());
        waits.ok_or(Violation::NotWaiting(id))?.withdraw(None, out);
        self.processes.remove(&id);
        Ok(())
    }

    /// What the validity of a claim inside depends on.
    pub(super) fn validity_basis(&self, id: ClaimId) -> ValidityBasis {
        let process = self.processes.get(&id);
        let stage = process.and_then(|process| Some((process.stage()?.1, process.ticket)));
        stage.map_or(ValidityBasis::Nothing, |(pr, ticket)| {
            ValidityBasis::Delegation(pr.site, ticket)
        })
    }

    pub(super) fn views(&self) -> Vec<ClaimView> {
        self.processes.values().map(Process::view).collect()
    }

    pub(super) fn view_of(&self, claim: ClaimId) -> Option<ClaimView> {
        self.processes.get(&claim).map(Process::view)
    }
}

impl Process {
    fn view(&self) -> ClaimView {
        ClaimView {
            ticket: self.ticket,
            inside: self.is_inside(),
            held_up: !self.is_inside() && self.no_wait == NoWait::HeldUp,
            missing: self.hosts().collect(),
        }
    }

    /// The group and the stage it is a member of.
    fn stage(&self) -> Option<(&Group, Ticket)> {
        match &self.state {
            ProcessState::Inside(group, pr) | ProcessState::Stopping(group, pr) => {
                Some((group, *pr))
            }
            ProcessState::Waiting(_) => None,
        }
    }

    fn is_inside(&self) -> bool {
        self.stage().is_some()
    }

    fn waits_for(&self, group: &Group, host: SiteId) -> bool {
        matches!(&self.state, ProcessState::Waiting(hosts) if hosts.get(group) == Some(&Some(host)))
    }

    /// The hosts asked that have not answered.
    fn hosts(&self) -> impl Iterator<Item = SiteId> + '_ {
        let hosts = match &self.state {
            ProcessState::Waiting(hosts) => Some(hosts.values()),
            ProcessState::Inside(..) | ProcessState::Stopping(..) => None,
        };
        hosts.into_iter().flatten().filter_map(|&host| host)
    }

    /// Sends Req-Process for every group without a host.
    pub(super) fn ask_hosts(&mut self, site: &Shared, out: &mut Out<RoleLock>) {
        let ProcessState::Waiting(hosts) = &mut self.state else { return };
        for (group, asked) in hosts.iter_mut().filter(|(_, asked)| asked.is_none()) {
            *asked = host_of(group, site);
            if let Some(host) = *asked {
                let (ticket, time) = (self.ticket, self.claim.time);
                let (group, role) = (group.clone(), self.claim.groups[group]);
                let no_wait = self.no_wait.is_on();
                out.send(host, Message::ReqProcess { ticket, group, role, time, no_wait });
            }
        }
    }

    /// Sends Rel-Process to all hosts asked, except that of one group.
    fn withdraw(&self, except: Option<&Group>, out: &mut Out<RoleLock>) {
        let ProcessState::Waiting(hosts) = &self.state else { return };
        for (group, host) in hosts.iter().filter(|(group, _)| Some(*group) != except) {
            if let Some(host) = *host {
                let (ticket, group) = (self.ticket, group.clone());
                out.send(host, Message::RelProcess { ticket, group });
            }
        }
    }
}
