//! Delegations: a caller is inside, or a site admits others, because another site says so, and
//! until when.
//!
//! The site of a pivot tells its managers until when the pivot is valid, and they tell the
//! followers that they admit. The time left is never counted from receipt. It travels as a
//! [`RelativeDeadline`], so that the receiver relies on it no longer than the giver does. A
//! delegation that has expired is over, whatever arrives later.
//!
//! [`RelativeDeadline`]: quorate_session::session::RelativeDeadline

use std::collections::{BTreeMap, BTreeSet};

use quorate_protocol::{Tick, Ticket, ValidityBasis, Why};
use quorate_quorum::{SiteId, SiteSet};
use quorate_session::session::{Half, Lease, Rule, between};
use quorate_session::{CallId, Loss, Name};

use super::Site;
use super::site_core::SiteCore;
use crate::effect::Effect;
use crate::lock::{CallerRequest, LockInstance};
use crate::site_message::{Delegation, SiteMessage};
use crate::validity::quorum_validity;

/// The most delegations in one message.
const DELEGATIONS_MAX: usize = 256;

/// The delegations that a site has received and given.
#[derive(Clone, Debug, Default)]
pub(super) struct Delegations {
    /// The deadlines of those received.
    received: BTreeMap<Received, Tick>,
    due: BTreeSet<(Tick, Received)>,
    /// The locks for which others rely on us.
    given: BTreeSet<Name>,
    /// The deadline of each delegation given, as its receiver knows it.
    announced: BTreeMap<SiteId, BTreeMap<(Name, Ticket), Tick>>,
    /// The sites that have renewed their lease: the same deadline, counted from the new renewal,
    /// lasts longer there.
    pub(super) renewed: BTreeSet<SiteId>,
    /// Whether our deadlines may have moved since others were told.
    pub(super) deadlines_moved: bool,
    /// Whether something is lost that delegations depend on.
    pub(super) support_lost: bool,
}

/// A delegation that we have received.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Received {
    from: SiteId,
    name: Name,
    about: Ticket,
}

/// A delegation that others rely on, and its present deadline.
struct Given {
    name: Name,
    about: Ticket,
    until: Tick,
}

impl Delegations {
    /// Whether others rely on us.
    pub(super) fn are_given(&self) -> bool {
        !self.given.is_empty()
    }

    pub(super) fn deadline(&self) -> Option<Tick> {
        self.due.first().map(|(when, _)| *when)
    }

    /// Takes a delegation that has expired.
    fn pop_expired(&mut self, now: Tick) -> Option<Received> {
        self.due.first().filter(|(when, _)| *when <= now)?;
        let (_, expired) = self.due.pop_first()?;
        self.received.remove(&expired);
        Some(expired)
    }

    /// Moves the deadline of a delegation on, if it is later than before.
    fn extend(&mut self, delegation: Received, until: Tick) {
        let known = self.received.entry(delegation.clone()).or_default();
        if *known < until {
            self.due.remove(&(*known, delegation.clone()));
            self.due.insert((until, delegation));
            *known = until;
            self.deadlines_moved = true;
        }
    }
}

impl SiteCore {
    /// The deadline of something that depends on `basis`; `None` if it is over.
    pub(super) fn basis_valid_until(
        &self,
        name: &Name,
        lock: &dyn LockInstance,
        basis: &ValidityBasis,
    ) -> Option<Tick> {
        match basis {
            ValidityBasis::Nothing => None,
            ValidityBasis::Until(until, giver) => {
                let kept = self.config.terms.keep(Rule::DelegationEndsWithSession);
                let until = match giver.filter(|_| kept) {
                    Some(giver) => self.sessions.at(giver)?.until.min(*until),
                    None => *until,
                };
                (until > self.now).then_some(until)
            }
            ValidityBasis::Permissions(sites) => {
                let quorums = self.shared.quorums();
                let is_quorum =
                    |sites: &SiteSet| self.shared.is_quorum_of(quorums, name.hash64(), sites);
                self.quorum_valid_until(sites, is_quorum)
            }
            ValidityBasis::Delegation(giver, about) if *giver == self.me() => {
                self.basis_valid_until(name, lock, &lock.delegation_basis(*about))
            }
            ValidityBasis::Delegation(giver, about) => {
                let key = Received { from: *giver, name: name.clone(), about: *about };
                let received = self.delegations.received.get(&key).copied();
                // The giver drops the delegation when our session there ends.
                let lease = self.sessions.at(*giver).map(|there| there.until);
                let terms = &self.config.terms;
                let until = match (
                    terms.keep(Rule::DelegationExpires),
                    terms.keep(Rule::DelegationEndsWithSession),
                ) {
                    (true, true) => received?.min(lease?),
                    (true, false) => received?,
                    (false, _) => lease?,
                };
                (until > self.now).then_some(until)
            }
        }
    }

    /// Until when these sites contain a quorum whose leases are not over.
    pub(super) fn quorum_valid_until(
        &self,
        sites: &SiteSet,
        is_quorum: impl Fn(&SiteSet) -> bool,
    ) -> Option<Tick> {
        let session = |site| Some((site, self.shared.session_at(site)?));
        quorum_validity(&self.sessions, self.now, is_quorum, sites.iter().filter_map(session))
    }

    /// Delegates the validity of a request; `None` if it is not valid.
    pub(super) fn delegate(
        &mut self,
        to: SiteId,
        name: &Name,
        lock: &dyn LockInstance,
        about: Ticket,
    ) -> Option<Delegation> {
        let until = self.basis_valid_until(name, lock, &lock.delegation_basis(about))?;
        let delegation = self.delegation(to, about, until)?;
        self.delegations.given.insert(name.clone());
        self.delegations.announced.entry(to).or_default().insert((name.clone(), about), until);
        Some(delegation)
    }

    fn delegation(&self, to: SiteId, about: Ticket, until: Tick) -> Option<Delegation> {
        let session = self.sessions.of(to)?.number;
        Some(Delegation { about, session, until: self.sessions.relative_deadline(to, until)? })
    }

    /// Accepts a delegation; true if it makes a request of the giver valid that was not before.
    fn accept_delegation(&mut self, from: SiteId, name: &Name, delegation: Delegation) -> bool {
        let Delegation { about, session, until } = delegation;
        if about.site != from && about.site != self.me() {
            self.note(from, "ignored: it speaks of somebody else's request");
            return false;
        }
        if self.sessions.at(from).is_none_or(|there| there.number != session) {
            return false;
        }
        let until = if self.config.terms.keep(Rule::DelegationCountsFromRenewal) {
            self.sessions.absolute_deadline(from, until)
        } else {
            Some(self.now + until.after)
        };
        let Some(until) = until.filter(|until| *until > self.now) else { return false };
        let until = until.min(self.now + Lease::MAX); // no validity lasts longer
        self.delegations.extend(Received { from, name: name.clone(), about }, until);
        self.leases_renewed = true;
        let delegated = self.shared.delegated.get_or_insert_default();
        about.site == from && delegated.insert(about)
    }
}

impl Site {
    /// Accepts a delegation, and tells the lock if it can rely on it now.
    pub(super) fn on_delegation(&mut self, from: SiteId, name: &Name, delegation: Delegation) {
        let newly = self.core.accept_delegation(from, name, delegation);
        if let Some(lock) = self.table.get(name).filter(|_| newly) {
            let kind = lock.kind();
            self.with_lock(name, &kind, |lock, context| {
                lock.on_delegation_valid(context, delegation.about);
            });
        }
    }

    /// Ends what depends on expired delegations.
    pub(super) fn on_delegations_due(&mut self) {
        while let Some(expired) = self.core.delegations.pop_expired(self.core.now) {
            let Received { from, name, about } = expired;
            if about.site == from {
                self.core.shared.delegated.get_or_insert_default().remove(&about);
                self.core.delegations.support_lost = true;
            } else if let Some(lock) = self.table.get(&name)
                && let Some(call) = lock.inside_by_delegation(from, about)
            {
                self.lose_delegated(call);
            }
        }
        if std::mem::take(&mut self.core.delegations.support_lost) {
            // Grants by delegation have deadlines of their own, so all of them are among these.
            let calls: Vec<CallId> = self.core.degraded.keys().copied().collect();
            for call in calls {
                if self.valid_until(call).is_none() {
                    self.lose_delegated(call);
                }
            }
        }
        self.settle();
    }

    /// A caller was inside by a delegation that has expired.
    pub(super) fn lose_delegated(&mut self, call: CallId) {
        self.core.out.push(Effect::Lost(call, Loss::Lapsed(Why::DelegationExpired)));
        self.leave(call);
    }

    /// Makes a claim again that was granted by a delegation that had expired by then. The second
    /// time in one step, it waits a little: the site would go on for ever if a delegation that
    /// cannot be relied on lets the claim in each time.
    pub(super) fn claim_again(&mut self, id: CallId) {
        let Some(call) = self.core.calls.get(&id) else { return };
        let (name, spec) = (call.name.clone(), call.spec.clone());
        let (kind, no_wait) = (spec.kind(), self.core.no_wait.contains(&id));
        if !self.core.claimed_again.insert(id) {
            self.with_lock(&name, &kind, |lock, context| lock.leave(context, id));
            return self.core.place_later(id);
        }
        self.with_lock(&name, &kind, |lock, context| {
            lock.leave(context, id);
            lock.claim(context, CallerRequest { call: id, spec: &spec, no_wait, earlier: None });
        });
    }

    /// Announces the deadlines of our delegations: all of them to sites that have renewed their
    /// lease, and to the others those that have moved.
    pub(super) fn review_delegations(&mut self) {
        let renewed = std::mem::take(&mut self.core.delegations.renewed);
        let deadlines_moved = std::mem::take(&mut self.core.delegations.deadlines_moved);
        if self.core.delegations.given.is_empty() || (renewed.is_empty() && !deadlines_moved) {
            return;
        }
        for (to, delegations) in self.delegations_given() {
            let all = renewed.contains(&to);
            if all || deadlines_moved {
                self.send_delegations(to, delegations, all);
            }
        }
    }

    /// The delegations that others rely on, by receiver.
    fn delegations_given(&mut self) -> BTreeMap<SiteId, Vec<Given>> {
        let mut delegations: BTreeMap<SiteId, Vec<Given>> = BTreeMap::new();
        let (table, core, me) = (&self.table, &self.core, self.core.me());
        let mut over = Vec::new();
        for name in &core.delegations.given {
            let lock = table.get(name).map(|lock| &**lock);
            let given = lock.map(LockInstance::delegations).unwrap_or_default();
            if given.is_empty() {
                over.push(name.clone());
            }
            for (to, about) in given.into_iter().filter(|(to, _)| *to != me) {
                let lock = lock.expect("it has delegations");
                let basis = lock.delegation_basis(about);
                if let Some(until) = core.basis_valid_until(name, lock, &basis) {
                    let given = Given { name: name.clone(), about, until };
                    delegations.entry(to).or_default().push(given);
                }
            }
        }
        for name in over {
            self.core.delegations.given.remove(&name);
        }
        delegations
    }

    fn send_delegations(&mut self, to: SiteId, delegations: Vec<Given>, all: bool) {
        let least = self.core.config.terms.lease.twenty_fourth();
        let before = self.core.delegations.announced.remove(&to).unwrap_or_default();
        let (mut announcements, mut announced) = (Vec::new(), BTreeMap::new());
        for Given { name, about, until } in delegations {
            let key = (name, about);
            let known = before.get(&key).copied().unwrap_or_default();
            if !all && between(known, until) < least {
                announced.insert(key, known);
            } else if let Some(delegation) = self.core.delegation(to, about, until) {
                announcements.push((key.0.clone(), delegation));
                announced.insert(key, until);
            }
        }
        self.core.delegations.announced.insert(to, announced);
        for delegations in announcements.chunks(DELEGATIONS_MAX) {
            self.core.send(to, Half::Requester, SiteMessage::Delegations(delegations.to_vec()));
        }
    }
}
