//! Every schedule of small clusters and of sessions.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod group;
mod identity;
mod ledger;
mod mutex;
mod mutex_faults;
mod pool;
mod role;
mod session;
mod session_random;
mod token;
