//! How each mutation changes inputs, state and effects.

use std::time::Duration;

use quorate_quorum::SiteId;

use super::{Mutant, Mutation};
use crate::group::Group;
use crate::role::process::ProcessState;
use crate::role::requests::{Admitted, Request};
use crate::role::stage::{Stage, StageState};
use crate::role::{Message, Role, RoleLock, Timer};
use crate::{Effect, GrantNo, Input, Out, Shared, Tick, Ticket};

/// What a stage wrongly does about a Rel-Group.
enum InquiryFault {
    Answers,
    Ignores,
}

impl Mutant {
    /// The input that the production step gets; `None` if it is handled here.
    pub(super) fn mutate(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<RoleLock>,
        out: &mut Out<RoleLock>,
    ) -> Option<Input<RoleLock>> {
        match (self.undone, &input) {
            (_, Input::Deliver(..)) => {
                let Input::Deliver(from, message) = input else { unreachable!("matched above") };
                let message = self.mutate_request(site, now, message, out)?;
                let message = self.mutate_reply(from, message, out)?;
                return Some(Input::Deliver(from, message));
            }
            (Mutation::HolderKept, &Input::Closed(client))
                if self.lock.arbiter.is_lent_to(|holder| holder.site == client) =>
            {
                self.lock.host.on_closed(site, now, client, out);
                return None;
            }
            (Mutation::BothHalves, &Input::Lost(peer)) => {
                site.end_session();
                self.lock.arbiter.on_closed(site, peer, out);
            }
            (Mutation::NoRecheck | Mutation::StageKept, &Input::Lost(peer)) => {
                self.lose_loans(site, now, peer, out);
                self.lock.processes.on_lost(site, peer, out);
                return None;
            }
            (Mutation::FloorKept, &Input::Closed(client)) => {
                let floor = site.floor();
                self.lock.arbiter.on_closed(site, client, out);
                self.lock.host.on_closed(site, now, client, out);
                site.keep_floor(floor);
                for effect in out.iter_mut() {
                    if let Effect::Send(_, Message::RecGroup { fences, .. }) = effect {
                        fences.floor = floor;
                    }
                }
                return None;
            }
            (Mutation::NoQuarantine, Input::Cleared)
            | (Mutation::NoSpares, Input::Expire(Timer::Stay(_))) => return None,
            _ => {}
        }
        Some(input)
    }

    /// Takes the locks of `peer` from all stages, without the repair that is undone.
    fn lose_loans(&mut self, site: &mut Shared, now: Tick, peer: SiteId, out: &mut Out<RoleLock>) {
        for stage in self.lock.host.stages.values_mut() {
            if self.undone == Mutation::NoRecheck {
                stage.lose_peer(site, peer, out);
                continue;
            }
            stage.repaired |= stage.loans.remove(&peer).is_some();
            stage.ask_quorum(site, out);
            stage.enter_or_admit(site, now, out);
        }
        self.lock.host.end_empty_stages(site, out);
    }

    /// The message to a host or an arbiter that the production step gets.
    fn mutate_request(
        &mut self,
        site: &mut Shared,
        now: Tick,
        mut message: Message,
        out: &mut Out<RoleLock>,
    ) -> Option<Message> {
        let (arbiter, stages) = (&mut self.lock.arbiter, &mut self.lock.host.stages);
        match (self.undone, &mut message) {
            (Mutation::A1, &mut Message::RepRelGroup { pr, .. })
                if arbiter.is_lent_to(|h| h == pr) =>
            {
                arbiter.lend(site, out);
                return None;
            }
            // Takes the lock from its present holder.
            (Mutation::A4 | Mutation::A5, &mut Message::RepRelGroup { pr, number }) => {
                let holder = arbiter.holder.map(|holder| holder.entry);
                if holder.is_none_or(|entry| (entry.pr, entry.number) != (pr, number)) {
                    if !arbiter.lg.is_empty() {
                        arbiter.lend(site, out);
                    }
                    return None;
                }
            }
            (Mutation::A5, Message::ReqGroup { .. }) => {
                if let Some(holder) = &mut arbiter.holder {
                    holder.inquired = false;
                }
            }
            (Mutation::HeldInOrder, Message::ReqGroup { held, .. }) => *held = false,
            // The host tells sites apart, not requests: its request of a site takes any ticket.
            (
                Mutation::A8Process,
                Message::ReqProcess { ticket, group, .. } | Message::RelProcess { ticket, group },
            ) => {
                if let Some(stage) = stages.get_mut(group) {
                    let mut requests = stage.lp.0.iter_mut().chain(&mut stage.lw.0);
                    let same = requests.find(|request| request.ticket.site == ticket.site);
                    if let Some(request) = same {
                        request.ticket = *ticket;
                    }
                }
            }
            (Mutation::A10, &mut Message::RelProcess { ticket, ref group }) => {
                if let Some(stage) = stages.get_mut(group) {
                    keep_locks(stage, ticket, now);
                }
            }
            (Mutation::A13, Message::ReqProcess { ticket, group, role, time, .. }) => {
                if let Some(stage) = stages.get_mut(group).filter(|s| refuses(s, now, *role, *time))
                {
                    let (ticket, role, cost) = (*ticket, *role, *time);
                    stage.lw.0.push(Request { ticket, role, cost, admitted: None, no_wait: false });
                    return None;
                }
            }
            (Mutation::NoQuarantine, _) => site.quarantined = false,
            _ => {}
        }
        Some(message)
    }

    /// The message from a host or an arbiter that the production step gets.
    fn mutate_reply(
        &mut self,
        from: SiteId,
        message: Message,
        out: &mut Out<RoleLock>,
    ) -> Option<Message> {
        match message {
            Message::RelGroup { pr, number, .. } => {
                if let Some(fault) = self.inquiry_fault(from, pr, number) {
                    if let InquiryFault::Answers = fault {
                        out.send(from, Message::RepRelGroup { pr, number });
                    }
                    return None;
                }
            }
            Message::RepProcess { ticket, ref group, pr, .. } => {
                let process = self.lock.processes.processes.get(&ticket.claim);
                let process = process.filter(|process| process.ticket == ticket);
                let inside = match process.map(|process| &process.state) {
                    Some(ProcessState::Inside(group, pr)) => Some((group, pr)),
                    _ => None,
                };
                let repeated = inside == Some((group, &pr));
                if repeated && self.undone == Mutation::RepeatRefused {
                    out.send(from, Message::RelProcess { ticket, group: group.clone() });
                    return None;
                }
                let unasked = process.is_none() || inside.is_some();
                if unasked && self.undone == Mutation::NoRefusal {
                    return None;
                }
            }
            _ => {}
        }
        Some(message)
    }

    /// What a stage wrongly does about an inquiry.
    fn inquiry_fault(&self, arbiter: SiteId, pr: Ticket, number: GrantNo) -> Option<InquiryFault> {
        let stage = self.lock.host.stages.values().find(|stage| stage.pr == pr);
        let active = stage.is_some_and(|stage| stage.state == StageState::Active);
        let loan = stage.and_then(|stage| stage.loans.get(&arbiter));
        let (faulty, fault) = match self.undone {
            Mutation::A4 => (stage.is_none(), InquiryFault::Answers),
            Mutation::A5 => {
                (active && loan.is_some_and(|loan| number <= loan.yielded), InquiryFault::Answers)
            }
            Mutation::A8Ignored => {
                (loan.is_some_and(|loan| loan.have != Some(number)), InquiryFault::Ignores)
            }
            Mutation::A19 => (active, InquiryFault::Ignores),
            _ => return None,
        };
        faulty.then_some(fault)
    }

    /// Whether an input that carries a Lamport time must not change the clock.
    pub(super) fn keeps_clock(&self, input: &Input<RoleLock>) -> bool {
        let has_time = |message: &Message| {
            matches!(message, Message::ReqGroup { .. } | Message::RecGroup { .. })
        };
        let timed = matches!(input, Input::Deliver(_, message) if has_time(message));
        self.undone == Mutation::A3 && timed
    }

    /// The group in which an exclusive request will wrongly be admitted, or wrongly be withheld.
    pub(super) fn misadmitting_group(&self, input: &Input<RoleLock>) -> Option<Group> {
        let Input::Deliver(_, message) = input else { return None };
        let stages = &self.lock.host.stages;
        match (self.undone, message) {
            (Mutation::A6, Message::ReqProcess { group, .. }) => Some(group.clone()),
            (Mutation::A7Late, Message::ReqProcess { group, .. }) => {
                let stage = stages.get(group).filter(|stage| stage.lp.exclusive().is_none());
                stage.map(|_| group.clone())
            }
            (Mutation::A7, Message::RelProcess { group, ticket }) => {
                let leaves = stages.get(group).and_then(|stage| stage.lp.get(*ticket));
                leaves.filter(|request| !request.is_exclusive()).map(|_| group.clone())
            }
            _ => None,
        }
    }

    /// Changes state and effects after the production step.
    pub(super) fn mutate_outcome(
        &mut self,
        now: Tick,
        admits: Option<Group>,
        out: &mut Out<RoleLock>,
    ) {
        let (arbiter, stages) = (&self.lock.arbiter, &mut self.lock.host.stages);
        match self.undone {
            Mutation::A2 => {
                let held = arbiter.holder.map(|holder| holder.entry.pr.time);
                if arbiter.lg.first().map(|(_, entry)| entry.pr.time) == held {
                    let inquiry = |message: &Message| matches!(message, Message::RelGroup { .. });
                    out.retain(|effect| !matches!(effect, Effect::Send(_, m) if inquiry(m)));
                }
            }
            Mutation::A6 | Mutation::A7 => {
                if let Some(stage) = admits.and_then(|group| stages.get_mut(&group)) {
                    admit_another(stage, now, out);
                }
            }
            Mutation::A7Late => {
                if let Some(stage) = admits.and_then(|group| stages.get_mut(&group)) {
                    withhold(stage, out);
                }
            }
            Mutation::A8Blind => {
                for (_, loan) in stages.values_mut().flat_map(|stage| stage.loans.iter_mut()) {
                    loan.yielded = GrantNo::default();
                }
            }
            Mutation::CeilVolatile => {
                out.retain(|effect| !matches!(effect, Effect::Persist(_)));
            }
            Mutation::SharedFence => {
                for stage in stages.values_mut() {
                    if let StageState::Cs(cs) = &mut stage.state {
                        cs.last = cs.fence;
                    }
                }
            }
            _ => {}
        }
    }
}

/// Admits the next exclusive request, even if an exclusive member is inside.
fn admit_another(stage: &mut Stage, now: Tick, out: &mut Out<RoleLock>) {
    let (StageState::Cs(cs), Some(place)) = (&mut stage.state, stage.lp.oldest_pending()) else {
        return;
    };
    cs.last = cs.last.next();
    let fence = cs.last;
    stage.lp.0[place].admitted = Some(Admitted { at: now, fence });
    stage.send_rep_process(now, stage.lp.0[place].ticket, fence, out);
}

/// Takes back the admission of an exclusive request: it waits until a member leaves.
fn withhold(stage: &mut Stage, out: &mut Out<RoleLock>) {
    let admitted = |request: &&mut Request| request.is_exclusive() && request.admitted.is_some();
    let StageState::Cs(cs) = &mut stage.state else { return };
    let Some(request) = stage.lp.0.iter_mut().find(admitted) else { return };
    request.admitted = None;
    if cs.last == cs.fence.next() {
        cs.last = cs.fence; // the next one is still the first
    }
    let ticket = request.ticket;
    out.retain(|effect| match effect {
        Effect::Send(_, Message::RepProcess { ticket: admitted, .. }) => *admitted != ticket,
        Effect::Arm(Timer::Overdue { ticket: member, .. }, _) => *member != ticket,
        _ => true,
    });
}

/// When the last member leaves, moves the requests for the next stage into this one.
fn keep_locks(stage: &mut Stage, ticket: Ticket, now: Tick) {
    let last = stage.lp.0.len() == 1 && stage.lp.get(ticket).is_some();
    if let StageState::Cs(cs) = &mut stage.state
        && last
    {
        cs.deadline = now + stage.lw.gtpo();
        cs.since = now;
        stage.lp.0.append(&mut stage.lw.0);
    }
}

/// The printed test: all exclusive requests of the stage count in full, elapsed time included.
fn refuses(stage: &Stage, now: Tick, role: Role, time: Duration) -> bool {
    let StageState::Cs(cs) = stage.state else { return false };
    let exclusive = stage.lp.0.iter().filter(|request| request.is_exclusive());
    let all: Duration = exclusive.map(|request| request.cost).sum();
    role == Role::Exclusive && now + all + time > cs.deadline
}
