//! Whole sites, how long their grants last, and their clients in other processes.

mod clients;
mod site;
mod validity;
