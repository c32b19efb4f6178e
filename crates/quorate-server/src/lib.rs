//! The driver of a site: sockets, TLS, disk, clock. Everything that decides is in `quorate-site`.

pub mod certificates;
mod config;
mod core;
mod disk;
mod error;
mod lines;
mod local;
mod mesh;
mod server;

pub use config::SiteConfig;
pub use error::ServerError;
pub use local::{LocalClient, LocalLink};
pub use server::Server;
