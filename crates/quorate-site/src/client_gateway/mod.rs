//! A site's end of its clients: each process has a session here, with a lease of its own.
//!
//! A process that dies frees its locks when its lease is over at the site, and not before: by then
//! its own deadline has passed. What it may believe travels as deadlines that count from a renewal
//! of its own. [`SiteWithClients`] is what a server drives; the other end is
//! [`ClientMachine`](quorate_session::client::ClientMachine), for callers in the site's own process
//! too.

mod clients;
mod replies;
mod site_with_clients;

pub use site_with_clients::{GatewayEffect, GatewayInput, SiteWithClients};
