//! What is counted in a run.

use std::collections::BTreeMap;

use quorate_protocol::{ClaimId, Tick};
use quorate_quorum::SiteId;

use crate::{Caller, Event};

/// What was counted, in one run or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Claims that got in.
    pub entries: u64,
    /// Claims that were given up.
    pub given_up: u64,
    /// Grants that were lost before their callers left.
    pub lost: u64,
    /// Claims that waited at a site when it crashed.
    pub crashed: u64,
    /// What went wrong or was mended, by [`Fault::word`](crate::Fault::word).
    pub faults: BTreeMap<&'static str, u64>,
    /// Claims that still waited when nothing could happen any more.
    pub unserved: u64,
    /// Messages between different sites.
    pub messages: u64,
    /// The same, by their names in the paper.
    pub by_kind: BTreeMap<&'static str, u64>,
    /// Entries of claims that were waiting when the holder before them left.
    pub handovers: u64,
    /// The time between those two moments, added up over all hand-overs.
    pub handover_ticks: u64,
    /// The time from claim to entry, added up over all entries.
    pub wait_ticks: u64,
    /// Virtual time that went by.
    pub elapsed_ticks: u64,
}

impl Tally {
    /// Adds another tally to this one.
    pub fn add(&mut self, other: &Tally) {
        self.entries += other.entries;
        self.given_up += other.given_up;
        self.lost += other.lost;
        self.crashed += other.crashed;
        self.unserved += other.unserved;
        self.messages += other.messages;
        self.handovers += other.handovers;
        self.handover_ticks += other.handover_ticks;
        self.wait_ticks += other.wait_ticks;
        self.elapsed_ticks += other.elapsed_ticks;
        for (kind, count) in &other.by_kind {
            *self.by_kind.entry(kind).or_default() += count;
        }
        for (fault, count) in &other.faults {
            *self.faults.entry(fault).or_default() += count;
        }
    }
}

/// Counts while a run goes on.
#[derive(Debug)]
pub(super) struct Counter {
    pub(super) tally: Tally,
    made_at: Vec<BTreeMap<ClaimId, Tick>>,
    left_at: Option<Tick>,
}

impl Counter {
    pub(super) fn new(n: usize) -> Self {
        Self { tally: Tally::default(), made_at: vec![BTreeMap::new(); n], left_at: None }
    }

    pub(super) fn count(&mut self, now: Tick, event: &Event<'_>) {
        match *event {
            Event::Sends { from, to, message } if from != to => {
                self.tally.messages += 1;
                *self.tally.by_kind.entry(message.kind).or_default() += 1;
            }
            Event::Acquires(Caller { site, claim, .. }) => {
                self.made_at[site.index()].insert(claim, now);
            }
            Event::Releases(..) => self.left_at = Some(now),
            Event::Loses(..) => self.tally.lost += 1,
            Event::Suffers(fault) => *self.tally.faults.entry(fault.word()).or_default() += 1,
            Event::GivesUp(Caller { site, claim, .. }) => {
                self.tally.given_up += 1;
                self.made_at[site.index()].remove(&claim);
            }
            Event::Enters(Caller { site, claim, .. }, _) => self.enter(now, site, claim),
            _ => {}
        }
    }

    fn enter(&mut self, now: Tick, site: SiteId, claim: ClaimId) {
        let made_at = self.made_at[site.index()].remove(&claim).unwrap_or(now);
        self.tally.entries += 1;
        self.tally.wait_ticks += now.0 - made_at.0;
        if let Some(left_at) = self.left_at.filter(|&left_at| made_at <= left_at) {
            self.tally.handovers += 1;
            self.tally.handover_ticks += now.0 - left_at.0;
        }
    }
}
