//! What those who wait are told to expect, and when they are admitted.

use std::collections::BTreeMap;

use quorate_protocol::role::Message;
use quorate_protocol::{SiteId, Tick, Ticket};
use quorate_sim::random::TimedObserver;
use quorate_sim::{AnyWorld, Event};

use crate::experiment::measure::{in_t, share};

/// How the expected times of several runs compare with what happened.
#[derive(Debug, Default)]
pub(super) struct Expectations {
    /// Requests that had to wait.
    waited: u64,
    /// Those of them that were told a moment.
    told: u64,
    earlier: u64,
    later: u64,
    /// How far the moment was off, added up.
    ticks: u64,
}

impl Expectations {
    /// The mean distance between the expected and the actual moment, in T.
    pub(super) fn error(&self) -> f64 {
        in_t(self.ticks) / self.told.max(1) as f64
    }

    /// In percent of those that were told a moment: who came before it.
    pub(super) fn earlier(&self) -> f64 {
        100.0 * share(self.earlier, self.told)
    }

    /// In percent of those that were told a moment: who came after it.
    pub(super) fn later(&self) -> f64 {
        100.0 * share(self.later, self.told)
    }

    /// In percent of those that had to wait: who was told a moment.
    pub(super) fn told(&self) -> f64 {
        100.0 * share(self.told, self.waited)
    }

    /// Watches one run.
    pub(super) fn for_a_run(&mut self) -> Run<'_> {
        Run { sum: self, arrived: Vec::new(), expected: BTreeMap::new() }
    }
}

/// One run.
#[derive(Debug)]
pub(super) struct Run<'a> {
    sum: &'a mut Expectations,
    /// Requests that have just come to their hosts.
    arrived: Vec<(SiteId, Ticket)>,
    expected: BTreeMap<Ticket, Tick>,
}

impl TimedObserver for Run<'_> {
    fn see(&mut self, now: Tick, _: usize, event: &Event<'_>) {
        match *event {
            Event::Receives { to, message, .. } => {
                if let Message::ReqProcess { ticket, .. } = message.downcast() {
                    self.arrived.push((to, *ticket));
                }
            }
            Event::Sends { message, .. } => {
                let Message::RepProcess { ticket, .. } = message.downcast() else { return };
                let Some(expected) = self.expected.remove(ticket) else { return };
                self.sum.ticks += now.0.abs_diff(expected.0);
                self.sum.earlier += u64::from(now < expected);
                self.sum.later += u64::from(now > expected);
            }
            _ => {}
        }
    }

    fn look(&mut self, world: &dyn AnyWorld) {
        for (host, ticket) in self.arrived.drain(..) {
            let etas = world.view(host).etas;
            let Some(eta) = etas.into_iter().find(|eta| eta.ticket == ticket) else { continue };
            self.sum.waited += 1;
            if let Some(from) = eta.from {
                self.sum.told += 1;
                self.expected.insert(ticket, from.max(world.now()) + eta.after);
            }
        }
    }
}
