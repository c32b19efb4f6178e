//! Whole sites together: callers, local turns, deadlines, breaking, restarts.

mod breaking;
mod callers;
mod delegations;
mod drain;
mod kinds;
mod messages;
mod net;
mod questions;
mod restart;
mod tokens;
mod validity;
