//! How a run ends: all faults are over, but sites that are down stay down, until nobody waits whose
//! quorum is up. Then they start too, until no claim is left.

use std::sync::Arc;

use quorate_protocol::Shared;
use quorate_quorum::{Arbiters, QuorumSystem, SiteId, SiteSet};
use quorate_session::{CallId, LockSpec, PoolSpec, RequestView, ResourceView};
use quorate_site::kinds::PoolProtocol;

use super::callers::Call;
use super::claim_kind::ClaimKind;
use super::disk_faults::Harm;
use super::event::Event;
use super::property::Left;
use super::run::{Due, Run, nanos};

/// So many leases after the last change nobody may wait whose quorum is up, and so many leases
/// after the end of all faults no claim may be left.
const BOUND: u64 = 30;

/// A lease is so many times as long as packets usually take, or no token can be made within it.
const PACKETS_PER_LEASE: u64 = 40;

impl Run<'_> {
    /// No more faults happen, and callers make no more claims; those that are inside leave soon.
    /// Sites that are down stay down for now.
    pub(super) fn settle(&mut self) {
        self.settled_at = Some(self.now);
        self.changed_at = self.now;
        if !(0..self.plan.quorums.n()).any(|site| self.is_down(site)) {
            return self.heal();
        }
        self.see(&Event::Recovers("all faults are over but those of sites that are down", None));
        self.end_faults();
        self.plan_in(self.lease / 2, Due::Inspect);
    }

    /// Sites that are down start.
    fn heal(&mut self) {
        self.healed_at = Some(self.now);
        self.see(&Event::Recovers("all faults are over", None));
        self.end_faults();
        self.plan_in(self.lease / 2, Due::Inspect);
    }

    fn end_faults(&mut self) {
        for place in 0..self.partitions.len() {
            self.unblock(place);
        }
        self.slow_packets = 0;
        self.stop_copied();
        for site in 0..self.plan.quorums.n() {
            self.nodes[site].end_slow_disk();
            self.resume(site);
            self.restart(site);
        }
        for place in 0..self.slots.len() {
            self.resume_client(self.slots[place].process);
            let host = self.clients[self.slots[place].process].host;
            if host.is_none_or(|host| !self.is_down(host)) {
                self.restart_client(place);
            }
        }
        for place in 0..self.calls.len() {
            if self.calls[place].is_inside() {
                let wait = self.chance.below(self.lease / 4);
                self.plan_in(wait, Due::Leave(CallId(place as u64)));
            }
        }
    }

    /// Checks whether anybody waits who need not.
    pub(super) fn inspect(&mut self) {
        match self.healed_at {
            Some(healed_at) => self.inspect_healed(self.now - healed_at),
            None => self.inspect_settled(self.now - self.changed_at),
        }
    }

    /// Whether a site is down until all faults are over.
    pub(super) fn stays_down(&self, place: usize) -> bool {
        self.settled_at.is_some() && self.healed_at.is_none() && self.is_down(place)
    }

    fn is_down(&self, place: usize) -> bool {
        self.nodes[place].site.is_none()
    }

    fn inspect_settled(&mut self, since: u64) {
        let up = self.sites_up();
        let waiting = self.calls.iter().filter(|call| call.is_waiting());
        let unserved = waiting.filter(|call| self.has_quorum(call, &up)).count();
        if unserved > 0 && since <= BOUND * self.lease {
            return self.plan_in(self.lease / 2, Due::Inspect);
        }
        if unserved > 0 && self.are_leases_too_short() {
            self.tally.unjudged = 1;
        } else if unserved > 0 {
            let left = self.left(&up);
            self.monitor.on_unserved(BOUND, &up, unserved, &left);
        }
        self.heal();
    }

    fn inspect_healed(&mut self, since: u64) {
        let left = self.left(&self.sites_up());
        self.quiet = if left.is_nothing() { self.quiet + 1 } else { 0 };
        if self.quiet == 3 {
            self.tally.settled_ns_max = since - self.lease;
            self.over = true;
        } else if since > BOUND * self.lease && left.waiting > 0 && self.are_leases_too_short() {
            self.tally.unjudged = 1;
            self.over = true;
        } else if since > BOUND * self.lease {
            self.monitor.on_stuck(BOUND, &left);
        } else {
            self.plan_in(self.lease / 2, Due::Inspect);
        }
    }

    /// Whether waits for a token have no bound: the lease of some site is too short for the packets
    /// of this run.
    ///
    /// A token is made in three messages and two writes, one after the other, and its lease runs
    /// from the first. In a shorter lease it is over before anybody can use it, and attempts
    /// that overlap spoil each other. What does not end is excused, and nothing else is.
    fn are_leases_too_short(&self) -> bool {
        let shortest = self.parameters.leases.iter().min().copied().unwrap_or_default();
        let tokens = self.plan.claims == ClaimKind::Token;
        tokens && nanos(shortest) < PACKETS_PER_LEASE * self.parameters.delay
    }

    /// The sites that can be relied on: they run, and with the disk they had.
    fn sites_up(&self) -> SiteSet {
        let up = |place: &usize| !self.is_down(*place) && self.nodes[*place].harm == Harm::None;
        (0..self.plan.quorums.n()).filter(up).map(SiteId::new).collect()
    }

    /// Whether these sites can serve a call at one of them: they contain a quorum for what it
    /// wants, and, while others are down, the majority that sites need to join their cluster.
    fn has_quorum(&self, call: &Call, up: &SiteSet) -> bool {
        let n = self.plan.quorums.n();
        let at = SiteId::new(self.clients[call.process].site % n);
        let joined = self.healed_at.is_some() || self.has_formed() && up.len() > n / 2;
        joined && up.contains(at) && self.is_quorum_for(call, up)
    }

    /// Whether these sites contain a quorum for a call, wherever it is.
    pub(super) fn is_quorum_for(&self, call: &Call, sites: &SiteSet) -> bool {
        let shared = Shared::new(SiteId::new(0), Arc::clone(&self.plan.quorums));
        shared.is_quorum_of(&*self.quorums_of(call), self.names[call.name].hash64(), sites)
    }

    /// The quorums of which a call needs one: those of the cluster, but for pools by arbiters.
    fn quorums_of(&self, call: &Call) -> Arc<dyn QuorumSystem> {
        let arbiters = self.plan.settings.pools == PoolProtocol::Arbiters;
        match &call.spec {
            LockSpec::Pool(PoolSpec { units, .. }) if arbiters => {
                let n = self.plan.quorums.n();
                let of_size = Arbiters::improved(n, units.of as usize).expect("the pool is small");
                let of_units = of_size.of(units.count as usize).expect("it has so many units");
                Arc::clone(of_units)
            }
            _ => Arc::clone(&self.plan.quorums),
        }
    }

    /// What is left of claims that `up` can serve.
    fn left(&self, up: &SiteSet) -> Left {
        let mut left = Left::default();
        // A site that is out keeps its callers waiting.
        let place = |call: &Call| self.clients[call.process].site;
        let counts = |call: &&Call| self.nodes[place(call)].harm == Harm::None;
        let mut unserved = Vec::new();
        for call in self.calls.iter().filter(counts) {
            if call.is_waiting() && !self.has_quorum(call, up) {
                unserved.push((place(call), &self.names[call.name]));
                continue;
            }
            left.waiting += usize::from(call.is_waiting());
            left.inside += usize::from(call.is_inside());
            left.leaving += usize::from(call.leaving);
        }
        for (place, node) in self.nodes.iter().enumerate() {
            let Some(site) = node.site.as_ref().filter(|_| node.harm == Harm::None) else {
                continue;
            };
            let site = site.site();
            let names = site.names().filter(|name| !unserved.contains(&(place, *name)));
            let views = names.filter_map(|name| site.show(name));
            left.known.extend(views.map(|view| (node.id, in_words(&view))));
        }
        left
    }
}

/// A resource as a site sees it, in short.
fn in_words(view: &ResourceView) -> String {
    let mut text = view.name.to_string();
    for RequestView { ticket, missing, .. } in &view.requests {
        text = format!("{text}, wants it with {ticket}, lacks {}", listed(missing));
    }
    if !view.lent.is_empty() {
        text = format!("{text}, lent to {}", listed(&view.lent));
    }
    if !view.queue.is_empty() {
        text = format!("{text}, queued {}", listed(&view.queue));
    }
    text
}

fn listed(things: &[impl ToString]) -> String {
    things.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
