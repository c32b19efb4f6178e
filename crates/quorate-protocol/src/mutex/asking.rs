//! The arbiter half when sessions end: who is gone, and where its permission may be.
//!
//! Specified by the site layer's note, sections 4 and 5.4. A lost holder may have handed the
//! permission on before it was lost, so those it could have handed it to are asked first.

use std::collections::BTreeSet;

use quorate_quorum::SiteId;

use super::arbiter::Arbiter;
use super::{Message, Mutex, Pass, Target};
use crate::{GrantNo, Out, SessionNo, Shared, Ticket};

/// The holder is lost; these may have the permission.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Asking {
    /// Those who have not answered.
    pending: BTreeSet<Ticket>,
    /// The highest loan that one of them may have been handed.
    upto: GrantNo,
}

impl Arbiter {
    /// The session of `client` here is over: what it was lent is ours again.
    pub(super) fn on_closed(&mut self, site: &mut Shared, client: SiteId, out: &mut Out<Mutex>) {
        let waited = self.waiting.remove_site(client);
        if self.lock.as_ref().is_some_and(|holder| holder.ticket.site == client) {
            self.lose_holder(site, out);
        } else if let Some(asking) = &mut self.asking {
            let asked = asking.pending.iter().any(|ticket| ticket.site == client);
            asking.pending.retain(|ticket| ticket.site != client);
            if asked {
                // It may have had the permission, and a fence above those skipped before we asked.
                // Scenario: `mutex/session_fences_of_a_lost_candidate`.
                site.skip_fences(out);
            }
            self.conclude(site, out);
        } else if waited {
            self.announce_head(out);
        } else {
            return out.ignore("it had nothing here");
        }
        self.advise(out);
    }

    /// The quarantine is over.
    pub(super) fn on_cleared(&mut self, site: &Shared, out: &mut Out<Mutex>) {
        assert!(self.lock.is_none(), "a restarted site lends nothing in its quarantine");
        self.lend_to_head(site, out);
        self.advise(out);
    }

    /// A request has the permission that was looked for.
    pub(super) fn on_have(&mut self, ticket: Ticket, number: GrantNo, out: &mut Out<Mutex>) {
        let asked = self.asking.as_ref().is_some_and(|asking| asking.pending.contains(&ticket));
        let Some(entry) = asked.then(|| self.waiting.remove(ticket)).flatten() else {
            return out.ignore("its whereabouts are known");
        };
        assert!(number > self.number, "a permission that was handed on has a higher number");
        self.lock = Some(entry);
        self.number = number;
        self.asking = None;
        self.address_holder(out);
        self.advise(out);
    }

    /// A request does not have the permission, and shall not count a loan up to `upto`.
    pub(super) fn on_lack(
        &mut self,
        site: &mut Shared,
        ticket: Ticket,
        upto: GrantNo,
        out: &mut Out<Mutex>,
    ) {
        if self.holds(ticket) && self.number <= upto {
            // Another had it, and passed it to this one, which had promised not to count it.
            let mut holder = self.lock.take().expect("it is the holder");
            holder.refuses = upto;
            self.waiting.insert(holder);
            self.lend_to_head(site, out);
            return self.advise(out);
        }
        match self.waiting.get_mut(ticket) {
            Some(entry) => entry.refuses = entry.refuses.max(upto),
            None => return out.ignore("the request is over already"),
        }
        self.stop_asking(site, ticket, out);
        self.advise(out);
    }

    /// A request cannot have the permission that is looked for.
    pub(super) fn stop_asking(&mut self, site: &mut Shared, ticket: Ticket, out: &mut Out<Mutex>) {
        if let Some(asking) = &mut self.asking {
            asking.pending.remove(&ticket);
            self.conclude(site, out);
        }
    }

    /// Goes on from a release that says more than the lost holder could.
    ///
    /// Loans are strictly one after another: if loan m was released, all below m are over.
    pub(super) fn follow_early(&mut self, site: &mut Shared, out: &mut Out<Mutex>) {
        let Some(asking) = self.asking.take() else { return };
        let Some((&number, release)) = self.early.first_key_value() else {
            self.asking = Some(asking);
            return;
        };
        let next = Target { ticket: release.ticket, session: SessionNo(0) };
        self.number = GrantNo { count: number.count - 1, ..number };
        self.follow(site, next.ticket.site, Some(Pass { next, rest: BTreeSet::new() }), out);
    }

    /// The permission was passed to a request that is not here any more: it gave up, or lost its
    /// session here, before or after the pass reached it. It may even have been inside.
    pub(super) fn miss_receiver(&mut self, site: &mut Shared, out: &mut Out<Mutex>) {
        // We never spoke to it as the holder.
        self.told.clear();
        site.skip_fences(out);
        self.look_for_permission(site, self.number, out);
    }

    /// Gives the holder up. It may have used any fence below our ceiling.
    fn lose_holder(&mut self, site: &mut Shared, out: &mut Out<Mutex>) {
        self.lock = None;
        site.skip_fences(out);
        // Also somebody who is not here any more may have been handed it.
        self.look_for_permission(site, self.number.next(), out);
    }

    /// Asks those who may have been handed the permission; loans up to `upto` at least are used up.
    fn look_for_permission(&mut self, site: &mut Shared, upto: GrantNo, out: &mut Out<Mutex>) {
        let pending = self.candidates();
        let upto = upto.max(self.number.plus(pending.len() as u64));
        self.advised = None;
        self.told.clear();
        if self.early.is_empty() {
            for &ticket in &pending {
                out.send(ticket.site, Message::Where { ticket, upto });
            }
        }
        self.asking = Some(Box::new(Asking { pending, upto }));
        self.follow_early(site, out);
        self.conclude(site, out);
    }

    /// Those who may have been handed the permission. In the basic algorithm the holder knew only
    /// what it was told; with 5.3 those it passed to may have known others.
    fn candidates(&self) -> BTreeSet<Ticket> {
        let all = self.options.ahead || self.options.lists;
        self.waiting.tickets().filter(|ticket| all || self.told.contains(ticket)).collect()
    }

    /// Lends again once nobody can have the permission.
    fn conclude(&mut self, site: &mut Shared, out: &mut Out<Mutex>) {
        if let Some(asking) = self.asking.take_if(|asking| asking.pending.is_empty()) {
            self.number = asking.upto;
            self.lend_to_head(site, out);
        }
    }
}
