//! Searches every schedule of the sessions between two sites: leases, clocks, lost connections,
//! restarts.
//!
//! The sites run the production code; the world around them is small enough to try everything that
//! can happen within some ticks of time. `docs/site.md` lists the searches.

mod locks;
mod model;
mod monitor;
mod normalize;
mod search;
mod world;

pub use model::{ALWAYS, SessionAction, SessionSpace, TICK};
pub use search::{SessionReport, check_sessions};
pub use world::{Setup, Undone, World};
