//! What comes in and goes out, bent.

use std::time::Duration;

use quorate_quorum::SiteId;

use super::{Erratum, Unrepaired};
use crate::group::Group;
use crate::role::member::{Admitted, Request};
use crate::role::process::State as Process;
use crate::role::stage::{Stage, State};
use crate::role::{Message, Role, RoleLock};
use crate::{Effect, GrantNo, Input, Out, Shared, Tick, Ticket};

impl Unrepaired {
    /// What is left to do of an input; `None` if nothing is.
    pub(super) fn bend(
        &mut self,
        site: &mut Shared,
        now: Tick,
        input: Input<RoleLock>,
        out: &mut Out<RoleLock>,
    ) -> Option<Input<RoleLock>> {
        match (self.undone, &input) {
            (_, Input::Deliver(..)) => {
                let Input::Deliver(from, message) = input else { unreachable!("it is one") };
                let message = self.bend_question(site, now, message, out)?;
                let message = self.bend_answer(from, message, out)?;
                return Some(Input::Deliver(from, message));
            }
            (Erratum::HolderKept, &Input::Closed(client))
                if self.lock.arbiter.is_lent_to(|holder| holder.site == client) =>
            {
                self.lock.stages.on_closed(site, now, client, out);
                return None;
            }
            (Erratum::BothHalves, &Input::Lost(peer)) => {
                self.lock.arbiter.on_closed(site, peer, out);
            }
            (Erratum::NoRecheck | Erratum::StageKept, &Input::Lost(peer)) => {
                self.lose_loans(site, now, peer, out);
                self.lock.processes.on_lost(site, peer, out);
                return None;
            }
            (Erratum::FloorKept, &Input::Closed(client)) => {
                let floor = site.floor();
                self.lock.arbiter.on_closed(site, client, out);
                self.lock.stages.on_closed(site, now, client, out);
                site.keep_floor(floor);
                for effect in out.iter_mut() {
                    if let Effect::Send(_, Message::RecGroup { fences, .. }) = effect {
                        fences.floor = floor;
                    }
                }
                return None;
            }
            (Erratum::NoQuarantine, Input::Cleared) => return None,
            _ => {}
        }
        Some(input)
    }

    /// Stages lose an arbiter, and do not do all that follows from it.
    fn lose_loans(&mut self, site: &mut Shared, now: Tick, peer: SiteId, out: &mut Out<RoleLock>) {
        for stage in self.lock.stages.stages.values_mut() {
            if self.undone == Erratum::NoRecheck {
                stage.lose_peer(site, peer, out);
                continue;
            }
            stage.repaired |= stage.loans.remove(&peer).is_some();
            stage.ask_a_quorum(site, out);
            stage.go_on(site, now, out);
        }
        self.lock.stages.conclude(site, out);
    }

    /// What is left to do of a message to a host or an arbiter.
    fn bend_question(
        &mut self,
        site: &mut Shared,
        now: Tick,
        mut message: Message,
        out: &mut Out<RoleLock>,
    ) -> Option<Message> {
        let (arbiter, stages) = (&mut self.lock.arbiter, &mut self.lock.stages.stages);
        match (self.undone, &mut message) {
            (Erratum::A1, &mut Message::RepRelGroup { pr, .. })
                if arbiter.is_lent_to(|h| h == pr) =>
            {
                arbiter.lend(site, out);
                return None;
            }
            // The lock is taken from whoever has it by now.
            (Erratum::A4 | Erratum::A5, &mut Message::RepRelGroup { pr, number }) => {
                let holder = arbiter.holder.map(|holder| holder.entry);
                if holder.is_none_or(|entry| (entry.pr, entry.number) != (pr, number)) {
                    if !arbiter.lg.is_empty() {
                        arbiter.lend(site, out);
                    }
                    return None;
                }
            }
            (Erratum::A5, Message::ReqGroup { .. }) => {
                if let Some(holder) = &mut arbiter.holder {
                    holder.inquired = false;
                }
            }
            (Erratum::HeldInOrder, Message::ReqGroup { held, .. }) => *held = false,
            // A host knows sites, so the request it has of one takes any ticket.
            (
                Erratum::A8Process,
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
            (Erratum::A10, &mut Message::RelProcess { ticket, ref group }) => {
                if let Some(stage) = stages.get_mut(group) {
                    keep_locks(stage, ticket, now);
                }
            }
            (Erratum::A13, Message::ReqProcess { ticket, group, role, time, .. }) => {
                if let Some(stage) = stages.get_mut(group).filter(|s| refuses(s, now, *role, *time))
                {
                    let (ticket, role, cost) = (*ticket, *role, *time);
                    stage.lw.0.push(Request { ticket, role, cost, admitted: None, hasty: false });
                    return None;
                }
            }
            (Erratum::NoQuarantine, _) => site.quarantined = false,
            _ => {}
        }
        Some(message)
    }

    /// What is left to do of a message from a host or an arbiter.
    fn bend_answer(
        &mut self,
        from: SiteId,
        message: Message,
        out: &mut Out<RoleLock>,
    ) -> Option<Message> {
        match message {
            Message::RelGroup { pr, number, .. } => {
                let (answers, ignores) = self.errs_at(from, pr, number);
                if answers {
                    out.send(from, Message::RepRelGroup { pr, number });
                }
                if answers || ignores {
                    return None;
                }
            }
            Message::RepProcess { ticket, ref group, pr, .. } => {
                let process = self.lock.processes.processes.get(&ticket.claim);
                let process = process.filter(|process| process.ticket == ticket);
                let inside = match process.map(|process| &process.state) {
                    Some(Process::Inside(group, pr)) => Some((group, pr)),
                    _ => None,
                };
                let repeated = inside == Some((group, &pr));
                if repeated && self.undone == Erratum::RepeatRefused {
                    out.send(from, Message::RelProcess { ticket, group: group.clone() });
                    return None;
                }
                let unasked = process.is_none() || inside.is_some();
                if unasked && self.undone == Erratum::NoRefusal {
                    return None;
                }
            }
            _ => {}
        }
        Some(message)
    }

    /// Whether a stage wrongly answers an arbiter's question, or wrongly ignores it.
    fn errs_at(&self, arbiter: SiteId, pr: Ticket, number: GrantNo) -> (bool, bool) {
        let stage = self.lock.stages.stages.values().find(|stage| stage.pr == pr);
        let active = stage.is_some_and(|stage| stage.state == State::Active);
        let loan = stage.and_then(|stage| stage.loans.get(&arbiter));
        match self.undone {
            Erratum::A4 => (stage.is_none(), false),
            Erratum::A5 => (active && loan.is_some_and(|loan| number <= loan.yielded), false),
            Erratum::A8Ignored => (false, loan.is_some_and(|loan| loan.have != Some(number))),
            Erratum::A19 => (false, active),
            _ => (false, false),
        }
    }

    /// Whether an input tells the time to a site that must not know it.
    pub(super) fn is_told_the_time(&self, input: &Input<RoleLock>) -> bool {
        let told = |message: &Message| {
            matches!(message, Message::ReqGroup { .. } | Message::RecGroup { .. })
        };
        let tells = matches!(input, Input::Deliver(_, message) if told(message));
        self.undone == Erratum::A3 && tells
    }

    /// The group in which an exclusive request is going to be admitted and should not be, or the
    /// other way round.
    pub(super) fn admits_wrongly(&self, input: &Input<RoleLock>) -> Option<Group> {
        let Input::Deliver(_, message) = input else { return None };
        let stages = &self.lock.stages.stages;
        match (self.undone, message) {
            (Erratum::A6, Message::ReqProcess { group, .. }) => Some(group.clone()),
            (Erratum::A7Late, Message::ReqProcess { group, .. }) => {
                let stage = stages.get(group).filter(|stage| stage.lp.exclusive().is_none());
                stage.map(|_| group.clone())
            }
            (Erratum::A7, Message::RelProcess { group, ticket }) => {
                let leaves = stages.get(group).and_then(|stage| stage.lp.get(*ticket));
                leaves.filter(|request| !request.is_exclusive()).map(|_| group.clone())
            }
            _ => None,
        }
    }

    /// Makes further errors after a step.
    pub(super) fn err(&mut self, now: Tick, admits: Option<Group>, out: &mut Out<RoleLock>) {
        let (arbiter, stages) = (&self.lock.arbiter, &mut self.lock.stages.stages);
        match self.undone {
            Erratum::A2 => {
                let held = arbiter.holder.map(|holder| holder.entry.pr.time);
                if arbiter.lg.first().map(|(_, entry)| entry.pr.time) == held {
                    let question = |message: &Message| matches!(message, Message::RelGroup { .. });
                    out.retain(|effect| !matches!(effect, Effect::Send(_, m) if question(m)));
                }
            }
            Erratum::A6 | Erratum::A7 => {
                if let Some(stage) = admits.and_then(|group| stages.get_mut(&group)) {
                    admit_another(stage, now, out);
                }
            }
            Erratum::A7Late => {
                if let Some(stage) = admits.and_then(|group| stages.get_mut(&group)) {
                    withhold(stage, out);
                }
            }
            Erratum::A8Blind => {
                for (_, loan) in stages.values_mut().flat_map(|stage| stage.loans.iter_mut()) {
                    loan.yielded = GrantNo::default();
                }
            }
            Erratum::CeilVolatile => {
                out.retain(|effect| !matches!(effect, Effect::Persist(_)));
            }
            Erratum::SharedFence => {
                for stage in stages.values_mut() {
                    if let State::Cs(cs) = &mut stage.state {
                        cs.last = cs.fence;
                    }
                }
            }
            _ => {}
        }
    }
}

/// Admits the next exclusive request, whoever is inside.
fn admit_another(stage: &mut Stage, now: Tick, out: &mut Out<RoleLock>) {
    let (State::Cs(cs), Some(place)) = (&mut stage.state, stage.lp.oldest_pending()) else {
        return;
    };
    cs.last = cs.last.next();
    let fence = cs.last;
    stage.lp.0[place].admitted = Some(Admitted { at: now, fence });
    stage.reply(now, stage.lp.0[place].ticket, fence, out);
}

/// The exclusive request that was admitted for want of another has to wait until somebody leaves.
fn withhold(stage: &mut Stage, out: &mut Out<RoleLock>) {
    let admitted = |request: &&mut Request| request.is_exclusive() && request.admitted.is_some();
    let State::Cs(cs) = &mut stage.state else { return };
    let Some(request) = stage.lp.0.iter_mut().find(admitted) else { return };
    request.admitted = None;
    if cs.last == cs.fence.next() {
        cs.last = cs.fence; // it is the first one still
    }
    let ticket = request.ticket;
    out.retain(|effect| match effect {
        Effect::Send(_, Message::RepProcess { ticket: told, .. }) => *told != ticket,
        Effect::Arm(timer, _) => timer.ticket != ticket,
        _ => true,
    });
}

/// When the last member leaves, those who wait for the next stage become members of this one.
fn keep_locks(stage: &mut Stage, ticket: Ticket, now: Tick) {
    let last = stage.lp.0.len() == 1 && stage.lp.get(ticket).is_some();
    if let State::Cs(cs) = &mut stage.state
        && last
    {
        cs.deadline = now + stage.lw.gtpo();
        cs.since = now;
        stage.lp.0.append(&mut stage.lw.0);
    }
}

/// The printed test: all exclusive requests of the stage count in full, whatever has gone by.
fn refuses(stage: &Stage, now: Tick, role: Role, time: Duration) -> bool {
    let State::Cs(cs) = stage.state else { return false };
    let exclusive = stage.lp.0.iter().filter(|request| request.is_exclusive());
    let all: Duration = exclusive.map(|request| request.cost).sum();
    role == Role::Exclusive && now + all + time > cs.deadline
}
