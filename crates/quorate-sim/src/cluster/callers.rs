//! Callers: what they ask for, how long they stay, and which of them stay too long.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::Fence;
use quorate_protocol::group::{Access, Group, Groups};
use quorate_protocol::role::Role;
use quorate_session::client::{ClientInput, ClientRequest};
use quorate_session::{Break, CallId, Card, ClaimRequest, Units, Want};

use super::event::{ClientName, Event};
use super::run::{Due, MS, Run, nanos};
use super::storage::Write;
use super::{Load, Wants};

/// One call of a caller.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Its process.
    pub(super) process: usize,
    /// Who calls, and for which resource.
    caller: usize,
    pub(super) name: usize,
    /// Whether it never looks at its clock.
    pub(super) late: bool,
    hold: u64,
    pub(super) place: Place,
    /// Whether it has left, and nobody has said yet that nothing is left of it.
    pub(super) leaving: bool,
    /// The site at which it is inside.
    pub(super) site: usize,
    pub(super) fence: Fence,
    want: Want,
    /// The units it got, if it wanted to know which.
    pub(super) numbers: BTreeSet<u32>,
    /// The group it got, if it wanted one.
    pub(super) group: Option<Group>,
    /// Its role there, if it wanted one.
    pub(super) role: Option<Role>,
    /// Until when it believes to be valid, in true time.
    pub(super) end: u64,
    /// Whether it was ever valid.
    pub(super) entered: bool,
}

/// Where a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Waiting,
    Inside,
    /// Inside, and the loss of its grant was signalled.
    Ending,
    Over,
}

/// Who waits for a resource, for the figures.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    waiting: u32,
    /// Since when somebody has waited without a break.
    since: u64,
    /// When the last holder that left did so, or was not valid any more.
    left: u64,
}

impl Call {
    pub(super) fn is_waiting(&self) -> bool {
        self.place == Place::Waiting
    }

    pub(super) fn is_inside(&self) -> bool {
        self.place == Place::Inside || self.place == Place::Ending
    }

    /// Whether no other exclusive member of its group may be inside with it.
    pub(super) fn is_exclusive(&self) -> bool {
        self.role == Some(Role::Exclusive)
    }

    /// How many units it wants; any other lock is one.
    pub(super) fn units(&self) -> u32 {
        match self.want {
            Want::Mutex | Want::Group(_) | Want::Access(_) | Want::Role { .. } | Want::Token(_) => {
                1
            }
            Want::Pool { units, .. } => units.count,
        }
    }
}

impl Run<'_> {
    /// A caller asks for a resource, if its process is alive.
    pub(super) fn on_claim(&mut self, caller: usize) {
        let process = self.slots[self.slot_of[caller]].process;
        if self.healed_at.is_some() {
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
        let mut patience = None;
        if call.hold == u64::MAX {
            call.hold = nanos(self.plan.lasts);
        } else if self.chance.percent(30) {
            patience = Some(Duration::from_nanos(self.chance.below(2 * self.lease)));
        } else if self.chance.percent(15) {
            let wait = self.chance.about(self.lease / 4);
            self.plan_in(wait, Due::GiveUp(id));
        }
        let name = self.names[call.name].clone();
        self.note_wait(call.name);
        self.calls.push(call);
        self.tally.claims += 1;
        self.see(&Event::Claims(self.clients[process].name, id, &name));
        let hasty = self.plan.hasty && id.0 % 4 == 3;
        let (want, card) = (self.call(id).want.clone(), Card::default());
        let claim = ClaimRequest { name, want, card, patience, hasty };
        self.request(process, ClientRequest::Claim(id.0, claim));
    }

    fn note_wait(&mut self, name: usize) {
        let queue = &mut self.queues[name];
        if queue.waiting == 0 {
            queue.since = self.now;
        }
        queue.waiting += 1;
    }

    fn draw_groups(&mut self) -> Groups {
        let some = 1 + self.chance.below(7);
        let named = (0..3).filter(|group| some >> group & 1 == 1);
        named.map(|group| Group::new(["a", "b", "c"][group])).collect()
    }

    fn draw_want(&mut self) -> Want {
        match self.plan.wants {
            Wants::Mutex => Want::Mutex,
            Wants::Pool => {
                let count = 1 + self.chance.below(self.mood.units.into());
                let count = u32::try_from(count).expect("a pool is small here");
                let units = Units { count, of: self.mood.units };
                Want::Pool { units, numbered: self.chance.percent(50) }
            }
            Wants::Group if self.mood.read_write => {
                let reads = self.chance.percent(70);
                Want::Access(if reads { Access::Read } else { Access::Write })
            }
            Wants::Group => Want::Group(self.draw_groups()),
            Wants::Token => Want::Token(self.draw_groups()),
            Wants::Role => {
                let some = 1 + self.chance.below(7);
                let named: Vec<usize> = (0..3).filter(|group| some >> group & 1 == 1).collect();
                let roles = named.into_iter().map(|group| {
                    let exclusive = self.chance.percent(40);
                    let role = if exclusive { Role::Exclusive } else { Role::Shared };
                    (Group::new(["a", "b", "c"][group]), role)
                });
                let groups = roles.collect();
                // Some stay for longer than they say.
                let time = Duration::from_nanos(self.chance.about(self.mood.hold));
                Want::Role { groups, time }
            }
        }
    }

    fn draw_call(&mut self, caller: usize, process: usize) -> Call {
        let drawn = matches!(self.plan.load, Load::Drawn { .. });
        let mut hold = self.chance.about(self.mood.hold);
        if self.chance.percent(5) {
            hold += self.chance.below(4 * self.lease);
        }
        // The first resource is the hot one.
        let name = if self.chance.percent(40) { 0 } else { self.chance.place(self.names.len()) };
        Call {
            want: self.draw_want(),
            numbers: BTreeSet::new(),
            group: None,
            role: None,
            process,
            caller,
            name,
            late: self.chance.percent(20) && drawn,
            hold: if drawn { hold } else { u64::MAX },
            place: Place::Waiting,
            leaving: false,
            site: 0,
            fence: Fence::default(),
            end: 0,
            entered: false,
        }
    }

    fn think(&mut self, caller: usize) {
        let wait = self.chance.about(self.mood.think);
        self.plan_in(wait, Due::Claim(caller));
    }

    fn call(&self, id: CallId) -> &Call {
        &self.calls[place_of(id)]
    }

    /// The process of a caller, as people call it.
    fn client_name(&self, id: CallId) -> ClientName {
        self.clients[self.call(id).process].name
    }

    /// Whether a caller is stopped together with its process; then it does this when it goes on.
    fn is_held_up(&mut self, id: CallId, due: Due) -> bool {
        let process = self.call(id).process;
        let client = &mut self.clients[process];
        if client.paused {
            client.deferred.push(due);
        }
        client.paused
    }

    pub(super) fn on_give_up(&mut self, id: CallId) {
        if !self.call(id).is_waiting() || self.is_held_up(id, Due::GiveUp(id)) {
            return;
        }
        self.tally.given_up += 1;
        self.finish(id, "gives up");
        self.send_leave(id);
    }

    /// A caller has what it asked for: it writes now and then, and leaves.
    pub(super) fn plan_stay(&mut self, id: CallId) {
        let mut hold = self.call(id).hold;
        if self.healed_at.is_some() {
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

    /// A caller wants to hear of the loss of its grant earlier than usual.
    pub(super) fn on_margin(&mut self, id: CallId) {
        if self.call(id).is_inside() {
            let margin = Duration::from_nanos(self.chance.below(self.lease / 8));
            let process = self.call(id).process;
            self.feed_client(process, ClientInput::Margin(id.0, margin), 0);
        }
    }

    /// A caller that is inside writes, if it looks at its clock and it is not too late. One that
    /// was stopped between looking and writing writes when it goes on.
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
        self.write(id);
    }

    /// A caller writes that does not know that its time is over.
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
        let valid = self.judge.is_valid(self.now, name, id);
        // Each unit that has a number has a storage; without numbers nothing tells units apart.
        let guarded: Vec<u32> = match self.plan.wants {
            Wants::Mutex | Wants::Group | Wants::Token => vec![0],
            // Those who conflict with nobody of their group have another fence.
            Wants::Role => vec![u32::from(call.is_exclusive())],
            Wants::Pool => call.numbers.iter().copied().collect(),
        };
        for unit in guarded {
            let mut write = self.stores.entry((name, unit)).or_default().write(id, fence);
            if let Write::Mixed(other) = write
                && self.call(id).group.is_some()
                && !self.call(id).is_exclusive()
                && self.call(other).group == self.call(id).group
            {
                write = Write::Accepted; // they are of one session
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
        self.judge.on_write(id, fence, valid, write);
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

    /// A call is over. A late caller goes on for a while all the same.
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
            self.judge.on_leave(name, id);
            if late {
                for _ in 0..=self.chance.below(2) {
                    let wait = self.chance.below(2 * self.lease);
                    self.plan_in(wait, Due::LateWrite(id));
                }
            }
        }
        self.think(caller);
    }

    /// A caller is inside: it does not wait any more, and for how long nobody held the lock.
    pub(super) fn note_entry(&mut self, name: usize) {
        let queue = &mut self.queues[name];
        queue.waiting -= 1;
        let held = queue.left.max(self.judge.last_end(self.now, name));
        let free = self.now.saturating_sub(queue.since.max(held));
        self.tally.gap_ns_max = self.tally.gap_ns_max.max(free);
    }

    /// A client process has crashed, and its callers are gone.
    pub(super) fn bury_callers(&mut self, process: usize) {
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

    /// Somebody wants a grant broken, in any process, and does not always know the right fence.
    pub(super) fn on_break(&mut self) {
        if self.healed_at.is_some() {
            return;
        }
        let wait = self.chance.about(3 * self.lease);
        self.plan_in(wait, Due::Break);
        let name = self.chance.place(self.names.len());
        let process = self.slots[self.chance.place(self.slots.len())].process;
        let Some(holder) = self.judge.holder(self.now, name) else { return };
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
        let wish = Break { name, fence, by: Card::default(), reason: Arc::from("it hangs") };
        self.request(process, ClientRequest::Break(wish));
    }
}

pub(super) fn place_of(id: CallId) -> usize {
    usize::try_from(id.0).expect("calls are places in a list")
}
