//! Those who are inside on the word of a site, and when that word has run out.
//!
//! Who follows is valid no longer than the manager's right to let it in, and that no longer than the
//! session of the pivot which gave it (`docs/protocols/group.md`). Deadlines that are handed down
//! come before those they are made of; here time is only order, so a follower stops at the latest
//! moment it may: just before its giver does.

use std::sync::Arc;

use quorate_protocol::{ClaimId, Input, Ticket, Why};
use quorate_quorum::{SiteId, SiteSet};

use super::{Standpoint, World};
use crate::{Event, Observer, Subject, Word};

/// Somebody inside on the word of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Believer {
    site: SiteId,
    claim: ClaimId,
    word: Word,
    /// Those who vouched for the pivot when its site crashed: its session lasts as long as they do.
    frozen: Option<SiteSet>,
    /// Whether its own site has crashed. Its caller goes on until its deadline.
    ghost: bool,
}

impl Believer {
    fn is(&self, site: SiteId, claim: ClaimId) -> bool {
        (self.site, self.claim) == (site, claim)
    }
}

impl<P: Subject> World<P> {
    /// Notes on whose word somebody has come in.
    pub(super) fn believe(&mut self, site: SiteId, claim: ClaimId, grant: &P::Grant) {
        if let Some(word) = P::word(grant) {
            self.believers.push(Believer { site, claim, word, frozen: None, ghost: false });
        }
    }

    /// Forgets somebody who has left.
    pub(super) fn disbelieve(&mut self, site: SiteId, claim: ClaimId) {
        self.believers.retain(|believer| !believer.is(site, claim));
    }

    /// The client's site has lost its session at the server: it may not let anybody join pivots
    /// there any more, and those it did let join have stopped.
    pub(super) fn end_right(
        &mut self,
        client: SiteId,
        server: SiteId,
        watch: &mut impl Observer<P>,
    ) {
        self.lapse(watch, |b| b.word.giver == client && b.word.lead.site == server);
    }

    /// The pivots of a site that others follow and whose session is not over.
    pub(super) fn leads(&self, site: SiteId) -> Vec<Ticket> {
        let leads = self.believers.iter().map(|believer| believer.word.lead);
        leads.filter(|lead| lead.site == site && self.leads_still(*lead)).collect()
    }

    /// Those who followed one of these pivots stop if its session is over.
    pub(super) fn end_leads(&mut self, leads: &[Ticket], watch: &mut impl Observer<P>) {
        let over: Vec<Ticket> =
            leads.iter().copied().filter(|&lead| !self.leads_still(lead)).collect();
        self.lapse(watch, |believer| over.contains(&believer.word.lead));
    }

    fn leads_still(&self, lead: Ticket) -> bool {
        self.nodes[lead.site.index()].protocol.vouchers(lead).is_some()
    }

    /// A site crashes: its callers go on, and so do those who follow its pivots.
    pub(super) fn haunt(&mut self, site: SiteId) {
        let protocol = &self.nodes[site.index()].protocol;
        for believer in &mut self.believers {
            believer.ghost |= believer.site == site;
            if believer.word.lead.site == site {
                believer.frozen = protocol.vouchers(believer.word.lead);
            }
        }
    }

    /// The server closes a session. If its client has crashed, it never saw it end, and neither did
    /// those who count on it.
    pub(super) fn end_ghosts(
        &mut self,
        client: SiteId,
        server: SiteId,
        watch: &mut impl Observer<P>,
    ) {
        self.end_right(client, server, watch);
        self.lapse(watch, |b| b.ghost && b.site == client && b.word.giver == server);
        self.thaw(|b| b.word.lead.site == client, server, watch);
    }

    /// The quarantine of a site outlasts all it said and was told before it crashed.
    pub(super) fn end_former_life(&mut self, site: SiteId, watch: &mut impl Observer<P>) {
        self.lapse(watch, |b| b.ghost && (b.site == site || b.word.giver == site));
        self.lapse(watch, |b| b.frozen.is_some() && b.word.lead.site == site);
        self.thaw(|_| true, site, watch);
    }

    /// One site less vouches for pivots of sites that have crashed.
    fn thaw(
        &mut self,
        which: impl Fn(&Believer) -> bool,
        voucher: SiteId,
        watch: &mut impl Observer<P>,
    ) {
        for believer in self.believers.iter_mut().filter(|believer| which(believer)) {
            if let Some(frozen) = &mut believer.frozen {
                frozen.remove(voucher);
            }
        }
        let fixed = Arc::clone(&self.fixed.0);
        let over: Vec<(SiteId, ClaimId)> = self
            .believers
            .iter()
            .filter(|b| {
                let grant = self.judge.grant(b.site, b.claim).expect("a believer is inside");
                b.frozen.as_ref().is_some_and(|sites| !P::vouch(&fixed.1, grant, sites))
            })
            .map(|b| (b.site, b.claim))
            .collect();
        self.lapse(watch, |b| over.contains(&(b.site, b.claim)));
    }

    /// Ends those whose word has run out. Their sites see to it like to anybody who leaves.
    fn lapse(&mut self, watch: &mut impl Observer<P>, over: impl Fn(&Believer) -> bool) {
        let (over, rest) = std::mem::take(&mut self.believers).into_iter().partition(over);
        self.believers = rest;
        let over: Vec<Believer> = over;
        for Believer { site, claim, ghost, .. } in over {
            self.judge.on_leave(site, claim);
            if ghost {
                continue;
            }
            watch.see(1, &Event::Loses(site, claim, Why::NoWord));
            self.begin(site).claims.insert(claim, Standpoint::Lost);
            self.inside -= 1;
            if let Err(violation) = self.step(site, 1, Input::Release(claim), watch) {
                self.judge.on_violation(site, violation);
            }
            self.absorb(site, watch);
        }
    }
}
