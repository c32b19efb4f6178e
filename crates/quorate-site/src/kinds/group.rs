//! Group locks: many holders at a time, all of one group. Each caller is a claim of its own.

use quorate_protocol::group::{Claim, Grant, GroupLock, Message, Options};
use quorate_protocol::{Fence, Ticket};
use quorate_quorum::SiteId;
use quorate_session::{Granted, GroupSpec, Kind, LockSpec};

use super::{CallerClaim, LockFactory, LockKind, LockMessage, LockRecord, Settings};
use crate::lock::{LockInstance, ParallelCallers};

#[derive(Clone, Copy, Debug)]
pub(super) struct GroupKind;

impl LockKind for GroupKind {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;

    const TIMERS_CAN_WAIT: bool = true;

    fn kind(self) -> Kind {
        Kind::Group
    }

    fn serves(kind: &Kind, _: &Settings) -> bool {
        *kind == Kind::Group
    }

    fn make(factory: &mut LockFactory, _: &Kind, _: LockRecord) -> Option<Box<dyn LockInstance>> {
        Some(make(GroupKind, factory))
    }

    fn claim(caller: &CallerClaim<'_>) -> Option<Claim> {
        match caller.spec {
            LockSpec::Group(GroupSpec(groups)) => {
                Some(Claim { groups: groups.clone(), no_wait: caller.no_wait })
            }
            _ => None,
        }
    }

    fn fence(grant: &Grant) -> Fence {
        grant.fence
    }

    fn granted(grant: &Grant) -> Granted {
        Granted::Group(grant.group.clone())
    }
}

/// A lock of kind `K`, which is a group lock.
pub(super) fn make<K>(kind: K, factory: &LockFactory) -> Box<dyn LockInstance>
where
    K: LockKind<Message = Message, Claim = Claim, Grant = Grant>,
{
    let options = Options { spares: Some(factory.spares()), ..factory.settings.group };
    #[cfg(feature = "mutations")]
    if let Some(mutation) = factory.mutation() {
        let mutant = quorate_protocol::group::mutations::Mutant::new(options, mutation);
        return Box::new(ParallelCallers::new(kind, mutant));
    }
    Box::new(ParallelCallers::new(kind, GroupLock::new(options)))
}

impl LockMessage for Message {
    fn is_for_arbiter(&self) -> bool {
        self.is_for_manager()
    }

    fn request(&self, _: SiteId) -> Option<Ticket> {
        if let Message::Request { ticket, .. } = self { Some(*ticket) } else { None }
    }

    fn delegation(&self) -> Option<Ticket> {
        match self {
            Message::Lock { ticket, .. } | Message::Enter { ticket, .. } => Some(*ticket),
            _ => None,
        }
    }

    fn bytes(&self) -> usize {
        128 + self.groups_bytes()
    }
}
