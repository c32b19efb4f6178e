//! The end of a session: its pivot has left, and waits until all who joined it have left too.
//!
//! A record of its own, addressed by the pivot's ticket, and independent of whatever its site asks
//! for next (E1). The pivot's site must hear from its managers until it is over.

use quorate_quorum::{SiteId, SiteSet};

use super::request::{Lead, Request};
use super::{GroupLock, Message};
use crate::{Out, Shared, Ticket};

/// A session whose pivot has left.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Closing {
    pub(super) ticket: Ticket,
    /// The managers whose vote it has. While they contain a quorum, all who joined are valid.
    pub(super) votes: SiteSet,
    /// The managers that may still have followers; the paper's Q without K.
    pub(super) pending: SiteSet,
}

impl Closing {
    /// Leaves, and asks all managers whether anybody is left.
    ///
    /// **Deviation.** A manager whose vote was lost, but whose right to admit was not, is asked
    /// too: those it let join may be inside. Scenario: `group/session_closing_set`.
    pub(super) fn of(
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

    /// Whether everybody has left; then all managers are told.
    pub(super) fn is_over(&self, out: &mut Out<GroupLock>) -> bool {
        let over = self.pending.is_empty();
        if over {
            self.end(out);
        }
        over
    }

    /// Gives all votes back.
    pub(super) fn end(&self, out: &mut Out<GroupLock>) {
        for manager in self.votes.iter() {
            out.send(manager, Message::Over { ticket: self.ticket });
        }
    }

    /// Our session at `peer` is over, and with it its vote; true if that is the end of all who
    /// joined, because too few vouch for them.
    pub(super) fn loses(&mut self, site: &Shared, peer: SiteId) -> bool {
        self.votes.remove(peer);
        let counted = self.votes.iter().filter(|&manager| site.session_at(manager).is_some());
        !site.is_quorum(&counted.collect())
    }
}
