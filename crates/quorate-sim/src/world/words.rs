//! Those who are inside on the word of a site, and when that word has run out.
//!
//! Who follows is valid no longer than the manager's right to let it in, and that no longer than
//! the session of the pivot which gave it (`docs/protocols/group.md`). Deadlines that are handed
//! down come before those they are made of; here time is only order, so a follower stops at the
//! latest moment it may: just before its giver does.

use quorate_protocol::{ClaimId, Input, Ticket, Why};
use quorate_quorum::SiteId;

use super::links::Fate;
use super::{Standpoint, World};
use crate::{Caller, Event, Observer, Subject, Warrant};

/// Somebody inside on the word of a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Believer {
    site: SiteId,
    claim: ClaimId,
    warrant: Warrant,
    /// Whether its own site has crashed. Its caller goes on until its deadline.
    ghost: bool,
}

impl<P: Subject> World<P> {
    /// Notes on whose word somebody has come in.
    pub(super) fn believe(&mut self, site: SiteId, claim: ClaimId, grant: &P::Grant) {
        if let Some(warrant) = P::warrant(grant) {
            self.believers.push(Believer { site, claim, warrant, ghost: false });
        }
    }

    /// Forgets somebody who has left.
    pub(super) fn disbelieve(&mut self, site: SiteId, claim: ClaimId) {
        self.believers.retain(|believer| (believer.site, believer.claim) != (site, claim));
    }

    /// Whether a word has run out before it arrived.
    pub(super) fn is_void(&self, grant: &P::Grant) -> bool {
        P::warrant(grant)
            .is_some_and(|warrant| !self.has_right(warrant) || self.lapsed.contains(&warrant.lead))
    }

    /// Whether the giver may let others join the pivot, in the session in which it was told so. If
    /// it has crashed, its word is good until its session is closed, or its quarantine is over.
    fn has_right(&self, Warrant { giver, lead, right }: Warrant) -> bool {
        let link = self.links.get(giver, lead.site);
        let node = &self.nodes[giver.index()];
        let crashed = !node.up || node.shared.quarantined;
        let open = match link.fate {
            Fate::Open | Fate::Orphaned => true,
            Fate::Lost => crashed,
            Fate::Closed | Fate::Opening => false,
        };
        giver == lead.site || (link.number == right && open)
    }

    /// The client has lost its session at the server: it may not let anybody join pivots there any
    /// more, and those it did let join have stopped.
    pub(super) fn end_right(&mut self, client: SiteId, server: SiteId, watch: &mut dyn Observer) {
        self.lapse(watch, |b| b.warrant.giver == client && b.warrant.lead.site == server);
    }

    /// The pivots of a site whose session is not over.
    pub(super) fn leads(&self, site: SiteId) -> Vec<Ticket> {
        let leads = self.nodes[site.index()].protocol.leads();
        leads.into_iter().map(|(lead, _)| lead).collect()
    }

    /// The session of these pivots has ended before its time: those who followed have stopped.
    /// Where it was closed, nobody should be left.
    pub(super) fn end_leads(&mut self, leads: &[Ticket], watch: &mut dyn Observer) {
        self.lapse(watch, |believer| leads.contains(&believer.warrant.lead));
        self.lapsed.extend(leads);
    }

    /// A site crashes: its callers go on, and so do those who follow its pivots.
    pub(super) fn haunt(&mut self, site: SiteId) {
        for believer in &mut self.believers {
            believer.ghost |= believer.site == site;
        }
        self.frozen.extend(self.nodes[site.index()].protocol.leads());
    }

    /// The server closes a session. If its client has crashed, it never saw it end, and neither did
    /// those who count on it.
    pub(super) fn end_ghosts(&mut self, client: SiteId, server: SiteId, watch: &mut dyn Observer) {
        self.end_right(client, server, watch);
        self.lapse(watch, |b| b.ghost && b.site == client && b.warrant.giver == server);
        self.thaw(|lead| lead.site == client, server, watch);
    }

    /// The quarantine of a site outlasts all it said and was told before it crashed.
    pub(super) fn end_former_life(&mut self, site: SiteId, watch: &mut dyn Observer) {
        self.lapse(watch, |b| b.ghost && (b.site == site || b.warrant.giver == site));
        let over: Vec<Ticket> =
            self.frozen.keys().copied().filter(|lead| lead.site == site).collect();
        self.frozen.retain(|lead, _| lead.site != site);
        self.end_leads(&over, watch);
        self.thaw(|_| true, site, watch);
    }

    /// One site less vouches for pivots of sites that have crashed.
    fn thaw(&mut self, which: impl Fn(&Ticket) -> bool, voucher: SiteId, watch: &mut dyn Observer) {
        let (quorums, mut over) = (&self.fixed.0.quorums, Vec::new());
        self.frozen.retain(|lead, sites| {
            let less = which(lead) && sites.remove(voucher);
            let ends = less && !P::carry(quorums, sites);
            over.extend(ends.then_some(*lead));
            !ends
        });
        self.end_leads(&over, watch);
    }

    /// Ends those whose word has run out. Their sites see to it like to anybody who leaves.
    fn lapse(&mut self, watch: &mut dyn Observer, over: impl Fn(&Believer) -> bool) {
        let (over, rest): (Vec<Believer>, _) =
            std::mem::take(&mut self.believers).into_iter().partition(over);
        self.believers = rest;
        // What their giver has said to itself in the action at hand is not theirs.
        let own = std::mem::take(&mut self.scratch.own);
        for Believer { site, claim, ghost, .. } in over {
            self.judge.on_leave(site, claim);
            if !ghost {
                self.inside -= 1;
                self.end(site, claim, watch);
                self.absorb(site, watch);
            }
        }
        self.scratch.own = own;
    }

    /// A caller is told that its grant is over, and its site that it has left.
    pub(super) fn end(&mut self, site: SiteId, claim: ClaimId, watch: &mut dyn Observer) {
        watch.see(1, &Event::Loses(Caller::of::<P>(site, claim), Why::NoWord));
        self.begin(site).claims.insert(claim, Standpoint::Lost);
        self.release_lost(site, claim, watch);
    }

    /// A caller that was told that its grant is over has stopped.
    pub(super) fn release_lost(&mut self, site: SiteId, claim: ClaimId, watch: &mut dyn Observer) {
        if let Err(violation) = self.step(site, 1, Input::Release(claim), watch) {
            self.judge.on_violation(site, violation);
        }
    }
}
