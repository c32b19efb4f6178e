//! Simulated clusters: properties, scripts, seeds, figures, and repairs undone.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod chronicle;
mod cluster;
mod faults;
mod figures;
mod folded;
mod group;
mod group_faults;
mod ledger;
mod partitions;
mod plans;
mod pool;
mod refusals;
mod role;
mod role_faults;
mod scenarios;
mod script;
mod script_checks;
mod seeds;
mod short_leases;
mod slow_disks;
mod taken;
mod token;
mod token_undone;
mod undone;
