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
use std::ops::Bound;

use quorate_protocol::{ClaimId, Tick, Ticket, ValidityBasis, Why};
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

/// No ticket is before it.
fn first_ticket() -> Ticket {
    Ticket { time: 0, site: SiteId::new(0), claim: ClaimId(0) }
}

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
    /// The review of those given, if one goes on.
    round: Option<Round>,
}

/// A review of the delegations given, a few locks in each step.
#[derive(Clone, Debug)]
struct Round {
    /// The lock that was looked at last.
    after: Option<Name>,
    /// The sites that had renewed their lease when it began.
    renewed: BTreeSet<SiteId>,
    /// Whether our deadlines may have moved before it began.
    deadlines_moved: bool,
}

/// A delegation that we have received.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Received {
    from: SiteId,
    name: Name,
    about: Ticket,
}

impl Delegations {
    /// Whether others rely on us.
    pub(super) fn are_given(&self) -> bool {
        !self.given.is_empty()
    }

    /// Whether a review of those given goes on.
    pub(super) fn are_reviewed(&self) -> bool {
        self.round.is_some()
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

    /// Takes the delegations of other sites about a lock that have expired, if there are any.
    fn take_expired_of(&mut self, now: Tick, n: usize, name: &Name) -> Vec<Received> {
        let mut expired = Vec::new();
        if self.due.first().is_none_or(|(when, _)| *when > now) {
            return expired;
        }
        for from in SiteId::all(n) {
            let first = Received { from, name: name.clone(), about: first_ticket() };
            let of_lock = self.received.range(first..);
            let of_lock = of_lock.take_while(|(one, _)| one.from == from && one.name == *name);
            expired.extend(of_lock.filter(|(_, until)| **until <= now).map(|(one, _)| one.clone()));
        }
        for one in &expired {
            let until = self.received.remove(one).expect("it was found above");
            self.due.remove(&(until, one.clone()));
        }
        expired
    }

    /// The review that goes on, or begins.
    fn next_round(&mut self) -> Option<Round> {
        let begins = !self.given.is_empty() && (!self.renewed.is_empty() || self.deadlines_moved);
        if self.round.is_none() {
            let renewed = std::mem::take(&mut self.renewed);
            let deadlines_moved = std::mem::take(&mut self.deadlines_moved);
            self.round = begins.then_some(Round { after: None, renewed, deadlines_moved });
        }
        self.round.take()
    }

    fn forget_announced(&mut self, to: SiteId, key: &(Name, Ticket)) {
        if let Some(announced) = self.announced.get_mut(&to) {
            announced.remove(key);
        }
    }

    /// Forgets what was announced about a lock and does not last.
    fn retain_announced(&mut self, name: &Name, lasts: impl Fn(SiteId, Ticket) -> bool) {
        for (to, announced) in &mut self.announced {
            let of_lock = announced.range((name.clone(), first_ticket())..);
            let of_lock = of_lock.map(|(key, _)| key).take_while(|(other, _)| other == name);
            let over = of_lock.filter(|(_, about)| !lasts(*to, *about)).cloned();
            for key in over.collect::<Vec<_>>() {
                announced.remove(&key);
            }
        }
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
        for _ in 0..self.core.locks_in_step {
            let now = self.core.now;
            let Some(expired) = self.core.delegations.pop_expired(now) else { break };
            self.tell_first(&expired.name);
            self.on_delegation_expired(&expired);
        }
        if std::mem::take(&mut self.core.delegations.support_lost) {
            // Grants by delegation have deadlines of their own, so all of them are among these.
            self.core.review.begin_round();
            self.review_degraded();
        }
        self.settle();
    }

    /// Ends what depends on the expired delegations about a lock, which is about to act; false if
    /// there are none. Those of other locks may have to wait for the next step.
    pub(super) fn expire_delegations_of(&mut self, name: &Name) -> bool {
        let (now, n) = (self.core.now, self.core.config.quorums.n());
        let expired = self.core.delegations.take_expired_of(now, n, name);
        for expired in &expired {
            self.on_delegation_expired(expired);
        }
        !expired.is_empty()
    }

    fn on_delegation_expired(&mut self, expired: &Received) {
        let Received { from, name, about } = expired;
        if about.site == *from {
            self.core.shared.delegated.get_or_insert_default().remove(about);
            self.core.delegations.support_lost = true;
            return;
        }
        let lock = self.table.get(name);
        if let Some(call) = lock.and_then(|lock| lock.inside_by_delegation(*from, *about)) {
            self.lose_delegated(call);
        }
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
        let (kind, no_wait) = (spec.kind(), self.core.is_no_wait(&name, id));
        if !self.core.claimed_again.insert(id) {
            self.with_lock(&name, &kind, |lock, context| lock.leave(context, id));
            return self.core.place_later(id);
        }
        self.with_lock(&name, &kind, |lock, context| {
            lock.leave(context, id);
            lock.claim(context, CallerRequest { call: id, spec: &spec, no_wait, earlier: None });
        });
    }

    /// Announces the deadlines of our delegations, those of a few locks in each step: all of them
    /// to sites that have renewed their lease, and to the others those that have moved.
    pub(super) fn review_delegations(&mut self) {
        let Some(mut round) = self.core.delegations.next_round() else { return };
        let after = round.after.take().map_or(Bound::Unbounded, Bound::Excluded);
        let given = self.core.delegations.given.range((after, Bound::Unbounded)).cloned();
        let most = self.core.locks_in_step;
        let names: Vec<Name> = given.take(most).collect();
        let mut announcements: BTreeMap<SiteId, Vec<(Name, Delegation)>> = BTreeMap::new();
        for name in &names {
            self.review_given(name, &round, &mut announcements);
        }
        for (to, delegations) in announcements {
            for delegations in delegations.chunks(DELEGATIONS_MAX) {
                self.core.send(to, Half::Requester, SiteMessage::Delegations(delegations.to_vec()));
            }
        }
        if names.len() == most {
            round.after = names.into_iter().next_back();
            self.core.delegations.round = Some(round);
        }
    }

    /// Looks at the delegations about one lock.
    fn review_given(
        &mut self,
        name: &Name,
        round: &Round,
        announcements: &mut BTreeMap<SiteId, Vec<(Name, Delegation)>>,
    ) {
        let least = self.core.config.terms.lease.twenty_fourth();
        let given = self.delegations_given(name);
        for (to, about, until) in &given {
            let (to, about, until) = (*to, *about, *until);
            let announced = self.core.delegations.announced.entry(to).or_default();
            let key = (name.clone(), about);
            let known = announced.get(&key).copied().unwrap_or_default();
            let moved = round.deadlines_moved && between(known, until) >= least;
            if !round.renewed.contains(&to) && !moved {
                continue;
            }
            match self.core.delegation(to, about, until) {
                Some(delegation) => {
                    let announced = self.core.delegations.announced.entry(to).or_default();
                    announced.insert(key, until);
                    announcements.entry(to).or_default().push((name.clone(), delegation));
                }
                None => self.core.delegations.forget_announced(to, &key),
            }
        }
        let lasts = |to, about| given.iter().any(|given| (given.0, given.1) == (to, about));
        self.core.delegations.retain_announced(name, lasts);
    }

    /// The delegations about a lock that others rely on: the receiver, the request, and the
    /// deadline.
    fn delegations_given(&mut self, name: &Name) -> Vec<(SiteId, Ticket, Tick)> {
        let (core, me) = (&self.core, self.core.me());
        let lock = self.table.get(name);
        let given = lock.map(LockInstance::delegations).unwrap_or_default();
        if given.is_empty() {
            self.core.delegations.given.remove(name);
            return Vec::new();
        }
        let lock = lock.expect("it has delegations");
        let until = |about| core.basis_valid_until(name, lock, &lock.delegation_basis(about));
        let others = given.into_iter().filter(|(to, _)| *to != me);
        others.filter_map(|(to, about)| Some((to, about, until(about)?))).collect()
    }
}
