//! The quorums of a simulated cluster: one system, or one for each number of units.

use std::fmt::Debug;
use std::sync::Arc;

use quorate_protocol::Shared;
use quorate_quorum::{Arbiters, Kind, QuorumSystem, SiteId, SiteSet, build};

/// A description of quorums, before it is known which protocol uses them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A construction, by its name, for so many sites.
    Kind(String, usize),
    /// A quorum for each site; a site without one cannot ask.
    Listed(Vec<Option<SiteSet>>),
    /// Quorums for each number of units, in lines like `h=2: 1 2 3`.
    ByUnits(String),
}

/// The quorums of a cluster, as far as they do not depend on the protocol.
pub trait Quorums: Clone + Debug + Send + Sync + 'static {
    /// The construction and its size, for people.
    fn name(&self) -> String;

    /// How many sites the cluster has.
    fn n(&self) -> usize;

    /// Whom `site` asks when all are up, if that does not depend on its claim.
    fn own(&self, site: SiteId) -> Option<SiteSet>;

    /// Whether `site` has a quorum to ask.
    fn may_ask(&self, site: SiteId) -> bool;

    /// The state that all locks of `site` share.
    fn shared(&self, site: SiteId) -> Shared;
}

impl Quorums for Arc<dyn QuorumSystem> {
    fn name(&self) -> String {
        (**self).name()
    }

    fn n(&self) -> usize {
        (**self).n()
    }

    fn own(&self, site: SiteId) -> Option<SiteSet> {
        self.pick_for(site, &SiteSet::full(self.n()))
    }

    fn may_ask(&self, site: SiteId) -> bool {
        self.own(site).is_some()
    }

    fn shared(&self, site: SiteId) -> Shared {
        Shared::new(site, Arc::clone(self))
    }
}

impl Quorums for Arc<Arbiters> {
    fn name(&self) -> String {
        (**self).name()
    }

    fn n(&self) -> usize {
        (**self).n()
    }

    fn own(&self, site: SiteId) -> Option<SiteSet> {
        let mut own =
            (1..=self.k()).map(|h| self.of(h).ok()?.pick_for(site, &SiteSet::full(self.n())));
        let first = own.next()?;
        if own.all(|other| other == first) { first } else { None }
    }

    fn may_ask(&self, site: SiteId) -> bool {
        let all = SiteSet::full(self.n());
        (1..=self.k()).all(|h| self.of(h).is_ok_and(|of| of.pick_for(site, &all).is_some()))
    }

    /// A pool has its own quorums; those of the cluster are for its other locks.
    fn shared(&self, site: SiteId) -> Shared {
        Shared::new(site, build(Kind::Majority, self.n()).expect("the cluster has sites"))
    }
}
