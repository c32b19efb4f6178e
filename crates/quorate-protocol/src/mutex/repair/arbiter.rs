//! The arbiter half when a session of one of its clients ends.
//!
//! A lost holder may have passed the permission on before it was lost. The arbiter asks every
//! candidate (`where`, answered by `have` or `lack`) before it lends again.

use std::collections::BTreeSet;

use quorate_quorum::SiteId;

use crate::mutex::arbiter::Arbiter;
use crate::mutex::{Message, Mutex, Pass, Target};
use crate::{Field, GrantNo, Out, SessionNo, Shared, Ticket, Violation};

/// The arbiter has lost its holder and asks the candidates which of them has the permission.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::mutex) struct HolderQuery {
    /// The candidates that have not answered.
    pub(in crate::mutex) pending: BTreeSet<Ticket>,
    /// The highest loan that one of them may have received.
    pub(in crate::mutex) upto: GrantNo,
}

impl Arbiter {
    /// The session of `client` here has ended: takes back what was lent in it.
    pub(in crate::mutex) fn on_closed(
        &mut self,
        site: &mut Shared,
        client: SiteId,
        out: &mut Out<Mutex>,
    ) {
        let waited = self.waiting.remove_site(client);
        if self.lock.as_ref().is_some_and(|holder| holder.ticket.site == client) {
            self.give_up_holder(site, out);
        } else if let Some(query) = &mut self.query {
            let asked = query.pending.iter().any(|ticket| ticket.site == client);
            query.pending.retain(|ticket| ticket.site != client);
            if asked {
                // It may have entered after the query began, with a fence above those skipped then.
                // Scenario: `mutex/session_fences_of_a_lost_candidate`.
                site.skip_fences(out);
            }
            self.finish_query(site, out);
        } else if waited {
            self.announce_head(out);
        } else {
            return out.ignore("it had nothing here");
        }
        self.announce_ahead(out);
    }

    /// The quarantine after a restart is over: lends.
    pub(in crate::mutex) fn on_cleared(&mut self, site: &Shared, out: &mut Out<Mutex>) {
        assert!(self.lock.is_none(), "I9: a restarted site lends nothing in its quarantine");
        self.lend_to_head(site, out);
        self.announce_ahead(out);
    }

    /// A candidate has the permission: it is the holder.
    pub(in crate::mutex) fn on_have(
        &mut self,
        site: &Shared,
        ticket: Ticket,
        number: GrantNo,
        out: &mut Out<Mutex>,
    ) -> Result<(), Violation> {
        let asked = self.query.as_ref().is_some_and(|query| query.pending.contains(&ticket));
        // I3: a loan made by a pass has a higher number.
        site.check(!asked || number > self.number, Field::Loan)?;
        if let Some(entry) = self.waiting.get_mut(ticket) {
            entry.asked = false;
        }
        let Some(entry) = asked.then(|| self.waiting.remove(ticket)).flatten() else {
            out.ignore("its whereabouts are known");
            return Ok(());
        };
        self.lock = Some(entry);
        self.number = number;
        self.query = None;
        self.inquire_or_announce(out);
        self.announce_ahead(out);
        Ok(())
    }

    /// A candidate does not have the permission, and refuses every loan up to `upto`.
    pub(in crate::mutex) fn on_lack(
        &mut self,
        site: &mut Shared,
        ticket: Ticket,
        upto: GrantNo,
        out: &mut Out<Mutex>,
    ) {
        if self.holds(ticket) && self.number <= upto {
            // Another candidate had it and passed it to this one, which had refused it by then.
            let mut holder = self.lock.take().expect("it is the holder");
            holder.refuses = upto;
            self.waiting.insert(holder);
            self.lend_to_head(site, out);
            return self.announce_ahead(out);
        }
        match self.waiting.get_mut(ticket) {
            Some(entry) => {
                entry.refuses = entry.refuses.max(upto);
                entry.asked = false;
            }
            None => return out.ignore("the request is over already"),
        }
        self.drop_candidate(site, ticket, out);
        self.announce_head(out);
        self.announce_ahead(out);
    }

    /// Removes a candidate that cannot have the permission.
    pub(in crate::mutex) fn drop_candidate(
        &mut self,
        site: &mut Shared,
        ticket: Ticket,
        out: &mut Out<Mutex>,
    ) {
        if let Some(query) = &mut self.query {
            query.pending.remove(&ticket);
            self.finish_query(site, out);
        }
    }

    /// Ends the query with the first stored release, if there is one.
    ///
    /// Loans are strictly one after another: if loan m was released, all below m are over.
    pub(in crate::mutex) fn follow_early_release(
        &mut self,
        site: &mut Shared,
        out: &mut Out<Mutex>,
    ) {
        let Some(query) = self.query.take() else { return };
        let Some((&number, release)) = self.early.first_key_value() else {
            self.query = Some(query);
            return;
        };
        let next = Target { ticket: release.ticket, session: SessionNo(0) };
        self.number = GrantNo { count: number.count.saturating_sub(1), ..number };
        self.follow_chain(site, next.ticket.site, Some(Pass { next, rest: BTreeSet::new() }), out);
    }

    /// The permission was passed to a request that is not here any more: it gave up, or its
    /// session here ended. It may have entered and passed the permission on.
    pub(in crate::mutex) fn on_missing_receiver(
        &mut self,
        site: &mut Shared,
        out: &mut Out<Mutex>,
    ) {
        self.announced.clear(); // nothing was announced to it as the holder
        site.skip_fences(out);
        self.start_query(site, self.number, out);
    }

    /// Takes the permission away from a lost holder, which may have used any fence below our
    /// ceiling and passed the permission on, even to a request that is not here any more.
    fn give_up_holder(&mut self, site: &mut Shared, out: &mut Out<Mutex>) {
        self.lock = None;
        site.skip_fences(out);
        self.start_query(site, self.number.next(), out);
    }

    /// Asks all candidates for the permission. Loans up to `upto` at least are used up.
    fn start_query(&mut self, site: &mut Shared, upto: GrantNo, out: &mut Out<Mutex>) {
        let pending = self.candidates();
        // Only with 5.3 a receiver knows its own successor, and may have passed the permission on.
        let passes = if self.knows_ahead() { pending.len() as u64 } else { 0 };
        let upto = upto.max(self.number.plus(passes));
        self.announced_ahead = None;
        self.announced.clear();
        if self.early.is_empty() {
            for &ticket in &pending {
                out.send(ticket.site, Message::Where { ticket, upto });
                self.waiting.get_mut(ticket).expect("a candidate waits").asked = true;
            }
        }
        self.query = Some(Box::new(HolderQuery { pending, upto }));
        self.follow_early_release(site, out);
        self.finish_query(site, out);
    }

    /// The requests that may have been passed the permission. In the basic algorithm the holder
    /// knew only those announced to it; with 5.3 the receivers of its passes may have known others.
    fn candidates(&self) -> BTreeSet<Ticket> {
        let all = self.knows_ahead();
        self.waiting.tickets().filter(|ticket| all || self.announced.contains(ticket)).collect()
    }

    fn knows_ahead(&self) -> bool {
        self.options.ahead || self.options.lists
    }

    /// Lends again once no candidate is left.
    fn finish_query(&mut self, site: &mut Shared, out: &mut Out<Mutex>) {
        if let Some(query) = self.query.take_if(|query| query.pending.is_empty()) {
            self.number = query.upto;
            self.lend_to_head(site, out);
        }
    }
}
