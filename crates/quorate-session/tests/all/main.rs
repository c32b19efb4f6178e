//! Sessions by the rows of their tables, and the client process.

#![allow(clippy::unwrap_used, reason = "a test may fail anywhere")]

mod client;
mod moving;
mod session;
