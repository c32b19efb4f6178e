//! The process half: asks hosts to be a member of a group, is one, and leaves.
//!
//! Cenci & Ardenghi 2012, section 4, the player process. A request that names several groups asks
//! the host of each with the same ticket; the first that admits it decides, and the others are told
//! to forget it.

use std::collections::BTreeMap;

use litemap::LiteMap;
use quorate_quorum::SiteId;

use super::host::host_of;
use super::{Claim, Grant, Message, RoleLock};
use crate::group::Group;
use crate::haste::Haste;
use crate::{Basis, ClaimId, ClaimView, Fence, Out, Shared, Ticket, Violation, Why};

/// The processes of a site: one for each claim of its callers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Processes {
    pub(super) processes: LiteMap<ClaimId, Process>,
}

/// A process that waits or is a member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    /// Its request; the note's *rid*.
    pub(super) ticket: Ticket,
    claim: Claim,
    pub(super) state: State,
    haste: Haste,
}

/// Where a process is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    /// It waits, and these hosts were asked; `None` where no host can be reached.
    Waiting(BTreeMap<Group, Option<SiteId>>),
    /// It is a member of this group, in this stage.
    Inside(Group, Ticket),
    /// The same, and its caller was told to stop.
    Stopping(Group, Ticket),
}

/// A host's message that we are a member.
pub(super) struct Admission {
    pub(super) ticket: Ticket,
    pub(super) group: Group,
    pub(super) pr: Ticket,
    pub(super) fence: Fence,
    pub(super) stage_fence: Fence,
}

impl Processes {
    /// Asks the host of every group.
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
        let ticket = Ticket { time: site.clock.advance(), site: site.site(), claim: id };
        let nobody = claim.groups.keys().map(|group| (group.clone(), None)).collect();
        let (state, haste) = (State::Waiting(nobody), Haste::new(claim.hasty));
        let mut process = Process { ticket, claim, state, haste };
        process.ask(site, out);
        self.processes.insert(id, process);
        Ok(())
    }

    /// Rep-Process: comes in, if it waits for it.
    ///
    /// What nobody waits for is given back: the *refusal row* of `docs/protocols/role.md`. It frees
    /// a request that came twice, or behind its own release, and one that was admitted elsewhere.
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
                process.state = State::Inside(group.clone(), pr);
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

    /// Somebody goes before us.
    pub(super) fn on_wait(&mut self, ticket: Ticket) {
        let process = self.processes.get_mut(&ticket.claim);
        if let Some(process) = process.filter(|process| process.ticket == ticket) {
            process.haste.hold_up();
        }
    }

    /// Revoke: tells the caller to stop. It is a member until it has.
    pub(super) fn on_revoke(
        &mut self,
        (ticket, group, pr): (Ticket, Group, Ticket),
        out: &mut Out<RoleLock>,
    ) {
        let process = self.processes.get_mut(&ticket.claim);
        let inside = State::Inside(group.clone(), pr);
        match process.filter(|process| process.ticket == ticket && process.state == inside) {
            Some(process) => {
                process.state = State::Stopping(group, pr);
                out.lose(ticket.claim, Why::Overdue);
            }
            None => out.ignore("the process is not inside any more"),
        }
    }

    /// Leaves.
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

    /// Does not wait any longer.
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

    /// Our session at `peer` is over: its word is nothing any more. Who waits there asks elsewhere;
    /// whose stage it hosts is lost, and may come again with what is left of its time.
    pub(super) fn on_lost(&mut self, site: &Shared, peer: SiteId, out: &mut Out<RoleLock>) {
        let mut lost = Vec::new();
        for (&id, process) in self.processes.iter_mut() {
            match &mut process.state {
                State::Inside(_, pr) | State::Stopping(_, pr) if pr.site == peer => lost.push(id),
                State::Inside(..) | State::Stopping(..) => {}
                State::Waiting(hosts) => {
                    for host in hosts.values_mut().filter(|host| **host == Some(peer)) {
                        *host = None;
                    }
                    process.ask(site, out);
                }
            }
        }
        for id in lost {
            let process = self.processes.remove(&id).expect("it was there a moment ago");
            if let State::Inside(..) = process.state {
                out.lose(id, Why::NoWord);
            }
        }
    }

    /// We have a session again: asks where no host could be reached.
    pub(super) fn on_open(&mut self, site: &Shared, out: &mut Out<RoleLock>) {
        for (_, process) in self.processes.iter_mut() {
            process.ask(site, out);
        }
    }

    /// What a claim rests on, once it is inside.
    pub(super) fn basis(&self, id: ClaimId) -> Basis {
        let process = self.processes.get(&id);
        let stage = process.and_then(|process| Some((process.stage()?.1, process.ticket)));
        stage.map_or(Basis::Nothing, |(pr, ticket)| Basis::Word(pr.site, ticket))
    }

    pub(super) fn views(&self) -> Vec<ClaimView> {
        let view = |process: &Process| ClaimView {
            ticket: process.ticket,
            inside: process.is_inside(),
            held_up: !process.is_inside() && process.haste == Haste::HeldUp,
            missing: process.hosts().collect(),
        };
        self.processes.values().map(view).collect()
    }
}

impl Process {
    /// The group it is a member of, and the stage.
    fn stage(&self) -> Option<(&Group, Ticket)> {
        match &self.state {
            State::Inside(group, pr) | State::Stopping(group, pr) => Some((group, *pr)),
            State::Waiting(_) => None,
        }
    }

    fn is_inside(&self) -> bool {
        self.stage().is_some()
    }

    fn waits_for(&self, group: &Group, host: SiteId) -> bool {
        matches!(&self.state, State::Waiting(hosts) if hosts.get(group) == Some(&Some(host)))
    }

    /// The hosts that were asked and have not answered.
    fn hosts(&self) -> impl Iterator<Item = SiteId> + '_ {
        let hosts = match &self.state {
            State::Waiting(hosts) => Some(hosts.values()),
            State::Inside(..) | State::Stopping(..) => None,
        };
        hosts.into_iter().flatten().filter_map(|&host| host)
    }

    /// Asks a host for every group that has none.
    fn ask(&mut self, site: &Shared, out: &mut Out<RoleLock>) {
        let State::Waiting(hosts) = &mut self.state else { return };
        for (group, asked) in hosts.iter_mut().filter(|(_, asked)| asked.is_none()) {
            *asked = host_of(group, site);
            if let Some(host) = *asked {
                let (ticket, time) = (self.ticket, self.claim.time);
                let (group, role) = (group.clone(), self.claim.groups[group]);
                let hasty = self.haste.wants_to_know();
                out.send(host, Message::ReqProcess { ticket, group, role, time, hasty });
            }
        }
    }

    /// Tells all that were asked to forget it, but for the host of `except`.
    fn withdraw(&self, except: Option<&Group>, out: &mut Out<RoleLock>) {
        let State::Waiting(hosts) = &self.state else { return };
        for (group, host) in hosts.iter().filter(|(group, _)| Some(*group) != except) {
            if let Some(host) = *host {
                let (ticket, group) = (self.ticket, group.clone());
                out.send(host, Message::RelProcess { ticket, group });
            }
        }
    }
}
