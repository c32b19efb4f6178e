//! Estimated admission times, compared with the actual ones.

use std::collections::BTreeMap;

use quorate_protocol::role::Message;
use quorate_protocol::{SiteId, Tick, Ticket};
use quorate_sim::random::TimedObserver;
use quorate_sim::{AnyWorld, Event};

use crate::experiment::measure::{in_t, share};

/// How the estimates of several runs compare with the admissions.
#[derive(Debug, Default)]
pub(super) struct Expectations {
    /// Requests that had to wait.
    waited: u64,
    /// Those of them that got an estimate.
    estimated: u64,
    earlier: u64,
    later: u64,
    /// The sum of the errors.
    ticks: u64,
}

impl Expectations {
    /// The mean error of an estimate, in T.
    pub(super) fn error(&self) -> f64 {
        in_t(self.ticks) / self.estimated.max(1) as f64
    }

    /// The percentage of estimates that were too late.
    pub(super) fn earlier(&self) -> f64 {
        100.0 * share(self.earlier, self.estimated)
    }

    /// The percentage of estimates that were too early.
    pub(super) fn later(&self) -> f64 {
        100.0 * share(self.later, self.estimated)
    }

    /// The percentage of waiting requests that got an estimate.
    pub(super) fn estimated(&self) -> f64 {
        100.0 * share(self.estimated, self.waited)
    }

    /// An observer for one run.
    pub(super) fn observe_run(&mut self) -> Run<'_> {
        Run { sum: self, arrived: Vec::new(), expected: BTreeMap::new() }
    }
}

/// One run.
#[derive(Debug)]
pub(super) struct Run<'a> {
    sum: &'a mut Expectations,
    /// Requests that have just reached their hosts.
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
                self.sum.estimated += 1;
                self.expected.insert(ticket, from.max(world.now()) + eta.after);
            }
        }
    }
}
