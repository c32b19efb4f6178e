//! What can go wrong between a process and its cluster.

use std::fmt;
use std::time::Duration;

use quorate_session::client::CallerLoss;
use quorate_session::{Card, Denial, Fence, SiteError, SiteId};

use crate::Election;

/// Why a caller did not get what it asked for, or not to the end. Nothing of its claim is left
/// anywhere.
///
/// ```
/// # use std::time::Duration;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), quorate::Error> {
/// # let cluster = quorate::Cluster::in_memory(1)?.remove(0);
/// let held = cluster.mutex("deploy")?.lock().await?;
/// let error = cluster.mutex("deploy")?.try_lock().await.unwrap_err();
/// assert!(error.is_busy());
/// let error = cluster.mutex("deploy")?.lock_within(Duration::from_millis(1)).await.unwrap_err();
/// assert!(error.is_timeout());
/// # drop(held);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The name cannot be a resource's.
    Name(SiteError),
    /// The value of a leader has so many bytes, which are too many.
    Value(usize),
    /// Somebody holds it or is first, and the caller did not want to wait.
    Busy(Vec<Holder>),
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

/// A caller that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// Its site.
    pub site: SiteId,
    /// Who it is.
    pub card: Card,
    /// Its fence.
    pub fence: Fence,
    /// For how long it has held it.
    pub age: Duration,
}

impl Error {
    /// Whether the time to wait was over: the same claim may succeed later.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Error::Denied(Denial::TimedOut | Denial::NoQuorum { .. }))
    }

    /// Whether somebody else holds it or is first, and the caller did not want to wait.
    pub fn is_busy(&self) -> bool {
        matches!(self, Error::Busy(_) | Error::Denied(Denial::Busy))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Name(why) => why.fmt(f),
            Error::Value(bytes) => {
                write!(
                    f,
                    "a value of {bytes} bytes is too long; take {} at most",
                    Election::VALUE_MAX
                )
            }
            Error::Busy(holders) => match holders.first() {
                Some(holder) => write!(f, "it is held by {holder}"),
                None => Denial::Busy.fmt(f),
            },
            Error::Denied(why) => why.fmt(f),
            Error::LostAtOnce => f.write_str("the grant was over before it arrived"),
            Error::Lost(why) => write!(f, "the lock was lost: {why}"),
            Error::Unreachable(why) => write!(f, "no site can be reached: {why}"),
            Error::Refused(why) => write!(f, "refused: {why}"),
            Error::Stopped(why) => write!(f, "the site has stopped: {why}"),
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let age = Duration::from_secs(self.age.as_secs());
        write!(f, "{}, at site {} with fence {} for {age:?}", self.card, self.site, self.fence)
    }
}

impl std::error::Error for Error {}
