//! Random runs in which sessions end and sites crash.

use std::collections::BTreeSet;

use quorate_quorum::{SiteId, SiteSet};

use super::{Due, FaultKind, Run, T, TimedObserver};
use crate::chance::Chance;
use crate::{AnyWorld, ClaimState, Fault, Faults, Lane};

/// How many sessions or sites are drawn until one can have the fault.
const TRIES: u32 = 32;

/// The faults of a run so far, and those that must follow.
#[derive(Debug)]
pub(super) struct FaultPlan {
    /// The faults that must follow and have their time already.
    planned: BTreeSet<Fault>,
    /// How often each site has crashed.
    crashes: Vec<u32>,
    /// The sites on one side of a cut.
    side: Option<SiteSet>,
}

impl FaultPlan {
    pub(super) fn new(n: usize) -> Self {
        Self { planned: BTreeSet::new(), crashes: vec![0; n], side: None }
    }

    /// Whether a cut keeps two sites apart.
    pub(super) fn parts(&self, one: SiteId, other: SiteId) -> bool {
        self.side.as_ref().is_some_and(|side| side.contains(one) != side.contains(other))
    }

    /// Ends a cut.
    pub(super) fn mend(&mut self) {
        self.side = None;
    }

    /// How often `site` has crashed.
    pub(super) fn crashes(&self, site: SiteId) -> u32 {
        self.crashes[site.index()]
    }
}

/// Draws a fault of this kind, if one is found that is possible. Half of the sessions that are lost
/// have been silent before, if any has.
fn pick_fault(kind: FaultKind, world: &dyn AnyWorld, chance: &mut Chance) -> Option<Fault> {
    let n = world.n() as u64;
    let silent_first = kind == FaultKind::Lose && chance.below(2) == 0;
    let mut any = || {
        let site = usize::try_from(chance.below(n)).expect("a place in the list of sites");
        SiteId::new(site)
    };
    for attempt in 0..TRIES {
        let (site, server) = (any(), any());
        let open = site != server && world.is_open(site, server);
        if silent_first && attempt < TRIES / 2 && !(open && world.is_silent(site, server)) {
            continue;
        }
        match kind {
            FaultKind::Crash if world.is_up(site) => return Some(Fault::Crash(site)),
            FaultKind::Lose if open => return Some(Fault::Lose(site, server)),
            FaultKind::Silent if open && !world.is_silent(site, server) => {
                return Some(Fault::Silence(site, server));
            }
            _ => {}
        }
    }
    None
}

impl Run<'_> {
    /// Plans faults at any moment of the time that the claims would take without them.
    pub(super) fn plan_faults(&mut self) {
        let (lose, silent, crash, cut) = match self.plan.faults {
            Some(Faults { lose, silent, crash, .. }) => (lose, silent, crash, 0),
            None => (0, 0, self.plan.sessionless.crash, self.plan.sessionless.cut),
        };
        let claims: u64 = self.plan.requests.iter().map(|&requests| u64::from(requests)).sum();
        let each = self.plan.inside.most() / 2 + T;
        let length = self.plan.think.most() + claims * each + 1;
        for (kind, times) in [
            (FaultKind::Lose, lose),
            (FaultKind::Silent, silent),
            (FaultKind::Crash, crash),
            (FaultKind::Cut, cut),
        ] {
            for _ in 0..times {
                let ticks = self.chance.below(length);
                self.plan_for(self.in_ticks(ticks), Due::Fault(kind));
            }
        }
    }

    pub(super) fn inject_fault(&mut self, kind: FaultKind, watch: &mut dyn TimedObserver) {
        if kind == FaultKind::Cut {
            return self.cut();
        }
        if let Some(fault) = pick_fault(kind, &*self.world, &mut self.chance) {
            self.suffer(fault, watch);
        }
    }

    /// Cuts the sites into two sides at random, for as long as many messages take.
    fn cut(&mut self) {
        let n = self.world.n();
        let side = SiteId::all(n).filter(|_| self.chance.below(2) == 0).collect();
        self.fault_plan.side = Some(side);
        let ticks = self.chance.exponential(20 * T);
        self.plan_for(self.in_ticks(ticks), Due::Mend);
    }

    /// Applies a planned fault, unless another has made it impossible.
    pub(super) fn suffer_if_owed(&mut self, fault: Fault, watch: &mut dyn TimedObserver) {
        self.fault_plan.planned.remove(&fault);
        if self.owed().contains(&fault) {
            self.suffer(fault, watch);
        }
    }

    fn suffer(&mut self, fault: Fault, watch: &mut dyn TimedObserver) {
        if let Fault::Crash(site) = fault {
            let claims = self.world.claims(site).values();
            let waiting = claims.filter(|state| **state == ClaimState::Waiting);
            self.counter.tally.crashed += waiting.count() as u64;
            self.fault_plan.crashes[site.index()] += 1;
        }
        let (world, mut observer) = self.observer(watch);
        world.suffer(fault, &mut observer);
        match fault {
            Fault::Restart(site) => {
                for _ in 0..self.plan.claims.most_at_once() {
                    self.think(site);
                }
            }
            Fault::Open(client, server) => {
                let waiting = self.world.under_way_count((server, client, Lane::Down));
                for _ in 0..waiting {
                    self.send(server, client, Lane::Down);
                }
            }
            _ => {}
        }
        self.plan_what_is_owed();
    }

    fn owed(&self) -> Vec<Fault> {
        let contract = self.plan.faults.map(|faults| faults.contract);
        let (reopens, restarts) = contract.map_or((true, true), |c| (c.reopens, c.restarts));
        self.world.owed(reopens, restarts)
    }

    /// Plans the faults that must follow: at once, or after as long as many messages take.
    fn plan_what_is_owed(&mut self) {
        for fault in self.owed() {
            if self.fault_plan.planned.insert(fault) {
                let mean = T << self.chance.below(4);
                let ticks = self.chance.exponential(mean);
                self.plan_for(self.in_ticks(ticks), Due::Consequence(fault));
            }
        }
    }
}
