//! Once faults are over every claim of a live site ends, and nothing is left of it anywhere.
//!
//! The site layer's promise: no permission is lost for ever, and a claim whose site stays
//! connected to a quorum is served or was given up.

use quorate_quorum::SiteId;

pub(super) const NAME: &str = "progress";

/// What is left of claims.
#[derive(Clone, Debug, Default)]
pub(in crate::cluster) struct Left {
    /// How many callers wait, and how many are inside.
    pub(in crate::cluster) waiting: usize,
    pub(in crate::cluster) inside: usize,
    /// Resources that a site knows of, each with what it says of it.
    pub(in crate::cluster) known: Vec<(SiteId, String)>,
}

impl Left {
    pub(in crate::cluster) fn is_nothing(&self) -> bool {
        self.waiting == 0 && self.inside == 0 && self.known.is_empty()
    }
}

pub(super) fn of_stuck(leases: u64, left: &Left) -> String {
    let (waiting, inside) = (left.waiting, left.inside);
    let known = left.known.iter().map(|(site, what)| format!("; {site} has {what}"));
    format!("{leases} leases after the faults {waiting} callers wait and {inside} are inside")
        + &known.collect::<String>()
}
