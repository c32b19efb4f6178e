//! Records a diagram, event by event.

use std::collections::BTreeMap;

use quorate_protocol::ClaimId;
use quorate_quorum::SiteId;
use quorate_sim::{Caller, Event, Fault, Observer};

use super::{Arrow, Delivery, Diagram, Interval, Moment, SiteState};

/// Records events as a diagram.
#[derive(Debug)]
pub struct DiagramRecorder {
    diagram: Diagram,
    /// Messages in flight, each with its text: a channel need not be FIFO.
    under_way: Vec<(usize, String)>,
    /// Open claims by site, with their present state and since when.
    claims: BTreeMap<(SiteId, ClaimId), (f64, SiteState)>,
    down: BTreeMap<SiteId, f64>,
}

impl DiagramRecorder {
    /// A recorder for sites with these names; `timed` as in [`Diagram`].
    pub fn new(sites: Vec<String>, timed: bool) -> Self {
        let diagram = Diagram {
            title: String::new(),
            condition: String::new(),
            sites,
            timed,
            end: 0.0,
            arrows: Vec::new(),
            intervals: Vec::new(),
            moments: Vec::new(),
            spans: Vec::new(),
        };
        let (under_way, claims, down) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Self { diagram, under_way, claims, down }
    }

    /// Records an event that happens now.
    pub fn see(&mut self, now: f64, event: &Event<'_>) {
        self.diagram.end = now;
        match *event {
            Event::Acquires(Caller { site, claim, .. }) => {
                self.stand(now, site, claim, Some(SiteState::Waiting));
            }
            Event::Enters(Caller { site, claim, .. }, _) => {
                self.stand(now, site, claim, Some(SiteState::Inside));
            }
            Event::Releases(Caller { site, claim, .. }) => self.stand(now, site, claim, None),
            Event::GivesUp(Caller { site, claim, .. }) => {
                self.stand(now, site, claim, None);
                self.moment(now, site, "gives up".to_owned());
            }
            Event::Loses(Caller { site, claim, .. }, _) => {
                self.stand(now, site, claim, None);
                self.moment(now, site, "loses the lock".to_owned());
            }
            Event::Sends { from, to, message } if from != to => {
                let (kind, sent) = (message.kind, now);
                let (from, to) = (from.index(), to.index());
                self.under_way.push((self.diagram.arrows.len(), message.to_string()));
                let arrow = Arrow {
                    from,
                    to,
                    kind,
                    sent,
                    arrives: now + 1.0,
                    delivery: Delivery::InFlight,
                };
                self.diagram.arrows.push(arrow);
            }
            Event::Receives { from, to, message } if from != to => {
                self.arrive(now, (from, to), &message.to_string(), Delivery::Arrived);
            }
            Event::Drops { from, to, message } => {
                self.arrive(now, (from, to), &message.to_string(), Delivery::Lost);
            }
            Event::Expires(site, timer) => self.moment(now, site, format!("{timer} runs out")),
            Event::Suffers(fault) => self.suffer(now, fault),
            Event::Sends { .. }
            | Event::Receives { .. }
            | Event::Arms(..)
            | Event::Estimates(..)
            | Event::Ignores(..) => {}
        }
    }

    /// The time of the last event.
    pub fn now(&self) -> f64 {
        self.diagram.end
    }

    /// The diagram of all events up to now.
    pub fn finish(mut self, now: f64) -> Diagram {
        for (site, claim) in self.claims.keys().copied().collect::<Vec<_>>() {
            self.stand(now, site, claim, None);
        }
        for (site, from) in std::mem::take(&mut self.down) {
            self.interval(site, from, now, SiteState::Down);
        }
        self.diagram.end = now;
        self.diagram
    }

    fn stand(&mut self, now: f64, site: SiteId, claim: ClaimId, state: Option<SiteState>) {
        if let Some((from, before)) = self.claims.remove(&(site, claim)) {
            self.interval(site, from, now, before);
        }
        if let Some(state) = state {
            self.claims.insert((site, claim), (now, state));
        }
    }

    fn interval(&mut self, site: SiteId, from: f64, until: f64, state: SiteState) {
        if from < until {
            self.diagram.intervals.push(Interval { site: site.index(), from, until, state });
        }
    }

    fn moment(&mut self, at: f64, site: SiteId, what: String) {
        let (site, moments) = (site.index(), &mut self.diagram.moments);
        match moments.iter_mut().find(|moment| (moment.site, moment.at) == (site, at)) {
            Some(moment) => moment.what = format!("{}, {what}", moment.what),
            None => moments.push(Moment { site, at, what }),
        }
    }

    fn arrive(&mut self, now: f64, (from, to): (SiteId, SiteId), words: &str, delivery: Delivery) {
        let meant = |(arrow, said): &(usize, String)| {
            let arrow = &self.diagram.arrows[*arrow];
            (arrow.from, arrow.to) == (from.index(), to.index()) && said == words
        };
        // A duplicate has no arrow of its own.
        if let Some(place) = self.under_way.iter().position(meant) {
            let (arrow, _) = self.under_way.remove(place);
            let arrow = &mut self.diagram.arrows[arrow];
            (arrow.arrives, arrow.delivery) = (now, delivery);
        }
    }

    fn suffer(&mut self, now: f64, fault: Fault) {
        match fault {
            Fault::Crash(site) => {
                self.down.insert(site, now);
                let here = self.claims.keys().filter(|(at, _)| *at == site).copied();
                for (site, claim) in here.collect::<Vec<_>>() {
                    self.stand(now, site, claim, None);
                }
            }
            Fault::Restart(site) => {
                if let Some(from) = self.down.remove(&site) {
                    self.interval(site, from, now, SiteState::Down);
                }
            }
            _ => {} // faults of sessions are moments only
        }
        let (site, words) = (fault.site(), fault.to_string());
        let what = words.strip_prefix(&format!("{site} ")).unwrap_or(&words);
        self.moment(now, site, what.to_owned());
    }
}

/// A recorder without a clock: every action is one step later than the one before.
#[derive(Debug)]
pub struct StepRecorder(DiagramRecorder, u32);

impl StepRecorder {
    /// A recorder for so many sites.
    pub fn new(sites: usize) -> Self {
        let names = SiteId::all(sites).map(|site| site.to_string()).collect();
        Self(DiagramRecorder::new(names, false), 0)
    }

    /// The diagram of all events.
    pub fn finish(self) -> Diagram {
        self.0.finish(f64::from(self.1) + 1.0)
    }
}

impl Observer for StepRecorder {
    fn see(&mut self, _: usize, event: &Event<'_>) {
        let begins = match event {
            // A message of a site to itself is part of its action.
            Event::Receives { from, to, .. } => from != to,
            Event::Sends { .. }
            | Event::Arms(..)
            | Event::Enters(..)
            | Event::Loses(..)
            | Event::Ignores(..) => false,
            _ => true,
        };
        self.1 += u32::from(begins);
        self.0.see(f64::from(self.1), event);
    }
}
