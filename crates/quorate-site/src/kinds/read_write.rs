//! Read-write locks: group locks in which all readers are one group, and each writer is a group of
//! its own. The protocol and its messages are those of group locks.

use quorate_protocol::Fence;
use quorate_protocol::group::{Claim, Grant, Message};
use quorate_session::{Granted, Kind, LockSpec};

use super::{CallerClaim, LockFactory, LockKind, LockRecord, Settings, group};
use crate::lock::LockInstance;

#[derive(Clone, Copy, Debug)]
pub(super) struct ReadWriteKind;

impl LockKind for ReadWriteKind {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;

    const TIMERS_CAN_WAIT: bool = true;

    fn kind(self) -> Kind {
        Kind::ReadWrite
    }

    fn serves(kind: &Kind, _: &Settings) -> bool {
        *kind == Kind::ReadWrite
    }

    fn make(factory: &mut LockFactory, _: &Kind, _: LockRecord) -> Option<Box<dyn LockInstance>> {
        Some(group::make(ReadWriteKind, factory))
    }

    fn claim(caller: &CallerClaim<'_>) -> Option<Claim> {
        let &CallerClaim { spec, no_wait, site, claim } = caller;
        match spec {
            LockSpec::Access(access) => {
                Some(Claim { no_wait, ..Claim::of_access(*access, site, claim) })
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
