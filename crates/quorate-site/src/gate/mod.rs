//! Callers in other processes: each process has a session at its site, with a lease of its own.
//!
//! A process that dies frees its locks when its lease is over at the site, and not before: by then
//! its own deadline has passed. What it may believe travels as a deadline that counts from a
//! renewal of its own. [`Host`] is a site with its gate; the other end is
//! [`quorate_session::client`].

mod clients;
mod host;

pub use host::{Host, HostEffect, HostInput};
