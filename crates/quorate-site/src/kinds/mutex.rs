//! Mutexes: one holder at a time. Callers of one site take turns under one claim.

use quorate_protocol::mutex::{Grant, Message, Mutex, Options};
use quorate_protocol::{Fence, Ticket};
use quorate_quorum::SiteId;
use quorate_session::{Granted, Kind, LockSpec};

use super::{CallerClaim, LockFactory, LockKind, LockMessage, LockRecord, Settings};
use crate::lock::{LockInstance, SerialCallers};

#[derive(Clone, Copy, Debug)]
pub(super) struct MutexKind;

impl LockKind for MutexKind {
    type Message = Message;
    type Claim = ();
    type Grant = Grant;

    fn kind(self) -> Kind {
        Kind::Mutex
    }

    fn serves(kind: &Kind, _: &Settings) -> bool {
        *kind == Kind::Mutex
    }

    fn make(factory: &mut LockFactory, _: &Kind, _: LockRecord) -> Option<Box<dyn LockInstance>> {
        let options = Options { spares: Some(factory.spares()), ..factory.settings.mutex };
        #[cfg(feature = "mutations")]
        if let Some(mutation) = factory.mutation() {
            let mutant = quorate_protocol::mutex::mutations::Mutant::new(options, mutation);
            return Some(Box::new(SerialCallers::new(MutexKind, mutant)));
        }
        Some(Box::new(SerialCallers::new(MutexKind, Mutex::new(options))))
    }

    fn claim(caller: &CallerClaim<'_>) -> Option<()> {
        (*caller.spec == LockSpec::Mutex).then_some(())
    }

    fn fence(grant: &Grant) -> Fence {
        grant.fence
    }

    fn granted(_: &Grant) -> Granted {
        Granted::Mutex
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
        192 + self.lists_bytes()
    }
}
