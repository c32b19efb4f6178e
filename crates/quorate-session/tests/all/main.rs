//! Sessions by the rows of their tables, and the client process.

mod client;
mod session;
