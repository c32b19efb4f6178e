//! Claims that wait to be placed in the table of locks, and whose turn it is.
//!
//! A claim is placed when the streams to the other sites have room for its messages. Clients take
//! turns, and so do the names of one client: a client that makes many claims at once delays the
//! claims of others by its share. Only claims wait here. Callers that leave, breaks and deadlines
//! do not, and a caller that waits here keeps its deadline and its time.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use quorate_protocol::Tick;
use quorate_session::client::ClientId;
use quorate_session::{CallId, Name};

use super::Site;
use super::site_core::SiteCore;

/// The claims that wait to be placed.
#[derive(Clone, Debug, Default)]
pub(super) struct Admission {
    claims: BTreeMap<CallId, Unplaced>,
    clients: BTreeMap<ClientId, ClientQueue>,
    /// The client whose claim was placed last.
    last: Option<ClientId>,
    /// The claims whose turn does not come before then.
    later: BTreeSet<(Tick, CallId)>,
}

/// A claim that is not placed.
#[derive(Clone, Copy, Debug)]
struct Unplaced {
    client: ClientId,
    no_wait: bool,
    /// Its turn does not come before then, if there is such a time.
    not_before: Option<Tick>,
}

/// The claims of one client, by name. Those for one name are in the order in which they were made.
#[derive(Clone, Debug, Default)]
struct ClientQueue {
    claims: BTreeSet<(Name, CallId)>,
    /// The name for which a claim was placed last.
    last: Option<Name>,
}

impl Admission {
    /// A claim of a client waits to be placed. Later claims have higher numbers.
    pub(super) fn insert(&mut self, id: CallId, client: ClientId, name: Name, no_wait: bool) {
        self.claims.insert(id, Unplaced { client, no_wait, not_before: None });
        self.clients.entry(client).or_default().claims.insert((name, id));
    }

    /// The same, but its turn does not come before `when`.
    fn insert_later(&mut self, id: CallId, client: ClientId, no_wait: bool, when: Tick) {
        self.claims.insert(id, Unplaced { client, no_wait, not_before: Some(when) });
        self.later.insert((when, id));
    }

    /// Takes a claim whose time has come.
    fn take_due(&mut self, now: Tick) -> Option<(CallId, Unplaced)> {
        self.later.first().filter(|(when, _)| *when <= now)?;
        let (_, id) = self.later.pop_first()?;
        Some((id, self.claims.remove(&id)?))
    }

    /// A claim waits no more; false if it did not.
    pub(super) fn remove(&mut self, id: CallId, name: &Name) -> bool {
        let Some(Unplaced { client, not_before, .. }) = self.claims.remove(&id) else {
            return false;
        };
        if let Some(when) = not_before {
            return self.later.remove(&(when, id));
        }
        let queue = self.clients.get_mut(&client).expect("a claim that waits is in a queue");
        queue.claims.remove(&(name.clone(), id));
        if queue.claims.is_empty() {
            self.clients.remove(&client);
        }
        true
    }

    /// Whether this claim waits to be placed.
    pub(super) fn contains(&self, id: CallId) -> bool {
        self.claims.contains_key(&id)
    }

    /// Whether it is no claim's turn.
    fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }

    /// Takes the claim whose turn it is, and whether it is denied instead of queued.
    fn take_next(&mut self) -> Option<(CallId, bool)> {
        let after = self.last.map_or(Bound::Unbounded, Bound::Excluded);
        let mut later = self.clients.range_mut((after, Bound::Unbounded));
        let client = match later.next() {
            Some((client, _)) => *client,
            None => *self.clients.first_key_value()?.0,
        };
        self.last = Some(client);
        let queue = self.clients.get_mut(&client)?;
        let (name, id) = queue.next()?.clone();
        queue.last = Some(name.clone());
        let no_wait = self.claims.get(&id).is_some_and(|claim| claim.no_wait);
        self.remove(id, &name);
        Some((id, no_wait))
    }
}

impl ClientQueue {
    /// The first claim for the name after the last one.
    fn next(&self) -> Option<&(Name, CallId)> {
        let after = self.last.as_ref().map(|name| (name.clone(), CallId(u64::MAX)));
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.claims.range((after, Bound::Unbounded)).next().or_else(|| self.claims.first())
    }
}

impl Site {
    /// Places the claims whose turn it is: a few in each step, and only while the streams to the
    /// sites that answer have room. Each acknowledgement of such a site is a step; if a few are not
    /// enough, the site asks to be called again at once.
    pub(super) fn place_claims(&mut self) {
        self.core.queue_due();
        for _ in 0..self.core.config.claims_per_step {
            if !self.core.can_place() {
                return;
            }
            let Some((id, no_wait)) = self.core.admission.take_next() else { return };
            if no_wait {
                let name = self.core.calls[&id].name.clone();
                self.core.no_wait.insert((name, id));
            }
            self.place_claim(id);
        }
    }
}

impl SiteCore {
    /// A placed claim that has left its lock is placed again, a twenty-fourth of a lease later.
    pub(super) fn place_later(&mut self, id: CallId) {
        let (client, name) = (self.calls[&id].client, self.calls[&id].name.clone());
        let no_wait = self.no_wait.remove(&(name, id));
        let when = self.now + self.config.terms.lease.twenty_fourth();
        self.admission.insert_later(id, client, no_wait, when);
    }

    /// Claims whose time has come wait for their turn.
    fn queue_due(&mut self) {
        for _ in 0..self.locks_in_step {
            let Some((id, waiting)) = self.admission.take_due(self.now) else { return };
            let Unplaced { client, no_wait, .. } = waiting;
            self.admission.insert(id, client, self.calls[&id].name.clone(), no_wait);
        }
    }

    /// When the site wants to be called to place more claims: now, if any can be placed.
    pub(super) fn places_claims_at(&self) -> Option<Tick> {
        let later = self.admission.later.first().map(|(when, _)| *when);
        if self.can_place() { Some(self.now) } else { later }
    }

    /// Whether a claim waits that can be placed: the site has joined its cluster, is not about to
    /// stop, and every site that answers has room. A silent site is not waited for, and neither is
    /// one whose session is over: no claim depends on it.
    pub(super) fn can_place(&self) -> bool {
        if self.admission.is_empty() || !self.identity.has_begun() || self.is_draining() {
            return false;
        }
        !self.is_congested()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(claims: &[(u128, &str)]) -> Admission {
        let mut admission = Admission::default();
        for (place, (client, name)) in claims.iter().enumerate() {
            let name = name.parse().expect("a good name");
            admission.insert(CallId(place as u64), ClientId(*client), name, false);
        }
        admission
    }

    fn order(mut admission: Admission) -> Vec<u64> {
        std::iter::from_fn(|| admission.take_next()).map(|(id, _)| id.0).collect()
    }

    #[test]
    fn clients_take_turns_and_so_do_the_names_of_each() {
        let claims = [(1, "a"), (1, "a"), (1, "a"), (1, "b"), (2, "a"), (3, "a"), (3, "a")];
        let order = order(admission(&claims));
        let clients: Vec<u128> =
            order.iter().map(|id| claims[usize::try_from(*id).unwrap()].0).collect();
        assert_eq!(clients, [1, 2, 3, 1, 3, 1, 1]);
        let of = |client: u128, name: &str| -> Vec<u64> {
            let is_of = |id: &u64| claims[usize::try_from(*id).unwrap()] == (client, name);
            order.iter().copied().filter(is_of).collect()
        };
        assert_eq!(of(1, "a"), [0, 1, 2], "in the order in which they were made");
        let names = order.iter().filter(|id| **id < 4).position(|id| *id == 3);
        assert!(names < Some(2), "the other name is not behind all of the first");
    }

    #[test]
    fn a_claim_that_is_over_has_no_turn() {
        let mut admission = admission(&[(1, "a"), (1, "b"), (2, "a")]);
        assert!(admission.remove(CallId(2), &"a".parse().unwrap()));
        assert!(!admission.remove(CallId(2), &"a".parse().unwrap()));
        assert!(!admission.contains(CallId(2)) && admission.contains(CallId(0)));
        assert_eq!(order(admission).len(), 2);
    }
}
