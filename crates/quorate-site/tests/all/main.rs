//! Whole sites, how long their grants last, and their clients in other processes.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod client_limits;
mod clients;
mod identity;
mod no_quorum;
mod site;
mod validity;
