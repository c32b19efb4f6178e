//! Quorum systems: named constructions, a quorum for every site, a live one when sites are down.
//!
//! A *quorum system* over N sites is a set of *quorums*, sets of sites of which any two meet. At
//! most one request has the permissions of a whole quorum: every other quorum contains a site that
//! has lent its permission already. The choice of a system weighs few messages (small quorums), an
//! even load, and survival of failures.
//!
//! | name | a quorum is | sites in it | survives any |
//! |---|---|---|---|
//! | `majority`, [`Threshold`] | more than half of the sites | N/2 + 1 | (N - 1)/2 failures |
//! | `weighted`, [`Weighted`] | more than half of the votes | as the votes | as the votes |
//! | `grid`, [`Grid`] | a row and a column of a square | 2√N - 1 | √N - 1 |
//! | `cover`, [`Cover`] | a row, and a site of each other row | 2√N - 1 | √N - 1 |
//! | `plane`, [`Plane`] | a line of a projective plane | √N + 1/2 | √N - 1/2 |
//! | `cyclic`, [`Cyclic`] | a rotation of a difference cover | √N to √(1.5 N) | below its size |
//! | `tree`, [`Tree`] | a path from the root to a leaf | log₂ N and more | log₂ N - 1 |
//! | `hqc`, [`Composed`] | most of 3 groups, in each most of 3, … | N^0.63 | N^0.63 - 1 |
//! | `grid-set`, [`Composed`] | most of 3 groups, and a grid's of each | 2.3√N | 1.2√N - 1 |
//! | `rst`, [`Composed`] | a grid's of groups, most of 3 in each | 2.3√N | 1.2√N - 1 |
//! | `triangle`, [`Wall`] | a row, and a site of each row below | √(2N) | √(2N) - 1 |
//! | `cwlog`, [`Wall`] | the same, of short rows | log₂ N and more | log₂ N - 1 |
//! | `wheel`, [`Wall`] | the first site and another, or all others | 2, or N - 1 | 1 |
//! | [`Listed`] | listed for each site | | |
//!
//! All but the last take any number of sites; the figures are for numbers that fit, and rounded.
//! [`build`] makes a system by its [`Kind`]; callers see only the trait [`QuorumSystem`].
//! [`Composed`] puts whole systems in the places of sites, [`Reads`] are smaller quorums for
//! readers, and [`Arbiters`] the quorums of pools with several units.
//!
//! ```
//! use quorate_quorum::{SiteId, SiteSet, build};
//!
//! let system = build("grid".parse()?, 16)?;
//! let mut live = SiteSet::full(16);
//! let own = system.pick_for(SiteId::new(0), &live).expect("all are up");
//! assert_eq!(own.to_string(), "{1 2 3 4 5 9 13}");
//!
//! live.remove(SiteId::new(8)); // site 9 is down: another column will do
//! let detour = system.pick_for(SiteId::new(0), &live).expect("15 of 16 are up");
//! assert_eq!(detour.to_string(), "{1 2 3 4 6 10 14}");
//! assert!(system.is_quorum(&detour));
//!
//! assert_eq!(system.resilience()?, 3);
//! assert!((system.availability(&[0.9; 16])? - 0.97511).abs() < 0.00001);
//! # Ok::<(), quorate_quorum::QuorumError>(())
//! ```
//!
//! Three rules hold throughout.
//!
//! - A quorum is always one of the *whole* cluster. The live sites decide which quorum is picked,
//!   never what a quorum is: a majority of the live sites is no quorum. So sites with different
//!   suspicions still pick quorums that meet.
//! - Everything is a function of its arguments: no clock, no random number, no unordered map. Equal
//!   questions get equal answers on every machine.
//! - Bad input is a [`QuorumError`], never a panic. A list in which two quorums do not meet is
//!   refused, with those two; so is a measure that would take too long.
//!
//! With all sites up, the quorum of a site contains the site, in every construction but a list, and
//! different sites use different quorums where there are enough. Sites are counted from 0 in memory
//! and from 1 in text.

#[cfg(feature = "analysis")]
pub mod analysis;
mod arbiter;
mod coalitions;
mod composed;
mod cover;
mod cyclic;
mod difference;
mod error;
mod field;
mod grid;
mod kind;
mod levels;
mod listed;
mod measure;
mod numbers;
mod plane;
mod price;
mod reads;
mod rows;
mod shape;
mod site;
mod system;
mod text;
mod threshold;
mod tree;
mod wall;
mod weighted;

pub use arbiter::{ArbiterKind, Arbiters, PoolError, UNITS_MAX, check_arbiters, critical_patterns};
pub use composed::Composed;
pub use cover::Cover;
pub use cyclic::Cyclic;
pub use error::QuorumError;
pub use grid::Grid;
pub use kind::{Kind, build};
pub use listed::{Listed, check_meets};
pub use measure::LoadBounds;
pub use numbers::Numbers;
pub use plane::Plane;
pub use price::Prices;
pub use reads::Reads;
pub use shape::Shape;
pub use site::{SiteId, SiteSet};
pub use system::QuorumSystem;
pub use text::QuorumLine;
pub use threshold::Threshold;
pub use tree::Tree;
pub use wall::Wall;
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
