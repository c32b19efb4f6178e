//! Simulated clusters: properties, scripts, seeds, figures, and repairs undone.

mod chronicle;
mod cluster;
mod faults;
mod figures;
mod group;
mod group_faults;
mod plans;
mod pool;
mod role;
mod role_faults;
mod scenarios;
mod script;
mod seeds;
mod taken;
mod token;
mod token_undone;
mod undone;
