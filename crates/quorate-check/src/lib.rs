//! Searches every schedule of a simulated cluster.
//!
//! `stateright` does the search; the simulator provides the world and its properties. A clean and
//! complete search is a proof for the given cluster and number of claims.

pub mod identity;
mod model;
mod search;
pub mod session;

pub use model::{Action, Space};
pub use quorate_sim::{Claims, Faults, Order, SessionlessFaults};
pub use search::{Limits, Report, Trace, check, explore};
