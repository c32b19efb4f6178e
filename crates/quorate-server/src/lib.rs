//! The driver of a site: sockets, TLS, disk, clock. Everything that decides is in `quorate-site`.

mod callers;
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
pub use local::{Local, Reply};
pub use server::Server;
