//! A client process: its session at a site, and the grants of its callers.
//!
//! [`ClientMachine`] is the only implementation of "which grants are valid, and until when". It is
//! driven by processes that reach their site over a socket, by programs that run a site of their
//! own, and by the simulator.

mod grants;
mod machine;
mod message;

pub use machine::{CallerLoss, ClientEffect, ClientInput, ClientMachine};
pub use message::{ClientId, ClientMessage, ClientRequest, SiteReply};
