//! Quorum systems: named constructions, a quorum for every site, a live one when sites are down.

mod cyclic;
mod difference;
mod distinct;
mod error;
mod grid;
mod kind;
mod listed;
mod majority;
mod measure;
mod plane;
mod price;
mod site;
mod system;
mod text;
mod tree;
mod weighted;

pub use cyclic::Cyclic;
pub use error::QuorumError;
pub use grid::Grid;
pub use kind::{Kind, build};
pub use listed::{Listed, check_meets};
pub use majority::Majority;
pub use measure::LoadBounds;
pub use plane::Plane;
pub use site::{SiteId, SiteSet};
pub use system::QuorumSystem;
pub use text::Line;
pub use tree::Tree;
pub use weighted::{VOTES_MAX, Weighted};

/// The most sites a cluster may have here.
pub const SITES_MAX: usize = 1 << 16;

/// Refuses a number of sites that no construction takes.
fn check_sites(n: usize) -> Result<(), QuorumError> {
    match n {
        0 => Err(QuorumError::NoSites),
        1..=SITES_MAX => Ok(()),
        _ => Err(QuorumError::TooManySites(n)),
    }
}
