//! The clients of a site: each client process has a session here, with a lease of its own.
//!
//! If a process dies, its locks are released when its lease is over at the site, and not before: by
//! then the client's own deadline has passed. Deadlines are sent to a client relative to its own
//! renewals. A server drives [`SiteWithClients`]; the other end is
//! [`ClientMachine`](quorate_session::client::ClientMachine), also for callers in the process of
//! the site.

mod clients;
mod questions;
mod replies;
mod site_with_clients;

pub use site_with_clients::{GatewayEffect, GatewayInput, SiteWithClients};
