//! The requests of a stage, and how long they take.

use std::time::Duration;

use super::Role;
use crate::{Fence, Tick, Ticket};

/// A request at a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) ticket: Ticket,
    pub(super) role: Role,
    /// The declared time and one round trip, because the stage learns of admission and exit that
    /// much later (A14).
    pub(super) cost: Duration,
    pub(super) admitted: Option<Admitted>,
    /// Whether its process must be told if it has to wait.
    pub(super) no_wait: bool,
}

/// When and with which fence a request was admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Admitted {
    pub(super) at: Tick,
    pub(super) fence: Fence,
}

impl Request {
    pub(super) fn is_exclusive(&self) -> bool {
        self.role == Role::Exclusive
    }

    /// When its declared time is over, if it is admitted.
    pub(super) fn end(&self) -> Option<Tick> {
        self.admitted.map(|admitted| admitted.at + self.cost)
    }

    fn waits(&self) -> bool {
        self.admitted.is_none()
    }
}

/// A list of requests in order of arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Requests(pub(super) Vec<Request>);

impl Requests {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, ticket: Ticket) -> Option<&Request> {
        self.0.iter().find(|request| request.ticket == ticket)
    }

    /// Removes the requests for which `which` is true; false if there was none.
    pub(super) fn remove(&mut self, which: impl Fn(Ticket) -> bool) -> bool {
        let before = self.0.len();
        self.0.retain(|request| !which(request.ticket));
        self.0.len() < before
    }

    /// The length of a stage with these requests: exclusive ones run one after the other, shared
    /// ones all at once beside them. It does not depend on the order of arrival (A11).
    pub(super) fn gtpo(&self) -> Duration {
        let (exclusive, shared): (Vec<&Request>, Vec<&Request>) =
            self.0.iter().partition(|request| request.is_exclusive());
        let exclusive = sum(exclusive.into_iter());
        let shared = shared.iter().map(|request| request.cost).max().unwrap_or_default();
        exclusive.max(shared)
    }

    /// The exclusive member.
    pub(super) fn exclusive(&self) -> Option<&Request> {
        self.0.iter().find(|request| request.is_exclusive() && !request.waits())
    }

    /// The index of the oldest pending exclusive request (A16).
    pub(super) fn oldest_pending(&self) -> Option<usize> {
        self.0.iter().position(|request| request.is_exclusive() && request.waits())
    }

    /// Removes and returns the pending exclusive requests.
    pub(super) fn take_pending(&mut self) -> Vec<Request> {
        let pending = |request: &Request| request.is_exclusive() && request.waits();
        let (taken, rest) = self.0.drain(..).partition(pending);
        self.0 = rest;
        taken
    }

    /// When a request accepted at `now` would end. An exclusive one begins when those before it
    /// have ended; finished members and elapsed time do not count (A13).
    pub(super) fn end_of(&self, now: Tick, role: Role, cost: Duration) -> Tick {
        match role {
            Role::Shared => now + cost,
            Role::Exclusive => self.free_at(now) + cost,
        }
    }

    /// When all accepted exclusive requests will have ended.
    fn free_at(&self, now: Tick) -> Tick {
        let rest = self.exclusive().and_then(Request::end).unwrap_or(now).max(now);
        let pending = self.0.iter().filter(|request| request.is_exclusive() && request.waits());
        rest + sum(pending)
    }
}

/// The total cost. It saturates, whatever a peer declares.
fn sum<'a>(requests: impl Iterator<Item = &'a Request>) -> Duration {
    let costs = requests.map(|request| request.cost);
    costs.fold(Duration::ZERO, Duration::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClaimId, SiteId};

    const FIGURE_5: [(Role, u64); 5] = [
        (Role::Exclusive, 3),
        (Role::Shared, 4),
        (Role::Exclusive, 4),
        (Role::Shared, 6),
        (Role::Shared, 8),
    ];

    fn list(order: &[(Role, u64)]) -> Requests {
        let request = |(place, &(role, ms)): (usize, &(Role, u64))| {
            let ticket = Ticket { time: place as u64, site: SiteId::new(0), claim: ClaimId(1) };
            Request {
                ticket,
                role,
                cost: Duration::from_millis(ms),
                admitted: None,
                no_wait: false,
            }
        };
        Requests(order.iter().enumerate().map(request).collect())
    }

    fn orders(rest: &[(Role, u64)]) -> Vec<Vec<(Role, u64)>> {
        if rest.is_empty() {
            return vec![vec![]];
        }
        let from = |place: usize| {
            let (mut rest, first) = (rest.to_vec(), rest[place]);
            rest.remove(place);
            orders(&rest).into_iter().map(move |order| [vec![first], order].concat())
        };
        (0..rest.len()).flat_map(from).collect()
    }

    /// The printed rule: an exclusive request adds its time, a shared one takes the maximum.
    fn printed(order: &[(Role, u64)]) -> u64 {
        order.iter().fold(0, |sum, &(role, ms)| match role {
            Role::Exclusive => sum + ms,
            Role::Shared => sum.max(ms),
        })
    }

    /// A11: the length of a stage does not depend on the order of arrival. By the printed rule it
    /// does, and is too long for most orders.
    #[test]
    fn the_length_of_a_stage_does_not_depend_on_the_order() {
        let orders = orders(&FIGURE_5);
        assert_eq!(orders.len(), 120);
        assert!(orders.iter().all(|order| list(order).gtpo() == Duration::from_millis(8)));
        let long = |ms| orders.iter().filter(|order| printed(order) == ms).count();
        assert_eq!((long(8), long(15)), (16, 40));
        assert!(orders.iter().all(|order| (8..=15).contains(&printed(order))));
    }
}
