//! Whoever's quorum is up is served. Once faults are over every claim ends, and nothing is left of
//! it anywhere.
//!
//! The promise of the site layer: no permission is lost for ever, and a claim whose site stays
//! connected to a quorum is served or given up, even if other sites stay down, and whoever else
//! waits for them. Only a claim without a quorum may wait for ever. The promise of a client: a
//! caller that left is acknowledged.

use quorate_quorum::{SiteId, SiteSet};

pub(super) const NAME: &str = "progress";

/// What is left of claims.
#[derive(Clone, Debug, Default)]
pub(in crate::cluster) struct Left {
    /// How many callers wait, and how many are inside.
    pub(in crate::cluster) waiting: usize,
    pub(in crate::cluster) inside: usize,
    /// How many have left without an acknowledgement.
    pub(in crate::cluster) leaving: usize,
    /// Locks that a site knows of, each with its description.
    pub(in crate::cluster) known: Vec<(SiteId, String)>,
}

impl Left {
    pub(in crate::cluster) fn is_nothing(&self) -> bool {
        self.waiting + self.inside + self.leaving == 0 && self.known.is_empty()
    }
}

pub(super) fn of_unserved(leases: u64, up: &SiteSet, unserved: usize, left: &Left) -> String {
    format!(
        "{leases} leases after the last change {unserved} callers wait though {up} are up and \
         contain a quorum for them{}",
        of_known(left)
    )
}

pub(super) fn of_stuck(leases: u64, left: &Left) -> String {
    let Left { waiting, inside, leaving, .. } = left;
    format!(
        "{leases} leases after the faults {waiting} callers wait, {inside} are inside and \
         {leaving} leave"
    ) + &of_known(left)
}

fn of_known(left: &Left) -> String {
    left.known.iter().fold(String::new(), |text, (site, what)| format!("{text}; {site} has {what}"))
}
