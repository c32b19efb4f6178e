//! Every schedule of the sessions between two sites: leases, clocks, lost connections, restarts.
//!
//! The sites are those that run in production; the world around them is small enough to try
//! everything that can happen within some ticks of time. `docs/site.md` says what was searched.

mod model;
mod monitor;
mod normal;
mod search;
mod world;

pub use model::{ALWAYS, SessionAction, SessionSpace, TICK};
pub use search::{SessionReport, check_sessions};
pub use world::{Setup, Undone, World};
