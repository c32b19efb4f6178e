//! Group locks by token: many holders at a time, all of one group. The callers of a site share one
//! claim and one fence.

use quorate_protocol::group::Claim;
use quorate_protocol::token::{Grant, Message, Options, TokenLock};
use quorate_protocol::{ClaimId, Fence, Tick, Ticket};
use quorate_quorum::SiteId;
use quorate_session::session::Terms;
use quorate_session::{Granted, Kind, LockSpec, TokenSpec};

use super::{CallerClaim, LockFactory, LockKind, LockMessage, LockRecord, Settings};
use crate::lock::{LockInstance, SharedClaim};

#[derive(Clone, Copy, Debug)]
pub(super) struct TokenKind;

impl LockKind for TokenKind {
    type Message = Message;
    type Claim = Claim;
    type Grant = Grant;

    fn kind(self) -> Kind {
        Kind::Token
    }

    fn serves(kind: &Kind, _: &Settings) -> bool {
        *kind == Kind::Token
    }

    fn make(
        factory: &mut LockFactory,
        _: &Kind,
        record: LockRecord,
    ) -> Option<Box<dyn LockInstance>> {
        let LockFactory { me, sites, .. } = *factory;
        let options = options(&factory.terms);
        #[cfg(feature = "mutations")]
        if let Some(mutation) = factory.mutation() {
            use quorate_protocol::token::mutations::Mutant;
            let mutant = Mutant::restarted(me, sites, options, mutation, record);
            return Some(Box::new(SharedClaim::new(TokenKind, mutant)));
        }
        let lock = TokenLock::restarted(me, sites, options, record);
        Some(Box::new(SharedClaim::new(TokenKind, lock)))
    }

    fn claim(caller: &CallerClaim<'_>) -> Option<Claim> {
        match caller.spec {
            LockSpec::Token(TokenSpec(groups)) => {
                Some(Claim { groups: groups.clone(), no_wait: caller.no_wait })
            }
            _ => None,
        }
    }

    fn fence(grant: &Grant) -> Fence {
        grant.fence()
    }

    fn granted(grant: &Grant) -> Granted {
        Granted::Group(grant.group.clone())
    }
}

/// The times of a token lock, as fractions of the lease D.
///
/// Voters register a token for D. A request without an answer is repeated after D/2, and D/6 later
/// a new token is made; a live holder answers in between. If that fails it is tried again, after
/// 2 D at most. A captain asks its followers every D/6, so that their time is renewed well before
/// it is over. An idle token is released after four leases.
fn options(terms: &Terms) -> Options {
    let length = terms.lease.length();
    Options {
        t1: length / 2,
        t2: length / 6,
        resend: true,
        back_off: 2,
        lease: Some(length),
        drift_permille: terms.drift.parts(),
        idle: Some(4 * 3),
    }
}

impl LockMessage for Message {
    fn is_for_arbiter(&self) -> bool {
        self.uses_senders_session()
    }

    /// Requests have no tickets: one of a site waits at a time.
    fn request(&self, from: SiteId) -> Option<Ticket> {
        match self {
            Message::Request { sn, .. } | Message::Prepare { sn, .. } => {
                Some(Ticket { time: *sn, site: from, claim: ClaimId(0) })
            }
            _ => None,
        }
    }

    fn is_renewal(&self) -> bool {
        matches!(self, Message::Register { .. } | Message::Registered { .. })
    }

    fn is_timed(&self) -> bool {
        self.is_timed()
    }

    fn deadline_mut(&mut self) -> Option<&mut Option<Tick>> {
        self.deadline_mut()
    }

    fn bytes(&self) -> usize {
        128 + self.bytes()
    }
}
