//! Every schedule of a simulated cluster: whatever can happen next, happens.
//!
//! The search is `stateright`'s; the world is the simulator's, with its properties. A clean,
//! complete search is a proof for the cluster and the number of claims it was run with.

mod model;
mod search;
pub mod session;

pub use model::{Action, Space};
pub use quorate_sim::{Claims, Faults, Order, Slips};
pub use search::{Limits, Report, Trace, check, explore};
