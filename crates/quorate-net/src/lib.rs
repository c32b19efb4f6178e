//! What clients and sites need of the machine they run on: sockets, TLS, and a clock that counts
//! while the machine sleeps.

pub mod clock;
pub mod link;
pub mod tls;
