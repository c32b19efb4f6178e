//! What client processes tell their callers, and what the callers believe then: what the machine
//! of their process says, and nothing else.

use quorate_protocol::{Fence, Tick};
use quorate_quorum::SiteId;
use quorate_session::client::{CallerLoss, ClientEffect};
use quorate_session::{CallId, Denial, Got, Loss};

use super::callers::{Place, place_of};
use super::event::Event;
use super::property::Holder;
use super::run::{Due, Run};

impl Run<'_> {
    /// A client process tells a caller something.
    pub(super) fn tell(&mut self, process: usize, effect: ClientEffect) {
        match effect {
            ClientEffect::Granted(call, fence, got) => {
                self.on_granted(process, CallId(call), fence, got);
            }
            ClientEffect::Lost(call, loss) => self.on_lost(process, CallId(call), &loss),
            ClientEffect::Denied(call, denial) => self.on_denied(CallId(call), &denial),
            ClientEffect::Left(call) => self.calls[place_of(CallId(call))].leaving = false,
            ClientEffect::Asked(..) | ClientEffect::Answer(..) => {}
            ClientEffect::Packet(_) => unreachable!("packets are not for callers"),
        }
    }

    /// Until when the machine of a client says that a call is good, by its clock.
    fn valid_until(&self, process: usize, id: CallId) -> Option<Tick> {
        self.clients[process].machine.as_ref()?.valid_until(id.0)
    }

    fn on_granted(&mut self, process: usize, id: CallId, fence: Fence, got: Got) {
        let site = self.clients[process].site;
        let call = &mut self.calls[place_of(id)];
        if !call.is_waiting() {
            let name = self.clients[process].name;
            return self.judge.on_misled(name, id, "is inside and did not wait");
        }
        (call.place, call.site, call.fence) = (Place::Inside, site, fence);
        match got {
            Got::Mutex => {}
            Got::Pool(numbers) => call.numbers = numbers,
            Got::Group(group) => call.group = Some(group),
            Got::Role(group, role) => {
                (call.group, call.role) = (Some(group), Some(role));
            }
        }
        let name = call.name;
        self.clients[process].inside.insert(id);
        self.tally.grants += 1;
        let until = self.valid_until(process, id).unwrap_or(Tick::ZERO);
        let (client, resource) = (self.clients[process].name, self.names[name].clone());
        self.see(&Event::Enters(client, id, &resource, fence, until));
        self.note_entry(name);
        self.plan_stay(id);
    }

    /// Reads what the machine of a client says of each grant.
    pub(super) fn read_beliefs(&mut self, process: usize) {
        let inside: Vec<CallId> = self.clients[process].inside.iter().copied().collect();
        for id in inside {
            match self.valid_until(process, id) {
                Some(until) => self.believe(process, id, until),
                None if self.calls[place_of(id)].place == Place::Ending => {} // it does not look
                None => {
                    let name = self.clients[process].name;
                    self.judge.on_misled(name, id, "is over and was told nothing");
                }
            }
        }
    }

    /// A caller believes to be valid until then.
    fn believe(&mut self, process: usize, id: CallId, until: Tick) {
        let client = &self.clients[process];
        let (end, name) = (client.when(until), client.name);
        let call = &mut self.calls[place_of(id)];
        if end == call.end {
            return;
        }
        if end < call.end {
            return self.judge.on_misled(name, id, "was told a later end before");
        }
        let enters = !call.entered && end > self.now;
        (call.end, call.entered) = (end, call.entered || enters);
        let (client, site, fence) = (name, SiteId::new(call.site), call.fence);
        let (units, numbers, group) = (call.units(), call.numbers.clone(), call.group.clone());
        let (name, exclusive) = (call.name, call.is_exclusive());
        self.see(&Event::Believes(client, id, until));
        let holder = Holder { name, call: id, client, site, units, numbers, group, exclusive, end };
        self.judge.on_belief(self.now, &holder);
        if enters {
            self.judge.on_enter(&holder, fence);
        }
    }

    /// The loss of a grant is signalled. Its caller leaves by the end that it knows; one that does
    /// not look at its clock takes no notice.
    fn on_lost(&mut self, process: usize, id: CallId, loss: &CallerLoss) {
        let call = &mut self.calls[place_of(id)];
        if call.is_waiting() {
            *self.tally.denied.entry("lost on the way").or_default() += 1;
            return self.finish(id, "has lost the grant before it heard of it");
        }
        if !call.is_inside() {
            return;
        }
        call.place = Place::Ending;
        let (late, end, name) = (call.late, call.end, self.clients[process].name);
        match loss {
            CallerLoss::Told(Loss::Broken(_)) => self.tally.broken += 1,
            _ => self.tally.lost += 1,
        }
        let goes_on = self.valid_until(process, id).is_some();
        if !goes_on && matches!(loss, CallerLoss::Told(_)) && end > self.now {
            self.judge.on_outlived(name, id);
        }
        self.see(&Event::Loses(name, id, loss));
        if !goes_on {
            self.finish(id, "has lost the grant");
            self.plan_in(0, Due::Drop(id));
        } else if !late {
            let wait = self.chance.below(end.saturating_sub(self.now) + 1);
            self.plan_in(wait, Due::Leave(id));
        }
    }

    fn on_denied(&mut self, id: CallId, denial: &Denial) {
        if !self.calls[place_of(id)].is_waiting() {
            return;
        }
        let why = match denial {
            Denial::Busy => "busy",
            Denial::TimedOut => "timed out",
            Denial::NoQuorum { .. } => "no quorum",
            Denial::NeverAsks => "never asks",
            Denial::OtherKind { .. } => "other kind",
            Denial::Units(_) => "invalid units",
            Denial::Groups(_) => "invalid groups",
            Denial::Time(_) => "invalid time",
            Denial::TooMany(_) => "too many names",
            Denial::Reused => "number reused",
        };
        *self.tally.denied.entry(why).or_default() += 1;
        self.finish(id, why);
    }
}
