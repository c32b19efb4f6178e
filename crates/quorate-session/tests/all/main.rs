//! Sessions by the rows of their tables.

mod session;
