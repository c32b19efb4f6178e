//! A client process: its session at a site, and the grants of its callers.
//!
//! [`ClientMachine`] is the only implementation of "which grants are valid, and until when". It is
//! driven by processes that reach their site over a socket, by programs that run a site of their
//! own, and by the simulator.

mod grants;
mod machine;
mod message;
mod moving;
mod site_choice;
mod waiting;

pub use machine::{CallerLoss, ClientEffect, ClientInput, ClientMachine};
pub use message::{ClientId, ClientMessage, ClientRequest, QuorumStatus, SiteReply};
pub use site_choice::SiteChoice;
