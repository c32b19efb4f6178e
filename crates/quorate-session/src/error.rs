//! Invalid settings of a site.

use std::time::Duration;

use thiserror::Error;

/// An invalid setting. Nothing was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum SiteError {
    /// A name has 1 to 256 bytes and no control characters; this one is invalid for this reason.
    #[error("invalid name: {0}")]
    InvalidName(&'static str),
    /// A lease lasts from 0.2 to 60 seconds.
    #[error("a lease of {0:?} is out of range; take 200ms to 60s")]
    LeaseOutOfRange(Duration),
    /// The allowance for drift is at most [`Drift::MAX`](crate::session::Drift::MAX) parts per
    /// thousand, so that a client notices silence well before its deadline.
    #[error("a drift of {0} parts per thousand is out of range; take 0 to 400")]
    DriftOutOfRange(u16),
}
