//! What all resources of one site have in common.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use quorate_quorum::{QuorumSystem, SiteId, SiteSet};

use crate::{Clock, Fence, Ticket};

/// What all resources of one site have in common: who it is, its Lamport clock, its fence floor
/// and the cluster's quorum system.
#[derive(Clone, Debug)]
pub struct Shared {
    site: SiteId,
    /// Stamps the site's tickets.
    pub clock: Clock,
    floor: Fence,
    quorums: Arc<dyn QuorumSystem>,
}

impl Shared {
    /// The beginnings of `site` in a cluster with these quorums.
    pub fn new(site: SiteId, quorums: Arc<dyn QuorumSystem>) -> Self {
        Self { site, clock: Clock::default(), floor: Fence(1), quorums }
    }

    /// The site itself.
    pub fn site(&self) -> SiteId {
        self.site
    }

    /// The sites whose permission this one asks for; none if it has no quorum.
    pub fn quorum(&self) -> Option<SiteSet> {
        self.quorums.pick_for(self.site, &SiteSet::full(self.quorums.n()))
    }

    /// The lowest fence that an entry with this site's permission may use.
    pub fn floor(&self) -> Fence {
        self.floor
    }

    /// Puts later entries above every fence below `floor`.
    pub fn raise_floor(&mut self, floor: Fence) {
        self.floor = self.floor.max(floor);
    }

    /// Takes note of a ticket seen in a message.
    pub fn observe(&mut self, ticket: Ticket) {
        self.clock.observe(ticket.time);
    }
}

// The quorum system is the same in all states of one run: it tells no two of them apart.
impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        (self.site, self.clock, self.floor) == (other.site, other.clock, other.floor)
    }
}

impl Eq for Shared {}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.site, self.clock, self.floor).hash(state);
    }
}
