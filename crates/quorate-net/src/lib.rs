//! What clients and sites need of the machine they run on: connections, TLS, delays between
//! attempts to connect, and a clock that counts while the machine sleeps.

pub mod backoff;
pub mod clock;
pub mod connection;
pub mod descriptors;
pub mod findings;
pub mod tls;
