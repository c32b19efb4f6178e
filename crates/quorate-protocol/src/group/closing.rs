//! Closing an occupancy: its pivot has left and waits until all followers have left too.
//!
//! The record is separate from the requests of the site and is found by the pivot's ticket (E1).
//! The pivot's site must stay in contact with its managers until the occupancy is over.

use quorate_quorum::{SiteId, SiteSet};

use super::request::{Lead, Request};
use super::{GroupLock, Message};
use crate::{Out, Shared, Ticket};

/// An occupancy whose pivot has left.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Closing {
    pub(super) ticket: Ticket,
    /// The managers whose vote the pivot holds. Followers are valid while these contain a quorum.
    pub(super) votes: SiteSet,
    /// The managers that may still have followers inside; the paper's Q without K.
    pub(super) pending: SiteSet,
}

impl Closing {
    /// Figure 1(a), exit after entering by OK: sends Release to all managers.
    ///
    /// **Deviation.** A manager whose vote was lost, but whose right to admit was not, is asked
    /// too: its followers may be inside. Scenario: `group/session_closing_set`.
    pub(super) fn start(
        request: &Request,
        lead: Lead,
        site: &Shared,
        out: &mut Out<GroupLock>,
    ) -> Self {
        let (ticket, votes) = (request.ticket, request.held());
        for manager in request.missing() {
            out.send(manager, Message::NoNeed { ticket });
        }
        let mut asked = votes.clone();
        asked.extend_from(&lead.admitting);
        for manager in asked.iter().filter(|&manager| site.session_at(manager).is_some()) {
            out.send(manager, Message::Release { ticket });
        }
        Self { ticket, votes, pending: lead.admitting }
    }

    /// Sends Over if no manager is pending any more; true if it did.
    pub(super) fn end_if_finished(&self, out: &mut Out<GroupLock>) -> bool {
        let finished = self.pending.is_empty();
        if finished {
            self.send_over(out);
        }
        finished
    }

    /// Returns all votes.
    pub(super) fn send_over(&self, out: &mut Out<GroupLock>) {
        for manager in self.votes.iter() {
            out.send(manager, Message::Over { ticket: self.ticket });
        }
    }

    /// Drops the vote of `peer`, our session at which is over. True if the votes left contain no
    /// quorum: all followers have stopped then.
    pub(super) fn lose_vote(&mut self, site: &Shared, peer: SiteId) -> bool {
        self.votes.remove(peer);
        let counted = self.votes.iter().filter(|&manager| site.session_at(manager).is_some());
        !site.is_quorum(&counted.collect())
    }
}
