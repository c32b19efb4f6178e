//! The client's side: a process with callers, its session at a site, and what each may believe.

mod machine;
mod message;
mod told;

pub use machine::{Caller, CallerEffect, CallerInput, CallerLoss};
pub use message::{ClientId, Parley, Wish};
pub use told::Told;
