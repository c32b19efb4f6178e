//! The arbiter half as a registrar: callers from inside register and leave, and sessions end.
//!
//! A registration counts only when every request that could enter without knowing of it is out of
//! the way: the borrower of the permission has acknowledged it, or has given the permission back
//! (L4). A restarted arbiter has forgotten its borrower, so it acknowledges nothing before its
//! quarantine is over.

use std::collections::BTreeSet;

use quorate_quorum::SiteId;

use super::arbiter::Arbiter;
use super::known::Change;
use super::{LedgerPool, Message, Try};
use crate::{Out, SessionNo, Shared, Ticket};

impl Arbiter {
    /// L4: a caller from inside registers here too.
    pub(super) fn on_register(
        &mut self,
        site: &Shared,
        ticket: Ticket,
        numbers: BTreeSet<u32>,
        out: &mut Out<LedgerPool>,
    ) {
        if self.journal.ledger.entries.contains_key(&ticket) {
            return out.ignore("the caller is registered already");
        }
        self.journal.change(site, Change::Join(ticket, numbers.clone()));
        if let Some(borrower) = self.lock {
            let session = site.session_of(ticket.site).expect("I1: a registrant has a session");
            let (of, version) = (borrower.of, self.journal.version());
            let joined = Message::Joined { of, about: ticket, numbers, session, version };
            out.send(of.ticket.site, joined);
        }
        self.pending.insert(ticket);
        if self.lock.is_none() && !site.quarantined {
            self.acknowledge_all(out);
        }
    }

    /// L4: the borrower knows of a registration. It may be of a session that is over: the caller
    /// can have registered again since.
    pub(super) fn on_ack(
        &mut self,
        site: &Shared,
        of: Try,
        about: Ticket,
        session: SessionNo,
        out: &mut Out<LedgerPool>,
    ) {
        let meant = self.is_lent_to(of) && site.session_of(about.site) == Some(session);
        if meant && self.pending.remove(&about) {
            out.send(about.site, Message::Registered { ticket: about });
        } else {
            out.ignore("the registration is over, or counts already");
        }
    }

    /// L5: a caller has left.
    pub(super) fn on_left(&mut self, site: &Shared, ticket: Ticket, out: &mut Out<LedgerPool>) {
        if !self.remove(site, ticket, false, out) {
            out.ignore("the caller is not registered");
        }
    }

    /// L7: the session of `client` here has ended. Its callers inside are not registered here any
    /// more, its request waits no longer, and what it borrowed is ours again.
    pub(super) fn on_closed(
        &mut self,
        site: &mut Shared,
        client: SiteId,
        out: &mut Out<LedgerPool>,
    ) {
        let had = self.is_remembered(client);
        let lent = self.lock.take_if(|borrower| borrower.of.ticket.site == client).is_some();
        self.waiting.retain(|ticket, _| ticket.site != client);
        let registered = self.journal.ledger.entries.keys().filter(|ticket| ticket.site == client);
        for ticket in registered.copied().collect::<Vec<_>>() {
            self.remove(site, ticket, true, out);
        }
        if lent {
            site.skip_fences(out);
            self.take_back(site, out);
        } else if !had {
            out.ignore("it had nothing here");
        }
    }

    /// The quarantine after a restart is over: nobody depends on what we lent before it.
    pub(super) fn on_cleared(&mut self, site: &Shared, out: &mut Out<LedgerPool>) {
        assert!(self.lock.is_none(), "I9: a restarted site lends nothing in its quarantine");
        self.take_back(site, out);
    }

    /// Acknowledges all registrations that wait for it.
    pub(super) fn acknowledge_all(&mut self, out: &mut Out<LedgerPool>) {
        for ticket in std::mem::take(&mut self.pending) {
            out.send(ticket.site, Message::Registered { ticket });
        }
    }

    /// Ends a registration, and tells the borrower. False if there is no such registration.
    fn remove(
        &mut self,
        site: &Shared,
        ticket: Ticket,
        closed: bool,
        out: &mut Out<LedgerPool>,
    ) -> bool {
        if !self.journal.ledger.entries.contains_key(&ticket) {
            return false;
        }
        self.journal.change(site, Change::Leave(ticket));
        self.pending.remove(&ticket);
        if let Some(borrower) = self.lock {
            let version = self.journal.version();
            let gone = Message::Gone { about: ticket, closed, version };
            out.send(borrower.of.ticket.site, gone);
        }
        true
    }

    fn is_remembered(&self, client: SiteId) -> bool {
        let mut tickets = self.lent().chain(self.waiting.keys().copied());
        tickets.any(|ticket| ticket.site == client)
    }
}
