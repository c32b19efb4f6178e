//! The client's side: a process with callers, its session at a site, and what each may believe.
//!
//! [`ClientMachine`] is the only implementation of "what a caller knows, and until when". Processes
//! that reach their site over a socket drive it, programs that run a site of their own do, and so
//! does the simulator.

mod grants;
mod machine;
mod message;

pub use machine::{CallerLoss, ClientEffect, ClientInput, ClientMachine};
pub use message::{ClientId, ClientMessage, ClientRequest, SiteReply};
