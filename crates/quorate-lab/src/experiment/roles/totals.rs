//! The cost of admissions and stages, and the length of stages.

use std::collections::{BTreeMap, BTreeSet};

use quorate_protocol::group::Group;
use quorate_protocol::role::{Grant, Message};
use quorate_protocol::{ClaimId, SiteId, Tick, Ticket};
use quorate_sim::random::TimedObserver;
use quorate_sim::{Caller, Event};

/// Sums and maxima over several runs. L, S, Y and I are the letters of the formula.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// L.
    pub(super) admissions: u64,
    /// S.
    pub(super) stages: u64,
    /// Y: locks given back.
    pub(super) yields: u64,
    /// I: questions whether a lock can be given back.
    pub(super) inquiries: u64,
    /// All messages between different sites.
    pub(super) messages: u64,
    /// How long a stage lasted beyond its budget, in ticks.
    pub(super) overrun_most: u64,
    /// How many stages of other groups began between a request and its admission.
    pub(super) foreign_most: usize,
}

impl Totals {
    /// An observer for one run: the next has other stages.
    pub(super) fn observe_run(&mut self) -> Run<'_> {
        let (begun, turns) = (BTreeSet::new(), Vec::new());
        Run { sum: self, begun, turns, asked: BTreeMap::new(), deadlines: BTreeMap::new() }
    }
}

/// One run.
#[derive(Debug)]
pub(super) struct Run<'a> {
    sum: &'a mut Totals,
    begun: BTreeSet<Ticket>,
    /// The groups of the stages, in the order in which they began.
    turns: Vec<Group>,
    /// How many stages had begun at the time of each claim.
    asked: BTreeMap<(SiteId, ClaimId), usize>,
    /// When each stage is to end.
    deadlines: BTreeMap<Ticket, Tick>,
}

impl Run<'_> {
    fn send(&mut self, now: Tick, message: &Message) {
        self.sum.messages += 1;
        match *message {
            Message::RepRelGroup { .. } => self.sum.yields += 1,
            Message::RelGroup { .. } => self.sum.inquiries += 1,
            Message::RepProcess { pr, left, .. } => {
                self.deadlines.insert(pr, now + left);
            }
            Message::LibGroup { pr, .. } => {
                let deadline = self.deadlines.get(&pr).copied().unwrap_or(now);
                let overrun = now.0.saturating_sub(deadline.0);
                self.sum.overrun_most = self.sum.overrun_most.max(overrun);
            }
            _ => {}
        }
    }

    fn enter(&mut self, who: (SiteId, ClaimId), grant: &Grant) {
        self.sum.admissions += 1;
        let asked = self.asked.remove(&who).expect("who enters has asked");
        let foreign = self.turns[asked..].iter().filter(|group| **group != grant.group).count();
        self.sum.foreign_most = self.sum.foreign_most.max(foreign);
        if self.begun.insert(grant.stage) {
            self.sum.stages += 1;
            self.turns.push(grant.group.clone());
        }
    }
}

impl TimedObserver for Run<'_> {
    fn see(&mut self, now: Tick, _: usize, event: &Event<'_>) {
        match *event {
            Event::Acquires(Caller { site, claim, .. }) => {
                self.asked.insert((site, claim), self.turns.len());
            }
            Event::Sends { from, to, message } if from != to => self.send(now, message.downcast()),
            Event::Enters(Caller { site, claim, .. }, grant) => {
                self.enter((site, claim), grant.downcast());
            }
            _ => {}
        }
    }
}
