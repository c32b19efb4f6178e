//! The laws of quorum systems, checked by enumeration, and the values of the literature.

mod broken;
mod laws;
mod listed;
mod own;
mod table;
mod tools;
mod weighted;
