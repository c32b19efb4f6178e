//! What can keep a site from running.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use quorate_net::tls::TlsError;

/// Why a site does not run. Nothing was started.
#[derive(Debug)]
pub enum ServerError {
    /// The configuration cannot be used, and why.
    Config(String),
    /// The folder cannot be used as the site's disk.
    Disk(PathBuf, String),
    /// Nobody can be heard on this address.
    Listen(SocketAddr, io::Error),
    /// A certificate or key cannot be used.
    Tls(String),
    /// The system lacks something.
    System(io::Error),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerError::Config(why) | ServerError::Tls(why) => f.write_str(why),
            ServerError::Disk(folder, why) => {
                write!(f, "the folder {} cannot be used: {why}", folder.display())
            }
            ServerError::Listen(address, why) => write!(f, "cannot listen on {address}: {why}"),
            ServerError::System(why) => write!(f, "the system says: {why}"),
        }
    }
}

impl std::error::Error for ServerError {}

impl From<TlsError> for ServerError {
    fn from(TlsError(why): TlsError) -> Self {
        ServerError::Tls(why)
    }
}
