//! Sessions, row by row of the tables in `docs/site.md`.

mod client;
mod server;
mod sessions;
