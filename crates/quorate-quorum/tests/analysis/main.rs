//! Analysis of quorum systems against definitions, published values and another library.

mod choice;
mod load;
mod peer;
mod sampling;
mod table;
mod tools;
mod twins;
