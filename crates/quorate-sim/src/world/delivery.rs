//! Messages that arrive, are lost or come twice; timers, and grants that end with time.

use std::time::Duration;

use quorate_protocol::{Input, Record, Tick};
use quorate_quorum::SiteId;

use super::World;
use crate::channels::Lane;
use crate::event::Message;
use crate::{Event, Observer, SimProtocol};

impl<P: SimProtocol> World<P> {
    /// The timers of a site that are armed, and when they run out.
    pub(crate) fn timers(&self, site: SiteId) -> impl Iterator<Item = (P::Timer, Tick)> + '_ {
        self.nodes[site.index()].timers.iter().map(|(&timer, &due)| (timer, due))
    }

    /// When the next armed timer runs out, of those that are `meant`.
    pub(crate) fn next_due(&self, meant: impl Fn(P::Timer) -> bool) -> Option<Tick> {
        let all = SiteId::all(self.n()).flat_map(|site| self.timers(site));
        all.filter(|&(timer, _)| meant(timer)).map(|(_, due)| due).min()
    }

    /// A timer runs out, whatever the time is; false if it is not armed.
    pub(crate) fn expire(
        &mut self,
        site: SiteId,
        timer: P::Timer,
        watch: &mut dyn Observer,
    ) -> bool {
        if !self.nodes[site.index()].timers.contains_key(&timer) {
            return false;
        }
        self.disarm(site, timer);
        let quiet = self.channels.in_flight() == 0 && self.inside == 0;
        self.futile += u32::from(quiet);
        watch.see(0, &Event::Expires(site, &timer));
        if let Err(violation) = self.step(site, 1, Input::Expire(timer), watch) {
            self.monitor.on_violation(site, violation);
        }
        self.finish(site, watch);
        true
    }

    /// The message at some place of a channel arrives; false if there is none.
    pub(crate) fn deliver_at(
        &mut self,
        (from, to, lane): (SiteId, SiteId, Lane),
        at: usize,
        watch: &mut dyn Observer,
    ) -> bool {
        if !self.is_up(to) {
            return self.drop_at((from, to, lane), at, watch);
        }
        let Some(message) = self.channels.take(from, to, lane, at) else { return false };
        self.monitor.on_token(P::carried_token(&message), None);
        self.receive(from, to, message, watch);
        self.finish(to, watch);
        true
    }

    /// The message at some place of a channel never arrives; false if there is none.
    pub(crate) fn drop_at(
        &mut self,
        (from, to, lane): (SiteId, SiteId, Lane),
        at: usize,
        watch: &mut dyn Observer,
    ) -> bool {
        let Some(message) = self.channels.take(from, to, lane, at) else { return false };
        self.monitor.on_token(P::carried_token(&message), None);
        watch.see(0, &Event::Drops { from, to, message: Message::of::<P>(&message) });
        self.check_properties();
        true
    }

    /// The message at some place of a channel is going to come twice: a copy stands behind it.
    /// False if there is none.
    pub(crate) fn duplicate(
        &mut self,
        (from, to, lane): (SiteId, SiteId, Lane),
        at: usize,
    ) -> bool {
        let Some(message) = self.channels.duplicate(from, to, lane, at) else { return false };
        let carried = P::carried_token(message);
        self.monitor.on_token(None, carried);
        self.check_properties();
        true
    }

    /// Everything that is under way in one lane is lost.
    pub(super) fn lose_lane(&mut self, from: SiteId, to: SiteId, lane: Lane) {
        for message in self.channels.clear(from, to, lane) {
            self.monitor.on_token(P::carried_token(&message), None);
        }
    }

    /// Whether nobody waits or is inside, and no site remembers a request.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.waiting + self.inside + self.occupied == 0
    }

    pub(super) fn arm(
        &mut self,
        site: SiteId,
        timer: P::Timer,
        after: Duration,
        watch: &mut dyn Observer,
    ) {
        let due = self.now + after;
        watch.see(1, &Event::Arms(site, &timer, due));
        let new = self.begin(site).timers.insert(timer, due).is_none();
        self.armed += usize::from(new);
    }

    pub(super) fn disarm(&mut self, site: SiteId, timer: P::Timer) {
        let was = self.begin(site).timers.remove(&timer).is_some();
        self.armed -= usize::from(was);
    }

    /// A crash disarms the timers of a site.
    pub(super) fn disarm_all(&mut self, site: SiteId) {
        let timers = std::mem::take(&mut self.begin(site).timers);
        self.armed -= timers.len();
    }

    /// Writes a record to the disk, which survives crashes.
    pub(super) fn write(&mut self, site: SiteId, record: Record) {
        match record {
            Record::FenceCeil(ceil) => self.begin(site).disk_ceil = ceil,
            Record::Token(_) => self.begin(site).disk = Some(record),
        }
    }

    /// Callers of crashed sites stop when their grants expire.
    pub(super) fn end_lingering(&mut self) {
        let now = self.now;
        let over = self.lingering.extract_if(.., |&mut (_, _, until)| until <= now);
        for (site, claim, _) in over.collect::<Vec<_>>() {
            self.monitor.on_leave(site, claim);
            self.remove_delegated_holder(site, claim);
        }
    }
}
