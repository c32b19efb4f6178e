//! Quorum systems: named constructions, a quorum for every site, a live one when sites are down.

mod site;
mod system;

pub use site::{SiteId, SiteSet};
pub use system::QuorumSystem;
