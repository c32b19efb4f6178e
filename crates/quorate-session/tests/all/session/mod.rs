//! Sessions by the rows of their tables.

mod client;
mod server;
mod sessions;
