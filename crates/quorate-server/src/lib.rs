//! The driver of a site: connections, TLS, disk, clock. All decisions are made in `quorate-site`.

pub mod certificates;
mod config;
mod connections;
mod core;
mod disk;
mod error;
mod local;
mod place;
mod server;
mod transport;

pub use config::SiteConfig;
pub use error::ServerError;
pub use local::{LocalClient, LocalLink};
pub use server::Server;
