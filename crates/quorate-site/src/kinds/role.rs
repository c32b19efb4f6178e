//! Role locks: shared members of one group, and one exclusive member beside them. Each caller is a
//! claim of its own.

use quorate_protocol::role::{Claim, Grant, Message, Options, RoleLock};
use quorate_protocol::{Fence, Ticket};
use quorate_quorum::SiteId;
use quorate_session::{Granted, Kind, LockSpec, Name, RoleSpec};

use super::{CallerClaim, LockFactory, LockKind, LockMessage, LockRecord, Settings};
use crate::lock::{LockInstance, ParallelCallers};

#[derive(Clone, Copy, Debug)]
pub(super) struct RoleKind;

impl LockKind for RoleKind {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;

    fn kind(self) -> Kind {
        Kind::Role
    }

    fn serves(kind: &Kind, _: &Settings) -> bool {
        *kind == Kind::Role
    }

    fn make(factory: &mut LockFactory, _: &Kind, _: LockRecord) -> Option<Box<dyn LockInstance>> {
        let options = Options { spares: Some(factory.spares()), ..factory.settings.role };
        #[cfg(feature = "mutations")]
        if let Some(mutation) = factory.mutation() {
            let mutant = quorate_protocol::role::mutations::Mutant::new(options, mutation);
            return Some(Box::new(ParallelCallers::new(RoleKind, mutant)));
        }
        Some(Box::new(ParallelCallers::new(RoleKind, RoleLock::new(options))))
    }

    fn claim(caller: &CallerClaim<'_>) -> Option<Claim> {
        match caller.spec {
            LockSpec::Role(RoleSpec { groups, time }) => {
                Some(Claim { groups: groups.clone(), time: *time, no_wait: caller.no_wait })
            }
            _ => None,
        }
    }

    fn fence(grant: &Grant) -> Fence {
        grant.fence
    }

    fn granted(grant: &Grant) -> Granted {
        Granted::Role(grant.group.clone(), grant.role)
    }
}

impl LockMessage for Message {
    fn is_for_arbiter(&self) -> bool {
        self.is_asked()
    }

    fn request(&self, _: SiteId) -> Option<Ticket> {
        match self {
            Message::ReqProcess { ticket, .. } | Message::ReqGroup { pr: ticket, .. } => {
                Some(*ticket)
            }
            _ => None,
        }
    }

    fn delegation(&self) -> Option<Ticket> {
        if let Message::RepProcess { ticket, .. } = self { Some(*ticket) } else { None }
    }

    fn bytes(&self) -> usize {
        128 + Name::MAX_BYTES
    }
}
