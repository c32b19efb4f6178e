//! Whole sites, how long their grants last, and their clients in other processes.

mod gate;
mod site;
mod validity;
