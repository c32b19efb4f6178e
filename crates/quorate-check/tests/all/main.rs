//! Every schedule of small clusters and of sessions.

mod group;
mod mutex;
mod pool;
mod role;
mod session;
mod session_random;
mod sessions;
mod token;
