//! Whole sites that speak to each other: callers, local turns, deadlines, breaking, restarts.

mod breaking;
mod callers;
mod messages;
mod net;
mod restart;
mod tokens;
mod validity;
mod words;
