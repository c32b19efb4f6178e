//! A cluster with a timetable of claims and faults; every message takes T.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_protocol::{ClaimId, Tick};
use quorate_quorum::SiteId;
use quorate_sim::random::T;
use quorate_sim::{
    AnySetup, AnyWorld, Caller, Claim, ClaimState, Event, Fault, Lane, Observer, Order, TimerView,
};

use crate::diagram::{Diagram, DiagramRecorder};

/// A planned action.
enum Action {
    Acquire(SiteId, Claim),
    Release(SiteId, ClaimId),
    Deliver(SiteId, SiteId),
    Suffer(Fault),
    Expire(SiteId),
}

/// A consequence of an action that must be planned.
enum FollowUp {
    Sent(SiteId, SiteId),
    Entered(SiteId, ClaimId),
    Armed(SiteId, Tick),
}

/// A cluster that runs a story and records its diagram.
pub(super) struct TimedWorld {
    world: Box<dyn AnyWorld>,
    recorder: DiagramRecorder,
    /// The planned actions, by time and then in the order planned.
    agenda: BTreeMap<(Tick, u64), Action>,
    planned: u64,
    /// How long callers stay inside.
    stay: Tick,
}

impl TimedWorld {
    /// A cluster at rest; callers will stay inside for `stay` T.
    pub(super) fn new(setup: Arc<dyn AnySetup>, names: &[&str], stay: f64) -> Self {
        let world = setup.world(None, Order::Fifo);
        let recorder =
            DiagramRecorder::new(names.iter().map(|&name| name.to_owned()).collect(), true);
        Self { world, recorder, agenda: BTreeMap::new(), planned: 0, stay: ticks(stay) }
    }

    /// Plans a claim at `site`, counted from 1.
    pub(super) fn acquires(mut self, site: usize, at: f64, claim: Claim) -> Self {
        self.plan(ticks(at), Action::Acquire(SiteId::new(site - 1), claim));
        self
    }

    /// Plans a crash of a site, counted from 1; it does not restart.
    pub(super) fn crashes(mut self, site: usize, at: f64) -> Self {
        self.plan(ticks(at), Action::Suffer(Fault::Crash(SiteId::new(site - 1))));
        self
    }

    /// Runs until all callers are gone and no message is in flight.
    pub(super) fn run(mut self, title: &str, condition: &str) -> Diagram {
        while let Some(((at, _), action)) = self.agenda.pop_first() {
            let timer = matches!(action, Action::Expire(_));
            if timer && self.world.is_at_rest() && self.world.in_flight() == 0 {
                continue; // nothing waits for it
            }
            self.world.set_now(at);
            self.perform(action);
            assert!(self.world.breach().is_none(), "{title}: {:?}", self.world.breach());
        }
        let (title, condition) = (title.to_owned(), condition.to_owned());
        let end = self.recorder.now() + 0.5;
        Diagram { title, condition, ..self.recorder.finish(end) }
    }

    fn plan(&mut self, at: Tick, action: Action) {
        self.planned += 1;
        self.agenda.insert((at, self.planned), action);
    }

    fn perform(&mut self, action: Action) {
        let now = self.world.now();
        let mut observer =
            StoryObserver { now, recorder: &mut self.recorder, follow_ups: Vec::new() };
        match action {
            Action::Acquire(site, claim) => {
                self.world.acquire(site, &claim, &mut observer).expect("every site may ask");
            }
            Action::Release(site, claim) => {
                // Its site may have crashed.
                if self.world.claim_state(site, claim) == Some(ClaimState::Inside) {
                    self.world.release(site, claim, &mut observer).expect("it is inside");
                }
            }
            Action::Deliver(from, to) => {
                self.world.deliver((from, to, Lane::Up), &mut observer);
            }
            Action::Suffer(fault) => self.world.suffer(fault, &mut observer),
            Action::Expire(site) => {
                let is_due = |timer: &TimerView| timer.due <= now;
                while let Some(at) = self.world.timers(site).iter().position(is_due) {
                    self.world.expire(site, at, &mut observer);
                }
            }
        }
        for follow_ups in observer.follow_ups {
            match follow_ups {
                FollowUp::Sent(from, to) => self.plan(Tick(now.0 + T), Action::Deliver(from, to)),
                FollowUp::Armed(site, due) => self.plan(due, Action::Expire(site)),
                FollowUp::Entered(site, claim) => {
                    self.plan(Tick(now.0 + self.stay.0), Action::Release(site, claim));
                }
            }
        }
    }
}

/// Records an action, and collects its consequences.
struct StoryObserver<'a> {
    now: Tick,
    recorder: &'a mut DiagramRecorder,
    follow_ups: Vec<FollowUp>,
}

impl Observer for StoryObserver<'_> {
    fn see(&mut self, _: usize, event: &Event<'_>) {
        self.recorder.see(self.now.0 as f64 / T as f64, event);
        match *event {
            Event::Sends { from, to, .. } if from != to => {
                self.follow_ups.push(FollowUp::Sent(from, to));
            }
            Event::Enters(Caller { site, claim, .. }, _) => {
                self.follow_ups.push(FollowUp::Entered(site, claim));
            }
            Event::Arms(site, _, due) => self.follow_ups.push(FollowUp::Armed(site, due)),
            _ => {}
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a short time")]
fn ticks(time: f64) -> Tick {
    Tick((time * T as f64).round() as u64)
}
