//! The driver of a site: connections, TLS, disk, clock. All decisions are made in `quorate-site`.

mod admission;
pub mod certificates;
mod check;
mod config;
mod connection_log;
mod connections;
mod core;
mod disk;
mod disk_writer;
mod error;
mod inbox;
mod local;
mod log_limit;
mod place;
mod server;
mod transport;

pub use config::SiteConfig;
pub use error::ServerError;
pub use local::{LocalClient, LocalLink};
pub use quorate_net::findings::Findings;
pub use server::Server;
