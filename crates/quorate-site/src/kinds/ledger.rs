//! Ledger pools: units that many hold at a time, on the quorums of the cluster. Each caller is a
//! claim of its own; the protocol makes one request for all that wait.

use quorate_protocol::ledger::{Claim, Grant, LedgerPool, Message, Options};
use quorate_protocol::{Fence, Ticket};
use quorate_quorum::SiteId;
use quorate_session::{Granted, Kind, limits};

use super::{
    CallerClaim, LockFactory, LockKind, LockMessage, LockRecord, PoolProtocol, Settings, pool,
};
use crate::lock::{LockInstance, ParallelCallers};

#[derive(Clone, Copy, Debug)]
pub(super) struct LedgerKind {
    units: u32,
}

impl LockKind for LedgerKind {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;

    const TIMERS_CAN_WAIT: bool = true;

    fn kind(self) -> Kind {
        Kind::Pool(self.units)
    }

    fn serves(kind: &Kind, settings: &Settings) -> bool {
        matches!(kind, Kind::Pool(_)) && settings.pools == PoolProtocol::Ledger
    }

    fn make(
        factory: &mut LockFactory,
        kind: &Kind,
        _: LockRecord,
    ) -> Option<Box<dyn LockInstance>> {
        let Kind::Pool(units) = *kind else { return None };
        if !(1..=limits::UNITS).contains(&units) {
            return None;
        }
        let kind = LedgerKind { units };
        let options = Options { spares: Some(factory.spares()), ..factory.settings.ledger };
        #[cfg(feature = "mutations")]
        if let Some(mutation) = factory.mutation() {
            let mutant = quorate_protocol::ledger::mutations::Mutant::new(units, options, mutation);
            return Some(Box::new(ParallelCallers::new(kind, mutant)));
        }
        Some(Box::new(ParallelCallers::new(kind, LedgerPool::new(units, options))))
    }

    fn claim(caller: &CallerClaim<'_>) -> Option<Claim> {
        pool::claim(caller)
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
        if let Message::Request { of, .. } = self { Some(of.ticket) } else { None }
    }

    fn bytes(&self) -> usize {
        128 + self.lists_bytes()
    }
}
