//! Whole sites together: callers, local turns, deadlines, breaking, restarts.

mod admission;
mod breaking;
mod callers;
mod delegations;
mod drain;
mod kinds;
mod lies;
mod messages;
mod net;
mod pools;
mod questions;
mod restart;
mod spares;
mod telling;
mod tokens;
mod validity;
