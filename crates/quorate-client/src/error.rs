//! What can go wrong between a process and its cluster.

use std::fmt;

use quorate_session::client::CallerLoss;
use quorate_session::{Denial, SiteError};

/// Why a caller did not get what it asked for, or not to the end. Nothing of its claim is left
/// anywhere.
#[derive(Debug)]
pub enum Error {
    /// The name cannot be a resource's.
    Name(SiteError),
    /// The cluster said no.
    Denied(Denial),
    /// The grant was over before it arrived here.
    LostAtOnce,
    /// The grant ended before it was released.
    Lost(CallerLoss),
    /// No site could be reached.
    Unreachable(String),
    /// The site was refused to us, or we to it.
    Refused(String),
    /// The site in this process has stopped, or did not start.
    Stopped(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Name(why) => why.fmt(f),
            Error::Denied(why) => why.fmt(f),
            Error::LostAtOnce => f.write_str("the grant was over before it arrived"),
            Error::Lost(why) => write!(f, "the lock was lost: {why}"),
            Error::Unreachable(why) => write!(f, "no site can be reached: {why}"),
            Error::Refused(why) => write!(f, "refused: {why}"),
            Error::Stopped(why) => write!(f, "the site has stopped: {why}"),
        }
    }
}

impl std::error::Error for Error {}
