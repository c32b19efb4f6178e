//! The analysis of any list of quorums, or any [`QuorumSystem`].
//!
//! | question | answer |
//! |---|---|
//! | Do all quorums meet? | [`disjoint_pair`]: two that do not |
//! | Do the quorums of two systems meet? | [`disjoint_pair_between`] |
//! | Which sets stop everything? | [`dual`], [`smallest_stop`] |
//! | Could it be better everywhere? | [`domination`], and [`repaired`], which is |
//! | How busy is the busiest site? | [`load`], [`mixed_load`]: with proofs from both sides |
//! | How often is no quorum up? | [`failure`]: exact, or sampled with an interval |
//! | Which sites matter most? | [`weak_spots`] |
//! | Which quorum is nearest? | [`nearest_by_worst`], [`nearest_by_sum`], [`least_delay`] |
//! | Which sites to ask so that a quorum survives losses? | [`resilient_sets`] |
//!
//! A question whose answer could take too long has a limit; beyond it the answer is
//! [`QuorumError::TooLarge`](crate::QuorumError::TooLarge).
//!
//! ```
//! use quorate_quorum::analysis::{domination, load};
//! use quorate_quorum::{Kind, build};
//!
//! let grid = build(Kind::Grid, 9)?;
//! let load = load(&*grid);
//! assert!((load.upper - 5.0 / 9.0).abs() < 1e-9);
//! assert!(load.gap() < 1e-9, "a strategy reaches what the weights prove");
//!
//! let dominated = domination(&*grid)?.expect("some set could be a quorum too");
//! assert_eq!(dominated.witness.expect("it is small").to_string(), "{1 2 3}");
//! # Ok::<(), quorate_quorum::QuorumError>(())
//! ```

mod columns;
mod delay;
mod domination;
mod dual;
mod error;
mod failure;
mod load;
mod program;
mod resilient;
mod sample;
mod sets;
mod weak;

pub use delay::{LeastDelay, least_delay, nearest_by_sum, nearest_by_worst};
pub use domination::{Dominated, domination, repaired};
pub use dual::dual;
pub use error::AnalysisError;
pub use failure::{Failure, failure};
pub use load::{Choice, Class, Load, Proof, load, mixed_load, quick_load};
pub use resilient::resilient_sets;
pub use sample::{Draws, SAMPLES, sampled_failure, survived_at_least};
pub use sets::{
    QUORUMS_MAX, disjoint_pair, disjoint_pair_between, dominates, listed, minimal_form,
    smallest_stop,
};
pub use weak::{WeakSpots, importance, weak_spots};

#[cfg(doc)]
use crate::QuorumSystem;
