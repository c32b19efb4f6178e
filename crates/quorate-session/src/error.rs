//! What can be wrong with what a site is told at its start.

use std::fmt;
use std::time::Duration;

/// A setting that a site cannot work with. Nothing was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteError {
    /// A name has 1 to 256 bytes and no control characters; this one has not, and why.
    InvalidName(&'static str),
    /// A lease lasts from 0.2 to 60 seconds; this one does not.
    LeaseOutOfRange(Duration),
    /// The allowance for drift is at most [`Drift::MAX`](crate::session::Drift::MAX) parts per
    /// thousand, so that a client notices silence well before its deadline.
    DriftOutOfRange(u16),
}

impl fmt::Display for SiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SiteError::InvalidName(why) => write!(f, "invalid name: {why}"),
            SiteError::LeaseOutOfRange(length) => {
                write!(f, "a lease of {length:?} is out of range; take 200ms to 60s")
            }
            SiteError::DriftOutOfRange(parts) => {
                write!(f, "a drift of {parts} parts per thousand is out of range; take 0 to 400")
            }
        }
    }
}

impl std::error::Error for SiteError {}
