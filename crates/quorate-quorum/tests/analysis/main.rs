//! Analysis of quorum systems against definitions, published values and another library.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod choice;
mod load;
mod peer;
mod sampling;
mod table;
mod tools;
mod twins;
