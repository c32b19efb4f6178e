//! What a manager does with its vote, and whom it let in.

use std::collections::BTreeSet;

use super::Group;
use crate::{Fence, SessionNo, Shared, Ticket};

/// What a manager does with its vote; the names are the paper's, and the request in each is its
/// *sentok*.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Status {
    /// Nothing: nobody waits for it.
    #[default]
    Vacant,
    /// It is lent, and the holder is not known to be inside.
    WaitLock(Ticket),
    /// It is lent, and the holder was asked to give it back.
    WaitCancel(Ticket),
    /// The holder is inside as a pivot, and others may join it.
    Locked(Session),
    /// The pivot has left, and nobody else may join.
    Releasing(Session),
}

impl Status {
    /// The request that has the vote.
    pub(super) fn holder(&self) -> Option<Ticket> {
        match self {
            Status::Vacant => None,
            Status::WaitLock(holder) | Status::WaitCancel(holder) => Some(*holder),
            Status::Locked(session) | Status::Releasing(session) => Some(session.pivot),
        }
    }

    /// Whether the vote of `ticket` may be called back or given back: it is not known to be inside.
    pub(super) fn waits_for(&self, ticket: Ticket) -> bool {
        matches!(self, Status::WaitLock(holder) | Status::WaitCancel(holder) if *holder == ticket)
    }

    pub(super) fn session(&self) -> Option<&Session> {
        match self {
            Status::Locked(session) | Status::Releasing(session) => Some(session),
            _ => None,
        }
    }

    pub(super) fn session_mut(&mut self) -> Option<&mut Session> {
        match self {
            Status::Locked(session) | Status::Releasing(session) => Some(session),
            _ => None,
        }
    }
}

/// One occupation of the critical section, as one manager of its pivot's quorum sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Session {
    /// The request that opened it.
    pub(super) pivot: Ticket,
    pub(super) group: Group,
    pub(super) fence: Fence,
    /// The session of this site at the pivot's in which it may admit; see [`Session::right`].
    pub(super) right: Option<SessionNo>,
    /// Those it let in and that have not left; the paper's *using* without the pivot.
    pub(super) followers: BTreeSet<Ticket>,
}

impl Session {
    /// The session on which the manager's right to let others join rests, if it has it.
    ///
    /// Who joins is valid no longer than the pivot, and learns how long that is through our session
    /// at the pivot's site. When it ends, so does the right, and the pivot does not wait for us any
    /// more when it closes; so a right of a former session must never come back to life. While
    /// what we know of the pivot's time has run out, the right rests.
    pub(super) fn right(&self, site: &Shared) -> Option<SessionNo> {
        let open = |right: &SessionNo| site.session_at(self.pivot.site) == Some(*right);
        self.right.filter(open).filter(|_| site.is_assured(self.pivot))
    }
}

/// The followers of a pivot whose vote was taken back, because its session here is over. It may be
/// inside still, with the votes of others, and then so are they.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Apart {
    pub(super) followers: BTreeSet<Ticket>,
    /// Whether the pivot waits to hear that they have left.
    pub(super) asked: bool,
}
