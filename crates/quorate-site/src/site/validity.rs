//! Until when callers may believe what.
//!
//! Most grants rest on sites that all answer: one number, the horizon, is good for all of them. A
//! grant that rests on a silent site is *waning* and is told its own end, until it is repaired; one
//! that rests on a word always.

use std::sync::Arc;

use quorate_protocol::{Basis, Tick};
use quorate_quorum::{SiteId, SiteSet};
use quorate_session::{CallId, Name};

use super::Site;
use super::call::Place;
use super::desk::Desk;
use crate::effect::Effect;
use crate::resource::Part;
use crate::validity::should_push;

impl Desk {
    /// Until when a grant is good; `None` if it is none. It never moves back.
    pub(super) fn valid_until(&self, id: CallId, part: &dyn Part) -> Option<Tick> {
        let call = self.calls.get(&id)?;
        match (part.basis(id), &call.place) {
            (Basis::Nothing, _) => None,
            (_, Place::Broken(_, until, _)) => Some(*until),
            (Basis::Permissions(sites), _) => {
                self.vouched_until(&sites, |sites| self.is_enough(id, part, sites))
            }
            (basis @ (Basis::Word(..) | Basis::Until(..)), _) => {
                self.good_until(&call.name, part, &basis)
            }
        }
    }

    /// Whether those of the vouchers that answer are enough, and the grant, which is good until
    /// then, is good for as long as the horizon says that was told last. That one may be later: a
    /// site that was silent, or had no session with us, did not count for it. A word has an end of
    /// its own.
    pub(super) fn is_steady(&self, id: CallId, part: &dyn Part, until: Tick) -> bool {
        let Basis::Permissions(vouchers) = part.basis(id) else { return false };
        let answering = vouchers.iter().filter(|&site| !self.shared.is_silent(site)).collect();
        self.is_enough(id, part, &answering) && until >= self.horizon
    }

    /// Whether these sites contain a quorum for what a call asked for.
    fn is_enough(&self, id: CallId, part: &dyn Part, sites: &SiteSet) -> bool {
        let (quorums, hash) = (part.quorums(&self.shared, id), self.calls[&id].name.hash64());
        self.shared.is_quorum_of(quorums, hash, sites)
    }

    /// Until when grants are good that rest on sites that answer.
    pub(super) fn present_horizon(&self) -> Tick {
        let own = self.now + self.config.terms.lease.length();
        let peers = SiteId::all(self.config.quorums.n());
        let open = peers.filter_map(|peer| self.sessions.at(peer)).filter(|there| !there.silent);
        open.map(|there| there.until).fold(own, Ord::min)
    }
}

/// How the end of a grant is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantState {
    /// By the common deadline, with all others.
    Common,
    /// It depends on a silent site: it is good until then.
    Degraded(Tick),
    /// It was broken, for this reason, and ends then.
    Broken(Tick, Arc<str>),
}

impl Site {
    /// How the end of the grant of `call` is told; `None` if it is not inside.
    pub fn grant_state(&self, call: CallId) -> Option<GrantState> {
        let until = self.valid_until(call)?;
        Some(match &self.desk.calls.get(&call)?.place {
            Place::Broken(_, _, reason) => GrantState::Broken(until, Arc::clone(reason)),
            _ if self.desk.waning.contains_key(&call) => GrantState::Degraded(until),
            _ => GrantState::Common,
        })
    }

    /// Tells callers what has become of their validity.
    pub(super) fn review(&mut self) {
        let moved = std::mem::take(&mut self.desk.moved);
        let answered = std::mem::take(&mut self.desk.answered);
        if std::mem::take(&mut self.desk.shaken) {
            let calls = self.desk.calls.iter();
            let inside = calls.filter(|(_, call)| matches!(call.place, Place::Inside(_)));
            let inside: Vec<CallId> = inside.map(|(id, _)| *id).collect();
            for call in inside {
                self.review_call(call);
            }
        } else if moved && !self.desk.waning.is_empty() {
            let waning: Vec<CallId> = self.desk.waning.keys().copied().collect();
            for call in waning {
                self.review_call(call);
            }
        } else {
            for name in &answered {
                self.review_answered(name);
            }
        }
        if moved && !self.desk.calls.is_empty() {
            self.review_horizon();
        }
    }

    /// A message may have brought what a waning grant of this resource lacked. Its caller is told
    /// at once: it may not be good until the next lease moves.
    fn review_answered(&mut self, name: &Name) {
        let Some(resource) = self.table.get(name) else { return };
        let calls = resource.engine.part().line().into_iter();
        let waning: Vec<CallId> =
            calls.filter(|call| self.desk.waning.contains_key(call)).collect();
        for call in waning {
            self.review_call(call);
        }
    }

    fn review_horizon(&mut self) {
        let horizon = self.desk.present_horizon();
        if should_push(self.desk.config.terms.lease, self.desk.horizon, horizon) {
            self.desk.horizon = horizon;
            self.desk.out.push(Effect::Horizon(horizon));
        }
    }

    fn review_call(&mut self, id: CallId) {
        let part = self.table[&self.desk.calls[&id].name].engine.part();
        if part.basis(id) == Basis::Nothing {
            return;
        }
        let until = self.desk.valid_until(id, part);
        let until = until.expect("a grant without a quorum of leases or a word is lost");
        if self.desk.is_steady(id, part, until) {
            if self.desk.waning.remove(&id).is_some() {
                self.desk.out.push(Effect::Steady(id));
            }
            return;
        }
        let told = self.desk.waning.get(&id).copied();
        if told.is_none_or(|told| should_push(self.desk.config.terms.lease, told, until)) {
            self.desk.waning.insert(id, until);
            self.desk.out.push(Effect::Waning(id, until));
        }
    }
}
