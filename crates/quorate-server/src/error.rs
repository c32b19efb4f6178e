//! Why a site cannot run.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use quorate_net::tls::TlsError;
use thiserror::Error;

/// Why a site cannot run. Nothing was started.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The configuration is invalid.
    #[error("{0}")]
    Config(String),
    /// The folder cannot be used as the site's disk.
    #[error("the folder {folder} cannot be used: {1}", folder = .0.display())]
    Disk(PathBuf, String),
    /// The site cannot listen on this address.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// A certificate or key cannot be used.
    #[error("{0}")]
    Tls(String),
    /// The system refused a thread, a timer or a socket.
    #[error("a system call failed: {0}")]
    System(io::Error),
}

impl From<TlsError> for ServerError {
    fn from(TlsError(why): TlsError) -> Self {
        ServerError::Tls(why)
    }
}
