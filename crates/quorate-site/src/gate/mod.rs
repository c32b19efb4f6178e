//! Callers in other processes: each has a session at its site, with a lease of its own.
//!
//! A process that dies frees its locks when its lease is over at the site, and not before: by then
//! its own deadline has passed. What it may believe travels as a validity handed down, counted
//! from a renewal of its own. [`Host`] is a site with its gate; [`Caller`] is the other end.

mod caller;
mod clients;
mod host;
mod parley;
mod told;

pub use caller::{Caller, CallerEffect, CallerInput, CallerLoss};
pub use host::{Host, HostEffect, HostInput};
pub use parley::{ClientId, Parley, Wish};
pub use told::Told;
