//! Pools: units that many hold at a time. Each caller is a claim of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_protocol::pool::{Claim, Grant, Message, Pool};
use quorate_protocol::{Fence, Ticket};
use quorate_quorum::{Arbiters, SiteId};
use quorate_session::{Granted, Kind, LockSpec, PoolSpec, UNITS_MAX};

use super::{CallerClaim, LockFactory, LockKind, LockMessage, LockRecord, Settings};
use crate::lock::{LockInstance, ParallelCallers};

#[derive(Clone, Copy, Debug)]
pub(super) struct PoolKind {
    units: u32,
}

impl LockKind for PoolKind {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;

    fn kind(self) -> Kind {
        Kind::Pool(self.units)
    }

    fn serves(kind: &Kind, _: &Settings) -> bool {
        matches!(kind, Kind::Pool(_))
    }

    fn make(
        factory: &mut LockFactory,
        kind: &Kind,
        _: LockRecord,
    ) -> Option<Box<dyn LockInstance>> {
        let Kind::Pool(units) = *kind else { return None };
        let options = factory.settings.pool;
        let quorums = factory.pool_quorums.of_size(units, factory.sites)?;
        #[cfg(feature = "mutations")]
        if let Some(mutation) = factory.mutation() {
            let mutant =
                quorate_protocol::pool::mutations::Mutant::new(&quorums, options, mutation);
            return Some(Box::new(ParallelCallers::new(PoolKind { units }, mutant)));
        }
        Some(Box::new(ParallelCallers::new(PoolKind { units }, Pool::new(&quorums, options))))
    }

    fn claim(caller: &CallerClaim<'_>) -> Option<Claim> {
        match *caller.spec {
            LockSpec::Pool(PoolSpec { units, numbered }) => {
                Some(Claim { units, numbered, no_wait: caller.no_wait })
            }
            _ => None,
        }
    }

    fn fence(grant: &Grant) -> Fence {
        grant.fence
    }

    fn granted(grant: &Grant) -> Granted {
        Granted::Pool(grant.numbers.clone())
    }
}

impl LockMessage for Message {
    fn is_for_arbiter(&self) -> bool {
        self.is_for_arbiter()
    }

    fn request(&self, _: SiteId) -> Option<Ticket> {
        if let Message::Request { ticket, .. } = self { Some(*ticket) } else { None }
    }

    fn bytes(&self) -> usize {
        64
    }
}

/// The quorums of pools, by the size of the pool. Pools of one size share them.
#[derive(Clone, Debug, Default)]
pub(super) struct QuorumsBySize(BTreeMap<u32, Arc<Arbiters>>);

/// The most sizes that are remembered.
const SIZES_MAX: usize = 64;

impl QuorumsBySize {
    /// The quorums of pools of so many units; `None` if there can be no such pool.
    fn of_size(&mut self, units: u32, sites: usize) -> Option<Arc<Arbiters>> {
        if self.0.len() >= SIZES_MAX && !self.0.contains_key(&units) {
            self.0.clear();
        }
        if (1..=UNITS_MAX).contains(&units) && !self.0.contains_key(&units) {
            let quorums = Arbiters::improved(sites, units as usize).ok()?;
            self.0.insert(units, Arc::new(quorums));
        }
        self.0.get(&units).cloned()
    }
}
