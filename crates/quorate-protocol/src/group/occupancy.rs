//! What a manager's vote is used for, and whom the manager admitted.

use std::collections::BTreeSet;

use super::Group;
use crate::{Fence, SessionNo, Shared, Ticket};

/// The state of a manager's vote; the paper's *status*. The request in each variant is its
/// *sentok*.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Status {
    /// The vote is free.
    #[default]
    Vacant,
    /// The vote is lent, and the holder is not known to be inside.
    WaitLock(Ticket),
    /// The vote is lent, and the holder was asked to give it back.
    WaitCancel(Ticket),
    /// The holder is inside as a pivot, and compatible requests may join it.
    Locked(Occupancy),
    /// The pivot has left, and no further request may join.
    Releasing(Occupancy),
}

impl Status {
    /// The request that holds the vote.
    pub(super) fn holder(&self) -> Option<Ticket> {
        match self {
            Status::Vacant => None,
            Status::WaitLock(holder) | Status::WaitCancel(holder) => Some(*holder),
            Status::Locked(occupancy) | Status::Releasing(occupancy) => Some(occupancy.pivot),
        }
    }

    /// Whether `ticket` holds the vote and has not sent its Lock.
    pub(super) fn awaits_lock_of(&self, ticket: Ticket) -> bool {
        matches!(self, Status::WaitLock(holder) | Status::WaitCancel(holder) if *holder == ticket)
    }

    pub(super) fn occupancy(&self) -> Option<&Occupancy> {
        match self {
            Status::Locked(occupancy) | Status::Releasing(occupancy) => Some(occupancy),
            _ => None,
        }
    }

    pub(super) fn occupancy_mut(&mut self) -> Option<&mut Occupancy> {
        match self {
            Status::Locked(occupancy) | Status::Releasing(occupancy) => Some(occupancy),
            _ => None,
        }
    }
}

/// One group's stay in the critical section, as seen by one manager of its pivot's quorum.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Occupancy {
    /// The request that opened it.
    pub(super) pivot: Ticket,
    pub(super) group: Group,
    pub(super) fence: Fence,
    /// Our session at the pivot's site in which we may admit; see [`Occupancy::right`].
    pub(super) right: Option<SessionNo>,
    /// The requests we admitted that have not left; the paper's *using* without the pivot.
    pub(super) followers: BTreeSet<Ticket>,
}

impl Occupancy {
    /// The session that the manager's right to admit is bound to, if the right is in force.
    ///
    /// A follower is valid only as long as the pivot is, and the pivot's deadline reaches us
    /// through our session at its site. When that session ends, the right ends, and the pivot no
    /// longer waits for us when it closes. So the right of an ended session must never revive.
    /// While the pivot's delegation is expired, the right is suspended.
    pub(super) fn right(&self, site: &Shared) -> Option<SessionNo> {
        let open = |right: &SessionNo| site.session_at(self.pivot.site) == Some(*right);
        self.right.filter(open).filter(|_| site.is_delegation_valid(self.pivot))
    }
}

/// The followers of a pivot whose vote was taken back because its session here is over. With the
/// votes of other managers the pivot may still be inside, and then so are its followers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct DetachedFollowers {
    pub(super) followers: BTreeSet<Ticket>,
    /// Whether the pivot has sent Release and waits for our Finished.
    pub(super) asked: bool,
}
