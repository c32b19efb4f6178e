//! Holders that are inside by delegation, and when their delegations expire.
//!
//! A follower's grant is valid no longer than the manager's right to admit it, and that right no
//! longer than the session in which the pivot gave it (`docs/protocols/group.md`). A deadline that
//! is handed on comes before those it is made of. Here time is only order, so a follower stops at
//! the latest moment it may: just before its giver does.

use quorate_protocol::{ClaimId, Input, Ticket, Why};
use quorate_quorum::SiteId;

use super::links::LinkState;
use super::{ClaimState, World};
use crate::{Caller, Delegation, Event, Observer, SimProtocol};

/// A claim that is inside by a delegation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct DelegatedHolder {
    site: SiteId,
    claim: ClaimId,
    delegation: Delegation,
    /// Whether its own site has crashed. Its caller goes on until its deadline.
    site_crashed: bool,
}

impl<P: SimProtocol> World<P> {
    /// Notes the delegation of a grant, if it has one.
    pub(super) fn add_delegated_holder(&mut self, site: SiteId, claim: ClaimId, grant: &P::Grant) {
        if let Some(delegation) = P::delegation(grant) {
            let holder = DelegatedHolder { site, claim, delegation, site_crashed: false };
            self.delegated_holders.push(holder);
        }
    }

    /// Forgets a claim that has left.
    pub(super) fn remove_delegated_holder(&mut self, site: SiteId, claim: ClaimId) {
        self.delegated_holders.retain(|holder| (holder.site, holder.claim) != (site, claim));
    }

    /// Whether a delegation expired before it arrived.
    pub(super) fn is_expired(&self, grant: &P::Grant) -> bool {
        P::delegation(grant).is_some_and(|delegation| {
            !self.has_right(delegation) || self.expired_roots.contains(&delegation.root)
        })
    }

    /// Whether the giver may admit others, by the session in which it got the right. If it has
    /// crashed, its delegations are valid until its session is closed or its quarantine is over.
    fn has_right(&self, Delegation { giver, root, right }: Delegation) -> bool {
        let link = self.links.get(giver, root.site);
        let node = &self.nodes[giver.index()];
        let crashed = !node.up || node.shared.quarantined;
        let open = match link.state {
            LinkState::Open | LinkState::Orphaned => true,
            LinkState::Lost => crashed,
            LinkState::Closed | LinkState::Opening => false,
        };
        giver == root.site || (link.number == right && open)
    }

    /// The client has lost its session at the server: it may not admit anybody any more by what
    /// the server told it, and those it admitted have stopped.
    pub(super) fn expire_rights(
        &mut self,
        client: SiteId,
        server: SiteId,
        watch: &mut dyn Observer,
    ) {
        self.expire_holders(watch, |DelegatedHolder { delegation, .. }| {
            delegation.giver == client && delegation.root.site == server
        });
    }

    /// The requests of a site by which others may be inside.
    pub(super) fn roots(&self, site: SiteId) -> Vec<Ticket> {
        let roots = self.nodes[site.index()].protocol.delegation_roots();
        roots.into_iter().map(|(root, _)| root).collect()
    }

    /// These requests have lost their quorums: those who followed have stopped.
    pub(super) fn expire_roots(&mut self, roots: &[Ticket], watch: &mut dyn Observer) {
        self.expire_holders(watch, |holder| roots.contains(&holder.delegation.root));
        self.expired_roots.extend(roots);
    }

    /// A site crashes: its callers go on, and so do those who follow its requests.
    pub(super) fn keep_delegations_of_crashed(&mut self, site: SiteId) {
        for holder in &mut self.delegated_holders {
            holder.site_crashed |= holder.site == site;
        }
        self.crashed_roots.extend(self.nodes[site.index()].protocol.delegation_roots());
    }

    /// The server closes a session. If its client has crashed, neither the client nor those who
    /// depend on it saw the session end.
    pub(super) fn expire_delegations_of_closed(
        &mut self,
        client: SiteId,
        server: SiteId,
        watch: &mut dyn Observer,
    ) {
        self.expire_rights(client, server, watch);
        self.expire_holders(watch, |holder| {
            holder.site_crashed && holder.site == client && holder.delegation.giver == server
        });
        self.remove_supporter(server, |root| root.site == client, watch);
    }

    /// The quarantine of a site outlasts every delegation that it gave or got before it crashed.
    pub(super) fn expire_delegations_of_past_life(
        &mut self,
        site: SiteId,
        watch: &mut dyn Observer,
    ) {
        self.expire_holders(watch, |holder| {
            holder.site_crashed && (holder.site == site || holder.delegation.giver == site)
        });
        let over: Vec<Ticket> =
            self.crashed_roots.keys().copied().filter(|root| root.site == site).collect();
        self.crashed_roots.retain(|root, _| root.site != site);
        self.expire_roots(&over, watch);
        self.remove_supporter(site, |_| true, watch);
    }

    /// A site supports these requests of crashed sites no longer.
    fn remove_supporter(
        &mut self,
        supporter: SiteId,
        is_meant: impl Fn(&Ticket) -> bool,
        watch: &mut dyn Observer,
    ) {
        let (quorums, mut over) = (&self.fixed.0.quorums, Vec::new());
        self.crashed_roots.retain(|root, sites| {
            let less = is_meant(root) && sites.remove(supporter);
            let ends = less && !P::can_delegate(quorums, sites);
            over.extend(ends.then_some(*root));
            !ends
        });
        self.expire_roots(&over, watch);
    }

    /// Ends holders whose delegations have expired. Their sites handle it like a release.
    fn expire_holders(
        &mut self,
        watch: &mut dyn Observer,
        is_over: impl Fn(&DelegatedHolder) -> bool,
    ) {
        let (over, rest): (Vec<DelegatedHolder>, _) =
            std::mem::take(&mut self.delegated_holders).into_iter().partition(is_over);
        self.delegated_holders = rest;
        // Messages that the giver sent to itself in the action at hand are not theirs.
        let own = std::mem::take(&mut self.scratch.own);
        for DelegatedHolder { site, claim, site_crashed, .. } in over {
            self.monitor.on_leave(site, claim);
            if !site_crashed {
                self.inside -= 1;
                self.lose_delegated(site, claim, watch);
                self.absorb(site, watch);
            }
        }
        self.scratch.own = own;
    }

    /// A caller loses its grant, and its site learns that it has left.
    pub(super) fn lose_delegated(
        &mut self,
        site: SiteId,
        claim: ClaimId,
        watch: &mut dyn Observer,
    ) {
        watch.see(1, &Event::Loses(Caller::of::<P>(site, claim), Why::DelegationExpired));
        self.begin(site).claims.insert(claim, ClaimState::Lost);
        self.release_lost(site, claim, watch);
    }

    /// A caller that lost its grant has stopped.
    pub(super) fn release_lost(&mut self, site: SiteId, claim: ClaimId, watch: &mut dyn Observer) {
        if let Err(violation) = self.step(site, 1, Input::Release(claim), watch) {
            self.monitor.on_violation(site, violation);
        }
    }
}
