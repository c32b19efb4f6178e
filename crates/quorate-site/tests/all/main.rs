//! Whole sites, their sessions, and their clients in other processes.

mod gate;
mod session;
mod site;
