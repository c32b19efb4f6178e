//! Callers: when they come, how long they stay, and which of them stay too long.

use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::role::RoleLock;
use quorate_protocol::{Fence, OutboundSession, Shared};
use quorate_quorum::SiteId;
use quorate_session::client::{ClientInput, ClientRequest};
use quorate_session::{Access, BreakRequest, CallId, ClaimRequest, Claimant, LockSpec, Share};

use super::Load;
use super::event::{ClientName, Event};
use super::faults::{Fault, Faults};
use super::run::{Due, MS, Run, nanos};
use super::storage::Write;

/// One call of a caller.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Its process.
    pub(super) process: usize,
    /// Which caller, and for which lock.
    caller: usize,
    pub(super) name: usize,
    /// Whether it never looks at its clock.
    pub(super) late: bool,
    hold: u64,
    pub(super) place: Place,
    /// Whether it has left, and that is not acknowledged yet.
    pub(super) leaving: bool,
    /// The site at which it is inside.
    pub(super) site: usize,
    pub(super) fence: Fence,
    pub(super) spec: LockSpec,
    /// The part of the lock that it was granted.
    pub(super) share: Option<Share>,
    /// When it entered, in true time.
    pub(super) since: u64,
    /// The deadline that it knows, in true time.
    pub(super) end: u64,
    /// Whether it was ever valid.
    pub(super) entered: bool,
}

/// The state of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Waiting,
    Inside,
    /// Inside, and the loss of its grant has been signalled.
    Ending,
    Over,
}

/// The callers that wait for a lock, for the figures.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    waiting: u32,
    /// Since when a caller has waited without a break.
    since: u64,
    /// When the last holder left or ended.
    left: u64,
}

impl Call {
    pub(super) fn is_waiting(&self) -> bool {
        self.place == Place::Waiting
    }

    pub(super) fn is_inside(&self) -> bool {
        self.place == Place::Inside || self.place == Place::Ending
    }

    /// The part of the lock that it was granted.
    pub(super) fn share(&self) -> &Share {
        self.share.as_ref().expect("a caller that is or was inside has a share")
    }
}

impl Run<'_> {
    /// A caller claims a lock, if its process is alive.
    pub(super) fn on_claim(&mut self, caller: usize) {
        let process = self.slots[self.slot_of[caller]].process;
        if self.settled_at.is_some() {
            return;
        }
        if !self.clients[process].is_alive() || self.clients[process].stopping {
            let wait = self.chance.about(self.lease / 4);
            return self.plan_in(wait, Due::Claim(caller));
        }
        if self.clients[process].paused {
            return self.clients[process].deferred.push(Due::Claim(caller));
        }
        let mut call = self.draw_call(caller, process);
        let id = CallId(self.calls.len() as u64);
        let mut timeout = None;
        if call.hold == u64::MAX {
            call.hold = nanos(self.plan.lasts);
        } else if self.chance.percent(30) {
            let wait = Duration::from_nanos(self.chance.below(2 * self.lease));
            let clock = self.clients[process].clock;
            let over = clock.when(clock.read(self.now) + wait);
            self.plan_at(over + self.parameters.lateness, Due::WaitOver(id));
            timeout = Some(wait);
        } else if self.chance.percent(15) {
            let wait = self.chance.about(self.lease / 4);
            self.plan_in(wait, Due::GiveUp(id));
        }
        let name = self.names[call.name].clone();
        self.note_wait(call.name);
        self.calls.push(call);
        self.tally.claims += 1;
        self.monitor.on_claim(self.calls[place_of(id)].name, id);
        self.see(&Event::Claims(self.clients[process].name, id, &name));
        let no_wait = self.plan.no_wait && id.0 % 4 == 3;
        let (spec, claimant) = (self.call(id).spec.clone(), Claimant::default());
        let claim = ClaimRequest { name, spec, claimant, timeout, no_wait, since: None };
        self.request(process, ClientRequest::Claim(id.0, claim));
    }

    fn note_wait(&mut self, name: usize) {
        let queue = &mut self.queues[name];
        if queue.waiting == 0 {
            queue.since = self.now;
        }
        queue.waiting += 1;
    }

    fn draw_call(&mut self, caller: usize, process: usize) -> Call {
        let drawn = matches!(self.plan.load, Load::Drawn { .. });
        let mut hold = self.chance.about(self.parameters.hold);
        if self.chance.percent(5) {
            hold += self.chance.below(4 * self.lease);
        }
        // The first lock is the busy one.
        let name = if self.chance.percent(40) { 0 } else { self.chance.place(self.names.len()) };
        Call {
            spec: self.plan.claims.draw_spec(
                self.parameters.claims,
                self.parameters.hold,
                &mut self.chance,
            ),
            share: None,
            process,
            caller,
            name,
            late: self.chance.percent(20) && drawn,
            hold: if drawn { hold } else { u64::MAX },
            place: Place::Waiting,
            leaving: false,
            site: 0,
            fence: Fence::default(),
            since: 0,
            end: 0,
            entered: false,
        }
    }

    /// The holder of [`Load::HolderAndWaiters`] has entered: the others come within half a lease.
    pub(super) fn plan_waiters(&mut self, id: CallId) {
        if self.plan.load != Load::HolderAndWaiters || self.call(id).caller > 0 {
            return;
        }
        for caller in 1..self.slot_of.len() {
            let wait = self.chance.below(self.lease / 2);
            self.plan_in(wait, Due::Claim(caller));
        }
    }

    fn think(&mut self, caller: usize) {
        let wait = self.chance.about(self.parameters.think);
        self.plan_in(wait, Due::Claim(caller));
    }

    fn call(&self, id: CallId) -> &Call {
        &self.calls[place_of(id)]
    }

    /// The name of a caller's process.
    fn client_name(&self, id: CallId) -> ClientName {
        self.clients[self.call(id).process].name
    }

    /// Whether a caller is paused with its process. Then it does this when the process continues.
    fn is_held_up(&mut self, id: CallId, due: Due) -> bool {
        let process = self.call(id).process;
        let client = &mut self.clients[process];
        if client.paused {
            client.deferred.push(due);
        }
        client.paused
    }

    /// Whether a grant must not be lost: its site is up, another site crashed in the last two
    /// leases, and none did while it was waiting for its permissions or had no time for spare ones.
    pub(super) fn should_survive(&self, id: CallId) -> bool {
        let call = self.call(id);
        let exposed = call.since.saturating_sub(self.lease)..call.since + self.lease / 2;
        let settled = self.faults.iter().all(|(at, _)| !exposed.contains(at));
        let recent = self.now.saturating_sub(2 * self.lease)..self.now;
        let crashed = self.faults.iter().any(|(at, _)| recent.contains(at));
        let up = self.healed_at.is_none() && self.nodes[call.site].site.is_some();
        self.plan.faults == Faults::Minority
            && settled
            && crashed
            && up
            && self.has_quorum_left(call)
    }

    /// Whether the sites that are up contain a quorum for a grant that depends on a quorum alone.
    ///
    /// Nobody joins a writer, so it has opened its occupancy itself. Other members of groups may
    /// depend on the site of another one. A member of a role depends on the host of its stage.
    /// Delegations, of which readers and members need many, can end without any crash if packets
    /// take longer than a fortieth of a lease.
    fn has_quorum_left(&self, call: &Call) -> bool {
        let in_time = self.tally.packet_ns_max <= self.lease / 40;
        let is_judged = match &call.spec {
            LockSpec::Mutex | LockSpec::Pool(_) => true,
            LockSpec::Access(Access::Write) => in_time,
            LockSpec::Role(_) => in_time && self.host_is_up(call),
            _ => false,
        };
        let up = (0..self.nodes.len()).filter(|&site| self.nodes[site].site.is_some());
        is_judged && self.is_quorum_for(call, &up.map(SiteId::new).collect())
    }

    /// Whether the site that hosts the stage of a member is up: the first choice of those that were
    /// up when it entered, unless sites did not reach each other yet when it asked.
    fn host_is_up(&self, call: &Call) -> bool {
        let Some(group) = &call.share().group else { return false };
        let mut shared = Shared::new(SiteId::new(call.site), Arc::clone(&self.plan.quorums));
        shared.rotate_quorums(self.names[call.name].hash64());
        for (at, fault) in &self.faults {
            if let Fault::Crash { site, .. } = fault
                && *at < call.since
            {
                shared.sessions.set_outbound(*site, OutboundSession::default());
            }
        }
        let host = RoleLock::host_of(group, &shared);
        let reached = call.since > 4 * self.lease;
        reached && host.is_some_and(|host| self.nodes[host.index()].site.is_some())
    }

    pub(super) fn on_give_up(&mut self, id: CallId) {
        if !self.call(id).is_waiting() || self.is_held_up(id, Due::GiveUp(id)) {
            return;
        }
        self.tally.given_up += 1;
        self.finish(id, "gives up");
        self.send_leave(id);
    }

    /// A caller waits no longer than it said, by the clock of its process, whether or not any site
    /// answers.
    pub(super) fn on_wait_over(&mut self, id: CallId) {
        let stopping = self.clients[self.call(id).process].stopping;
        let waits = self.call(id).is_waiting() && !stopping;
        if waits && !self.is_held_up(id, Due::WaitOver(id)) {
            let name = self.client_name(id);
            self.monitor.on_late(name, id);
        }
    }

    /// Plans what a caller does inside: it writes now and then, and leaves.
    pub(super) fn plan_stay(&mut self, id: CallId) {
        let mut hold = self.call(id).hold;
        if self.settled_at.is_some() {
            hold = self.chance.below(20 * MS);
        }
        for _ in 0..=self.chance.below(3) {
            let wait = self.chance.below(hold + 1);
            self.plan_in(wait, Due::Write(id));
        }
        self.plan_in(hold, Due::Leave(id));
        if self.chance.percent(10) {
            self.plan_in(0, Due::Margin(id));
        }
    }

    /// A caller asks for an earlier signal of the loss of its grant.
    pub(super) fn on_margin(&mut self, id: CallId) {
        if self.call(id).is_inside() {
            let margin = Duration::from_nanos(self.chance.below(self.lease / 8));
            let process = self.call(id).process;
            self.feed_client(process, ClientInput::Margin(id.0, margin), 0);
        }
    }

    /// A caller inside writes, unless it looks at its clock and its time is over. A caller that is
    /// paused between looking and writing writes when it continues.
    pub(super) fn on_write(&mut self, id: CallId) {
        if !self.call(id).is_inside() {
            return;
        }
        let looked = self.chance.percent(30);
        let again = if looked { Due::LateWrite(id) } else { Due::Write(id) };
        if self.is_held_up(id, again) {
            return;
        }
        let call = self.call(id);
        if call.end <= self.now && !call.late {
            self.tally.lapsed += 1;
            self.finish(id, "sees that its time is over");
            return self.send_leave(id);
        }
        self.check_views(id);
        self.write(id);
    }

    /// A caller writes without looking at its clock.
    pub(super) fn on_late_write(&mut self, id: CallId) {
        let gone = !self.clients[self.call(id).process].is_alive();
        if gone || self.is_held_up(id, Due::LateWrite(id)) {
            return;
        }
        self.write(id);
    }

    fn write(&mut self, id: CallId) {
        let call = self.call(id);
        let (name, fence) = (call.name, call.fence);
        let valid = self.monitor.is_valid(self.now, name, id);
        let share = call.share().clone();
        let guarded: Vec<u32> = match share.group {
            // Exclusive members have fences of their own, and a storage.
            Some(_) => vec![u32::from(share.exclusive)],
            // Each unit that has a number has a storage; the others cannot be told apart.
            None => share.numbers.iter().copied().collect(),
        };
        for unit in guarded {
            let mut write = self.stores.entry((name, unit)).or_default().write(id, fence);
            if let Write::Mixed(other) = write
                && share.group.is_some()
                && !share.exclusive
                && self.call(other).share().group == share.group
            {
                write = Write::Accepted; // they are of one occupancy
            }
            self.note_write(id, fence, valid, write);
        }
    }

    fn note_write(&mut self, id: CallId, fence: Fence, valid: bool, write: Write) {
        let how = match (write, valid) {
            (Write::Refused(_), false) => {
                self.tally.late_refused += 1;
                "refused, it is too late"
            }
            (Write::Refused(_), true) => "refused",
            (_, true) => {
                self.tally.writes += 1;
                "accepted"
            }
            (_, false) => {
                self.tally.late_accepted += 1;
                "accepted, too late, but nobody has written since"
            }
        };
        self.see(&Event::Writes(self.client_name(id), id, fence, how));
        self.monitor.on_write(id, fence, valid, write);
    }

    pub(super) fn on_leave(&mut self, id: CallId) {
        if !self.call(id).is_inside() || self.is_held_up(id, Due::Leave(id)) {
            return;
        }
        self.finish(id, "leaves");
        self.send_leave(id);
    }

    /// A caller whose grant is lost has stopped.
    pub(super) fn on_drop(&mut self, id: CallId) {
        if !self.is_held_up(id, Due::Drop(id)) {
            self.send_leave(id);
        }
    }

    fn send_leave(&mut self, id: CallId) {
        let call = &mut self.calls[place_of(id)];
        let process = call.process;
        if self.clients[process].is_alive() {
            call.leaving = true;
            self.request(process, ClientRequest::Leave(id.0));
        }
    }

    /// A call is over. A late caller continues to write for a while.
    pub(super) fn finish(&mut self, id: CallId, how: &str) {
        let now = self.now;
        let call = &mut self.calls[place_of(id)];
        let was = std::mem::replace(&mut call.place, Place::Over);
        let (process, name, caller, late) = (call.process, call.name, call.caller, call.late);
        let end = call.end;
        self.clients[process].inside.remove(&id);
        self.see(&Event::Ends(self.clients[process].name, id, how));
        let queue = &mut self.queues[name];
        if was == Place::Waiting {
            queue.waiting -= 1;
        } else {
            queue.left = queue.left.max(end.min(now));
            self.monitor.on_leave(name, id);
            if late {
                for _ in 0..=self.chance.below(2) {
                    let wait = self.chance.below(2 * self.lease);
                    self.plan_in(wait, Due::LateWrite(id));
                }
            }
        }
        self.think(caller);
    }

    /// A caller is inside: notes for how long the lock was free while it waited.
    pub(super) fn note_entry(&mut self, name: usize) {
        let queue = &mut self.queues[name];
        queue.waiting -= 1;
        let held = queue.left.max(self.monitor.last_end(self.now, name));
        let free = self.now.saturating_sub(queue.since.max(held));
        self.tally.gap_ns_max = self.tally.gap_ns_max.max(free);
    }

    /// A client process has crashed, and its callers with it.
    pub(super) fn end_callers(&mut self, process: usize) {
        for place in 0..self.calls.len() {
            let call = &mut self.calls[place];
            if call.process != process {
                continue;
            }
            call.leaving = false;
            if call.place != Place::Over {
                self.tally.orphaned += u64::from(call.is_waiting());
                self.finish(CallId(place as u64), "is gone with its process");
            }
        }
    }

    /// A process asks to break a grant, sometimes with the wrong fence.
    pub(super) fn on_break(&mut self) {
        if self.settled_at.is_some() {
            return;
        }
        let wait = self.chance.about(3 * self.lease);
        self.plan_in(wait, Due::Break);
        let name = self.chance.place(self.names.len());
        let process = self.slots[self.chance.place(self.slots.len())].process;
        let Some(holder) = self.monitor.holder(self.now, name) else { return };
        let mut fence = self.call(holder.call).fence;
        if self.chance.percent(25) {
            fence = fence.next();
        }
        if !self.clients[process].is_alive() {
            return;
        }
        self.tally.breaks += 1;
        let name = self.names[name].clone();
        self.see(&Event::Breaks(self.clients[process].name, &name, fence));
        let order = BreakRequest {
            name,
            fence,
            by: Claimant::default(),
            reason: "it hangs".parse().expect("it is short"),
        };
        self.request(process, ClientRequest::Break(order));
    }
}

pub(super) fn place_of(id: CallId) -> usize {
    usize::try_from(id.0).expect("calls are places in a list")
}
