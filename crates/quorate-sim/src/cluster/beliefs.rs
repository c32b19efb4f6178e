//! What callers believe: what the machine of their client process says, and nothing else.

use quorate_protocol::{Fence, Tick};
use quorate_quorum::SiteId;
use quorate_session::client::{CallerLoss, ClientEffect};
use quorate_session::{CallId, Denial, Granted, Loss};

use super::callers::{Place, place_of};
use super::event::Event;
use super::property::Holder;
use super::run::{Due, Run};

impl Run<'_> {
    /// Passes an effect of a client process on to its caller.
    pub(super) fn notify_caller(&mut self, process: usize, effect: ClientEffect) {
        match effect {
            ClientEffect::Granted(call, fence, granted) => {
                self.on_granted(process, CallId(call), fence, &granted);
            }
            ClientEffect::Lost(call, loss) => self.on_lost(process, CallId(call), &loss),
            ClientEffect::Denied(call, denial) => self.on_denied(CallId(call), &denial),
            ClientEffect::Left(call) => self.calls[place_of(CallId(call))].leaving = false,
            ClientEffect::Asked(..) | ClientEffect::Answer(..) | ClientEffect::Draining(_) => {}
            ClientEffect::Packet(_) | ClientEffect::Close | ClientEffect::Dial(_) => {
                unreachable!("connections are not for callers")
            }
        }
    }

    /// The deadline of a call by the clock of its client, as the client's machine says.
    fn valid_until(&self, process: usize, id: CallId) -> Option<Tick> {
        self.clients[process].machine.as_ref()?.valid_until(id.0)
    }

    fn on_granted(&mut self, process: usize, id: CallId, fence: Fence, granted: &Granted) {
        let site = self.clients[process].site;
        let call = &mut self.calls[place_of(id)];
        if !call.is_waiting() {
            let name = self.clients[process].name;
            return self.monitor.on_misled(name, id, "is inside and did not wait");
        }
        (call.place, call.site, call.fence) = (Place::Inside, site, fence);
        call.since = self.now;
        call.share = Some(call.spec.share(granted));
        let name = call.name;
        self.clients[process].inside.insert(id);
        self.tally.grants += 1;
        let until = self.valid_until(process, id).unwrap_or(Tick::ZERO);
        let (client, resource) = (self.clients[process].name, self.names[name].clone());
        self.see(&Event::Enters(client, id, &resource, fence, until));
        self.note_entry(name);
        self.plan_stay(id);
        self.plan_waiters(id);
    }

    /// Reads the deadline of each grant from the machine of a client.
    pub(super) fn read_beliefs(&mut self, process: usize) {
        let inside: Vec<CallId> = self.clients[process].inside.iter().copied().collect();
        for id in inside {
            match self.valid_until(process, id) {
                Some(until) => self.believe(process, id, until),
                None if self.calls[place_of(id)].place == Place::Ending => {} // it does not look
                None => {
                    let name = self.clients[process].name;
                    self.monitor.on_misled(name, id, "is over and was told nothing");
                }
            }
        }
    }

    /// A caller believes that it is valid until then.
    fn believe(&mut self, process: usize, id: CallId, until: Tick) {
        let client = &self.clients[process];
        let (end, name) = (client.when(until), client.name);
        let call = &mut self.calls[place_of(id)];
        if end == call.end {
            return;
        }
        if end < call.end {
            return self.monitor.on_misled(name, id, "was told a later end before");
        }
        let enters = !call.entered && end > self.now;
        (call.end, call.entered) = (end, call.entered || enters);
        let (client, site, fence) = (name, SiteId::new(call.site), call.fence);
        let (name, share) = (call.name, call.share().clone());
        self.see(&Event::Believes(client, id, until));
        let holder = Holder { name, call: id, client, site, share, end };
        self.monitor.on_belief(self.now, &holder);
        if enters {
            self.monitor.on_enter(&holder, fence);
        }
    }

    /// The loss of a grant is signalled. Its caller leaves by the deadline that it knows, unless it
    /// does not look at its clock.
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
            CallerLoss::Reported(Loss::Broken(_)) => self.tally.broken += 1,
            _ => {
                self.tally.lost += 1;
                if self.should_survive(id) {
                    self.monitor.on_lost_to_crashes(name, id);
                }
            }
        }
        let goes_on = self.valid_until(process, id).is_some();
        if !goes_on && matches!(loss, CallerLoss::Reported(_)) && end > self.now {
            self.monitor.on_outlived(name, id);
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
        let why = denial.name();
        *self.tally.denied.entry(why).or_default() += 1;
        self.finish(id, why);
    }
}
