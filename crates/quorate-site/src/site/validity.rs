//! The deadlines of grants.
//!
//! Most grants depend on sites that all answer, and one number, the common deadline, holds for all
//! of them. A grant that depends on a silent site is *degraded*: it has a deadline of its own until
//! it is repaired. A grant by delegation always has one.

use quorate_protocol::{Tick, ValidityBasis};
use quorate_quorum::{SiteId, SiteSet};
use quorate_session::{CallId, Name, ReasonText};

use super::Site;
use super::call::Place;
use super::site_core::SiteCore;
use crate::effect::Effect;
use crate::lock::LockInstance;
use crate::validity::should_announce;

impl SiteCore {
    /// The deadline of a grant; `None` if the call is not inside. It never moves back.
    pub(super) fn valid_until(&self, id: CallId, lock: &dyn LockInstance) -> Option<Tick> {
        let call = self.calls.get(&id)?;
        match (lock.validity_basis(id), &call.place) {
            (ValidityBasis::Nothing, _) => None,
            (_, Place::Broken(_, until, _)) => Some(*until),
            (ValidityBasis::Permissions(sites), _) => {
                self.quorum_valid_until(&sites, |sites| self.is_quorum_for(id, lock, sites))
            }
            (basis @ (ValidityBasis::Delegation(..) | ValidityBasis::Until(..)), _) => {
                self.basis_valid_until(&call.name, lock, &basis)
            }
        }
    }

    /// Whether the common deadline holds for a grant that is valid until `until`: the sites that
    /// lent to it and answer are a quorum, and it lasts as long as the common deadline announced
    /// last. That may be later than `until`: sites that were silent, or had no session with us, did
    /// not count for it. A grant by delegation has a deadline of its own.
    pub(super) fn follows_common_deadline(
        &self,
        id: CallId,
        lock: &dyn LockInstance,
        until: Tick,
    ) -> bool {
        let ValidityBasis::Permissions(lenders) = lock.validity_basis(id) else {
            return false;
        };
        let answering = lenders.iter().filter(|&site| !self.shared.is_silent(site)).collect();
        self.is_quorum_for(id, lock, &answering) && until >= self.common_deadline
    }

    /// Whether these sites contain a quorum for what a call asked for.
    fn is_quorum_for(&self, id: CallId, lock: &dyn LockInstance, sites: &SiteSet) -> bool {
        let (quorums, hash) = (lock.quorums(&self.shared, id), self.calls[&id].name.hash64());
        self.shared.is_quorum_of(quorums, hash, sites)
    }

    /// The deadline of grants that depend on sites that answer.
    pub(super) fn present_common_deadline(&self) -> Tick {
        let own = self.now + self.config.terms.lease.length();
        let peers = SiteId::all(self.config.quorums.n());
        let open = peers.filter_map(|peer| self.sessions.at(peer)).filter(|there| !there.silent);
        open.map(|there| there.until).fold(own, Ord::min)
    }
}

/// How a caller learns the deadline of its grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantState {
    /// The common deadline holds for it.
    Common,
    /// It depends on a silent site or a delegation, and is valid until then.
    Degraded(Tick),
    /// It was broken, for this reason, and ends then.
    Broken(Tick, ReasonText),
}

impl Site {
    /// How the caller of `call` learns the deadline of its grant; `None` if it is not inside.
    pub fn grant_state(&self, call: CallId) -> Option<GrantState> {
        let until = self.valid_until(call)?;
        Some(match &self.core.calls.get(&call)?.place {
            Place::Broken(_, _, reason) => GrantState::Broken(until, reason.clone()),
            _ if self.core.degraded.contains_key(&call) => GrantState::Degraded(until),
            _ => GrantState::Common,
        })
    }

    /// Announces deadlines that have moved.
    pub(super) fn review_validity(&mut self) {
        let leases_renewed = std::mem::take(&mut self.core.leases_renewed);
        let answered = std::mem::take(&mut self.core.answered);
        if std::mem::take(&mut self.core.leases_lost) {
            let calls = self.core.calls.iter();
            let inside = calls.filter(|(_, call)| matches!(call.place, Place::Inside(_)));
            let inside: Vec<CallId> = inside.map(|(id, _)| *id).collect();
            for call in inside {
                self.review_call(call);
            }
        } else if leases_renewed && !self.core.degraded.is_empty() {
            let degraded: Vec<CallId> = self.core.degraded.keys().copied().collect();
            for call in degraded {
                self.review_call(call);
            }
        } else {
            for name in &answered {
                self.review_answered(name);
            }
        }
        if leases_renewed && !self.core.calls.is_empty() {
            self.review_common_deadline();
        }
    }

    /// A message may have restored a degraded grant of this lock. Its caller is told at once: the
    /// grant may end before the next lease is renewed.
    fn review_answered(&mut self, name: &Name) {
        let Some(lock) = self.table.get(name) else { return };
        let calls = lock.callers().into_iter();
        let degraded: Vec<CallId> =
            calls.filter(|call| self.core.degraded.contains_key(call)).collect();
        for call in degraded {
            self.review_call(call);
        }
    }

    fn review_common_deadline(&mut self) {
        let common_deadline = self.core.present_common_deadline();
        if should_announce(self.core.config.terms.lease, self.core.common_deadline, common_deadline)
        {
            self.core.common_deadline = common_deadline;
            self.core.out.push(Effect::CommonDeadline(common_deadline));
        }
    }

    fn review_call(&mut self, id: CallId) {
        let lock = &*self.table[&self.core.calls[&id].name];
        if lock.validity_basis(id) == ValidityBasis::Nothing {
            return;
        }
        let Some(until) = self.core.valid_until(id, lock) else {
            // Its protocol counts a delegation that was taken back, which only a lie can do.
            return self.lose_delegated(id);
        };
        if self.core.follows_common_deadline(id, lock, until) {
            if self.core.degraded.remove(&id).is_some() {
                self.core.out.push(Effect::Restored(id));
            }
            return;
        }
        let lease = self.core.config.terms.lease;
        let known = self.core.degraded.get(&id).copied();
        if known.is_none_or(|known| should_announce(lease, known, until)) {
            self.core.degraded.insert(id, until);
            self.core.out.push(Effect::Degraded(id, until));
        }
    }
}
