//! Callers: what they ask for, how long they stay, and which of them stay too long.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::group::{Access, Group, Groups};
use quorate_protocol::role::Role;
use quorate_protocol::{Fence, Tick};
use quorate_quorum::SiteId;
use quorate_session::{Break, CallId, Card, Claim, Units, Want};
use quorate_site::Input;

use super::event::Event;
use super::run::{Due, MS, Run, nanos};
use super::storage::Write;
use super::{Load, Wants};

/// One call of a caller.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Its site, and the life of it that it speaks to.
    pub(super) site: usize,
    pub(super) life: u64,
    /// Who calls, and for which resource.
    caller: usize,
    pub(super) name: usize,
    /// Whether it is in another process than its site, and survives it.
    elsewhere: bool,
    /// Whether it never looks at its clock.
    late: bool,
    hold: u64,
    pub(super) place: Place,
    pub(super) telling: Telling,
    pub(super) fence: Fence,
    want: Want,
    /// The units it got, if it wanted to know which.
    pub(super) numbers: BTreeSet<u32>,
    /// The group it got, if it wanted one.
    pub(super) group: Option<Group>,
    /// Its role there, if it wanted one.
    pub(super) role: Option<Role>,
    /// What it believes: by its site's clock, and the same in true time.
    pub(super) until: Tick,
    pub(super) end: u64,
    /// Whether it was ever valid.
    pub(super) entered: bool,
}

/// Where a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Waiting,
    Inside,
    Over,
}

/// By what a grant is extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// By every horizon of its site.
    Horizon,
    /// By what it is told itself.
    Own,
    /// By nothing any more.
    Nothing,
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
        self.place == Place::Inside
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
    /// A caller asks for a resource, if its site is up.
    pub(super) fn on_claim(&mut self, caller: usize) {
        let site = caller % self.nodes.len();
        if self.healed_at.is_some() {
            return;
        }
        if self.nodes[site].site.is_none() {
            let wait = self.chance.about(self.lease / 4);
            return self.plan_in(wait, Due::Claim(caller));
        }
        let mut call = self.draw_call(caller, site);
        if self.nodes[site].paused && !call.elsewhere {
            return self.nodes[site].deferred.push(Due::Claim(caller));
        }
        let id = CallId(self.calls.len() as u64);
        let mut deadline = None;
        if call.hold == u64::MAX {
            call.hold = nanos(self.plan.lasts);
        } else if self.chance.percent(30) {
            let wait = Duration::from_nanos(self.chance.below(2 * self.lease));
            deadline = Some(self.nodes[site].clock.read(self.now) + wait);
        } else if self.chance.percent(15) {
            let patience = self.chance.about(self.lease / 4);
            self.plan_in(patience, Due::GiveUp(id));
        }
        let name = self.names[call.name].clone();
        let queue = &mut self.queues[call.name];
        if queue.waiting == 0 {
            queue.since = self.now;
        }
        queue.waiting += 1;
        self.calls.push(call);
        self.tally.claims += 1;
        self.see(&Event::Claims(SiteId::new(site), id, &name));
        let hasty = self.plan.hasty && id.0 % 4 == 3;
        let (want, card) = (self.call(id).want.clone(), Card::default());
        let claim = Claim { name, want, card, deadline, hasty };
        self.feed(site, Input::Claim(id, claim), 0);
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

    fn draw_call(&mut self, caller: usize, site: usize) -> Call {
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
            site,
            life: self.nodes[site].life,
            caller,
            name,
            elsewhere: self.chance.percent(50) || !drawn,
            late: self.chance.percent(20) && drawn,
            hold: if drawn { hold } else { u64::MAX },
            place: Place::Waiting,
            telling: Telling::Horizon,
            fence: Fence::default(),
            until: Tick::ZERO,
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

    /// Whether a caller is stopped together with its site; then it does this when it goes on.
    fn is_held_up(&mut self, id: CallId, due: Due) -> bool {
        let call = self.call(id);
        let (site, elsewhere, life) = (call.site, call.elsewhere, call.life);
        let node = &mut self.nodes[site];
        let held = node.paused && !elsewhere && node.life == life;
        if held {
            node.deferred.push(due);
        }
        held
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
        let call = self.call(id);
        let gone = !call.elsewhere && self.nodes[call.site].life != call.life;
        if gone || self.is_held_up(id, Due::LateWrite(id)) {
            return;
        }
        self.write(id);
    }

    fn write(&mut self, id: CallId) {
        let call = self.call(id);
        let (site, name, fence) = (SiteId::new(call.site), call.name, call.fence);
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
            self.note_write((site, id, fence), valid, write);
        }
    }

    fn note_write(
        &mut self,
        (site, id, fence): (SiteId, CallId, Fence),
        valid: bool,
        write: Write,
    ) {
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
        self.see(&Event::Writes(site, id, fence, how));
        self.judge.on_write(id, fence, valid, write);
    }

    pub(super) fn on_leave(&mut self, id: CallId) {
        if !self.call(id).is_inside() || self.is_held_up(id, Due::Leave(id)) {
            return;
        }
        self.finish(id, "leaves");
        self.send_leave(id);
    }

    fn send_leave(&mut self, id: CallId) {
        let call = self.call(id);
        let (site, life) = (call.site, call.life);
        if self.nodes[site].life == life {
            self.feed(site, Input::Leave(id), 0);
        }
    }

    /// A call is over. A late caller goes on for a while all the same.
    pub(super) fn finish(&mut self, id: CallId, how: &str) {
        let now = self.now;
        let call = &mut self.calls[place_of(id)];
        let was = std::mem::replace(&mut call.place, Place::Over);
        let (site, name, caller, late) = (call.site, call.name, call.caller, call.late);
        let end = call.end;
        self.nodes[site].inside.remove(&id);
        self.see(&Event::Ends(SiteId::new(site), id, how));
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

    /// A site has crashed. Who waited there is told nothing more; who is inside and in another
    /// process goes on until its deadline.
    pub(super) fn bury_callers(&mut self, site: usize, reboot: bool) {
        for place in 0..self.calls.len() {
            let call = &self.calls[place];
            let id = CallId(place as u64);
            if call.site != site || call.place == Place::Over {
                continue;
            }
            if call.is_waiting() {
                self.tally.orphaned += 1;
                self.finish(id, "waits for nothing: its site has crashed");
            } else if reboot || !call.elsewhere {
                self.finish(id, "is gone with its site");
            }
        }
    }

    /// Somebody wants a grant broken, at any site, and does not always know the right fence.
    pub(super) fn on_break(&mut self) {
        if self.healed_at.is_some() {
            return;
        }
        let wait = self.chance.about(3 * self.lease);
        self.plan_in(wait, Due::Break);
        let name = self.chance.place(self.names.len());
        let site = self.chance.place(self.nodes.len());
        let Some(holder) = self.judge.holder(self.now, name) else { return };
        let mut fence = self.call(holder.call).fence;
        if self.chance.percent(25) {
            fence = fence.next();
        }
        self.tally.breaks += 1;
        let name = self.names[name].clone();
        self.see(&Event::Breaks(SiteId::new(site), &name, fence));
        let wish = Break { name, fence, by: Card::default(), reason: Arc::from("it hangs") };
        self.feed(site, Input::Break(wish), 0);
    }
}

pub(super) fn place_of(id: CallId) -> usize {
    usize::try_from(id.0).expect("calls are places in a list")
}
