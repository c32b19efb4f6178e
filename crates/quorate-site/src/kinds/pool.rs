//! Pools by arbiters: units that many hold at a time. Each caller is a claim of its own.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use quorate_protocol::pool::{Claim, Grant, Message, Options, Pool};
use quorate_protocol::{Fence, Ticket};
use quorate_quorum::{Arbiters, SiteId};
use quorate_session::{Granted, Kind, LockSpec, PoolSpec, limits};

use super::{CallerClaim, LockFactory, LockKind, LockMessage, LockRecord, PoolProtocol, Settings};
use crate::lock::{LockInstance, ParallelCallers};

#[derive(Clone, Copy, Debug)]
pub(super) struct PoolKind {
    units: u32,
}

impl LockKind for PoolKind {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;

    const TIMERS_CAN_WAIT: bool = true;

    fn kind(self) -> Kind {
        Kind::Pool(self.units)
    }

    fn serves(kind: &Kind, settings: &Settings) -> bool {
        matches!(kind, Kind::Pool(_)) && settings.pools == PoolProtocol::Arbiters
    }

    fn make(
        factory: &mut LockFactory,
        kind: &Kind,
        _: LockRecord,
    ) -> Option<Box<dyn LockInstance>> {
        let Kind::Pool(units) = *kind else { return None };
        let options = Options { spares: Some(factory.spares()), ..factory.settings.pool };
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
        claim(caller)
    }

    fn fence(grant: &Grant) -> Fence {
        grant.fence
    }

    fn granted(grant: &Grant) -> Granted {
        Granted::Pool(grant.numbers.clone())
    }
}

/// What a caller asks of either protocol of pools.
pub(super) fn claim(caller: &CallerClaim<'_>) -> Option<Claim> {
    match *caller.spec {
        LockSpec::Pool(PoolSpec { units, numbered }) => {
            Some(Claim { units, numbered, no_wait: caller.no_wait })
        }
        _ => None,
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
        let numbers = match self {
            Message::Request { numbers, .. } | Message::Name { numbers, .. } => numbers.len(),
            Message::Taken { by_others, .. } => by_others.len(),
            _ => 0,
        };
        96 + 5 * numbers
    }
}

/// The quorums of small pools, by the size of the pool. They take some time to find; those of
/// larger pools do not, and are made for each.
#[derive(Clone, Debug, Default)]
pub(super) struct QuorumsBySize(BTreeMap<u32, Arc<Arbiters>>);

/// The largest size that is remembered.
const SIZE_KEPT_MAX: u32 = 64;

impl QuorumsBySize {
    /// The quorums of pools of so many units; `None` if there can be no such pool.
    fn of_size(&mut self, units: u32, sites: usize) -> Option<Arc<Arbiters>> {
        if !(1..=limits::UNITS).contains(&units) {
            return None;
        }
        let make = || Arbiters::improved(sites, units as usize).ok().map(Arc::new);
        if units > SIZE_KEPT_MAX {
            return make();
        }
        if let Entry::Vacant(entry) = self.0.entry(units) {
            entry.insert(make()?);
        }
        self.0.get(&units).cloned()
    }
}
