//! What sites tell their callers, and what the callers believe then. A belief never shrinks.

use quorate_protocol::Tick;
use quorate_quorum::SiteId;
use quorate_session::{CallId, Denial, Got, Loss};
use quorate_site::{Effect, Grant};

use super::callers::{Place, Telling, place_of};
use super::event::Event;
use super::property::Holder;
use super::run::Run;

impl Run<'_> {
    /// A site tells a caller something, or all of them.
    pub(super) fn tell(&mut self, site: usize, effect: Effect) {
        let id = SiteId::new(site);
        match effect {
            Effect::Grant(call, grant) => self.on_grant(call, grant),
            Effect::Horizon(until) => {
                self.see(&Event::Horizon(id, until));
                self.nodes[site].horizon = until;
                let inside: Vec<CallId> = self.nodes[site].inside.iter().copied().collect();
                for call in inside {
                    if self.calls[place_of(call)].telling == Telling::Horizon {
                        self.believe(call, until);
                    }
                }
            }
            Effect::Waning(call, until) => {
                self.on_told(site, call, "wanes", Telling::Own, until);
            }
            Effect::Steady(call) => {
                let horizon = self.nodes[site].horizon;
                self.on_told(site, call, "is steady", Telling::Horizon, horizon);
            }
            Effect::Broken(call, until, _) => {
                self.on_told(site, call, "is broken", Telling::Nothing, until);
            }
            Effect::Lost(call, loss) => self.on_lost(call, &loss),
            Effect::Denied(call, denial) => self.on_denied(call, &denial),
            _ => unreachable!("the rest is not for callers"),
        }
    }

    /// What a site told last as its horizon counts for every grant that is not told otherwise.
    ///
    /// A caller that has given up meanwhile takes no notice; its site will hear of it.
    fn on_grant(&mut self, id: CallId, grant: Grant) {
        let call = &mut self.calls[place_of(id)];
        if !call.is_waiting() {
            return;
        }
        call.place = Place::Inside;
        (call.fence, call.until) = (grant.fence, grant.until);
        match grant.got {
            Got::Mutex => {}
            Got::Pool(numbers) => call.numbers = numbers,
            Got::Group(group) => call.group = Some(group),
            Got::Role(group, role) => {
                (call.group, call.role) = (Some(group), Some(role));
            }
        }
        let (site, name) = (call.site, call.name);
        self.nodes[site].inside.insert(id);
        self.tally.grants += 1;
        let (place, resource) = (SiteId::new(site), self.names[name].clone());
        self.see(&Event::Enters(place, id, &resource, grant.fence, grant.until));
        self.note_entry(name);
        let next = self.nodes[site].outbox.front();
        let wanes = matches!(next, Some((Effect::Waning(call, _), _)) if *call == id);
        let horizon = if wanes { Tick::ZERO } else { self.nodes[site].horizon };
        self.believe(id, grant.until.max(horizon));
        self.plan_stay(id);
    }

    fn on_told(
        &mut self,
        site: usize,
        id: CallId,
        what: &'static str,
        telling: Telling,
        until: Tick,
    ) {
        let call = &mut self.calls[place_of(id)];
        if !call.is_inside() {
            return;
        }
        call.telling = telling;
        self.see(&Event::Told(SiteId::new(site), id, what, until));
        self.believe(id, until);
    }

    /// A caller believes to be valid until then, or later if it was told so before.
    fn believe(&mut self, id: CallId, until: Tick) {
        let call = &mut self.calls[place_of(id)];
        call.until = call.until.max(until);
        let end = self.nodes[call.site].clock.when(call.until);
        let enters = !call.entered && end > self.now;
        (call.end, call.entered) = (end, call.entered || enters);
        let (name, site, fence) = (call.name, SiteId::new(call.site), call.fence);
        let (units, numbers, group) = (call.units(), call.numbers.clone(), call.group.clone());
        let exclusive = call.is_exclusive();
        let holder = Holder { name, call: id, site, units, numbers, group, exclusive, end };
        self.judge.on_belief(self.now, &holder);
        if enters {
            self.judge.on_enter(&holder, fence);
        }
    }

    fn on_lost(&mut self, id: CallId, loss: &Loss) {
        if !self.calls[place_of(id)].is_inside() {
            return;
        }
        match loss {
            Loss::Lapsed(_) => {
                self.tally.lost += 1;
                self.finish(id, "has lost the grant");
            }
            Loss::Broken(_) => {
                self.tally.broken += 1;
                self.finish(id, "has lost the grant, which was broken");
            }
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
