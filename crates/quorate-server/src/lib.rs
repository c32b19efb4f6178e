//! The driver of a site: sockets, TLS, disk, clock. Everything that decides is in `quorate-site`.

mod callers;
pub mod clock;
mod config;
mod core;
mod disk;
mod error;
mod lines;
pub mod link;
mod local;
mod mesh;
mod server;
pub mod tls;

pub use config::{SiteConfig, TlsConfig};
pub use error::ServerError;
pub use local::{Local, Reply};
pub use server::Server;
