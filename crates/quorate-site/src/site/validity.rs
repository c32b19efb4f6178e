//! The deadlines of grants.
//!
//! Most grants depend on sites that all answer, and one number, the common deadline, holds for all
//! of them. A grant that depends on a silent site is *degraded*: it has a deadline of its own until
//! it is repaired. A grant by delegation always has one.

use std::ops::Bound;

use quorate_protocol::{Tick, ValidityBasis};
use quorate_quorum::{SiteId, SiteSet};
use quorate_session::session::Rule;
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
        let answers =
            |site: SiteId| self.shared.session_at(site).is_some() && !self.shared.is_silent(site);
        let answering = lenders.iter().filter(|&site| answers(site)).collect();
        self.is_quorum_for(id, lock, &answering) && until >= self.common_deadline
    }

    /// Whether these sites contain a quorum for what a call asked for.
    fn is_quorum_for(&self, id: CallId, lock: &dyn LockInstance, sites: &SiteSet) -> bool {
        let (quorums, hash) = (lock.quorums(&self.shared, id), self.calls[&id].name.hash64());
        self.shared.is_quorum_of(quorums, hash, sites)
    }

    /// The deadline of grants that depend on sites that answer.
    ///
    /// A site that has fallen silent counts until every grant was looked at: some may depend on it
    /// and not be degraded yet. If its session is over by then, the deadline does not move.
    pub(super) fn present_common_deadline(&self) -> Tick {
        let own = self.now + self.config.terms.lease.length();
        let is_kept = self.config.terms.keep(Rule::SilentCountsUntilTold);
        let bound = |peer| {
            let counts = is_kept && self.telling.counts(peer);
            match self.sessions.at(peer) {
                Some(there) => (counts || !there.silent).then_some(there.until),
                None => counts.then_some(self.common_deadline),
            }
        };
        SiteId::all(self.config.quorums.n()).filter_map(bound).fold(own, Ord::min)
    }
}

/// The review of the degraded grants, a few in each step: leases were renewed, and their deadlines
/// may have moved.
#[derive(Clone, Debug, Default)]
pub(super) struct Review {
    /// Where the present round goes on, if there is one.
    round: Option<Bound<CallId>>,
    /// Whether another round follows.
    again: bool,
    /// How many more grants may be looked at in this step.
    left: usize,
}

impl Review {
    pub(super) fn begin_step(&mut self, grants: usize) {
        self.left = grants.max(1);
    }

    /// All degraded grants are to be looked at.
    pub(super) fn begin_round(&mut self) {
        self.again = true;
    }

    pub(super) fn is_busy(&self) -> bool {
        self.round.is_some() || self.again
    }

    /// Where the present round goes on; `None` if there is nothing to do in this step.
    fn next_place(&mut self) -> Option<Bound<CallId>> {
        if self.round.is_none() && std::mem::take(&mut self.again) {
            self.round = Some(Bound::Unbounded);
        }
        self.round.filter(|_| self.left > 0)
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
        for name in std::mem::take(&mut self.core.telling.to_review) {
            self.review_lock(&name);
        }
        for name in &answered {
            self.review_answered(name);
        }
        if leases_renewed {
            self.core.review.begin_round();
        }
        self.review_degraded();
        if leases_renewed && !self.core.calls.is_empty() {
            self.review_common_deadline();
        }
    }

    /// This lock was told that a site is silent or a session over: callers inside may depend on it.
    fn review_lock(&mut self, name: &Name) {
        let Some(lock) = self.table.get(name) else { return };
        let callers = lock.first_callers(lock.count_callers().inside);
        for call in callers {
            let place = self.core.calls.get(&call).map(|call| &call.place);
            if matches!(place, Some(Place::Inside(_))) {
                self.review_call(call);
            }
        }
    }

    /// Looks at degraded grants, as many as a step may.
    pub(super) fn review_degraded(&mut self) {
        while let Some(from) = self.core.review.next_place() {
            let next = self.core.degraded.range((from, Bound::Unbounded)).next();
            let Some(call) = next.map(|(call, _)| *call) else {
                self.core.review.round = None;
                continue;
            };
            self.core.review.round = Some(Bound::Excluded(call));
            self.core.review.left -= 1;
            self.review_call(call);
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
        if !self.tell_first_of(id) {
            return;
        }
        let lock = self.table.lock(&self.core.calls[&id].name);
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
