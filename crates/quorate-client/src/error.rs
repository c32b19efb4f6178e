//! Errors of clients.

use std::fmt;
use std::time::Duration;

use quorate_session::client::CallerLoss;
use quorate_session::{Claimant, Denial, Doubt, Fence, SiteError, SiteId, TextError};

/// Why a claim failed, or a grant ended early. Nothing of the claim is left at any site.
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
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name is invalid.
    #[error("{0}")]
    Name(SiteError),
    /// A text is too long or has control characters: the value of a leader, or the reason for
    /// breaking a grant.
    #[error("{0}")]
    Text(TextError),
    /// Another caller holds the lock or is first in line, and the claim was not to wait.
    #[error("{}", busy(.0))]
    Busy(Vec<Holder>),
    /// The cluster denied the claim.
    #[error("{0}")]
    Denied(Denial),
    /// The grant expired before it arrived here.
    #[error("the grant expired before it arrived")]
    LostAtOnce,
    /// The grant ended before it was released.
    #[error("the lock was lost: {0}")]
    Lost(CallerLoss),
    /// No site answered until the claim's deadline.
    #[error("no site answers: tried {}{}", .tried.join(", "), ago(*.last_answer))]
    NoAnswer {
        /// The addresses of the sites.
        tried: Vec<String>,
        /// How long ago the last answer came, if one ever came.
        last_answer: Option<Duration>,
    },
    /// No site could be reached.
    #[error("no site can be reached: {0}")]
    Unreachable(String),
    /// Too few sites answer to tell who holds the lock.
    #[error("not known: {0}")]
    NotKnown(Doubt),
    /// The certificates cannot be used.
    #[error("refused: {0}")]
    Refused(String),
    /// The site in this process did not start or has stopped, or the client's runtime has.
    #[error("the site does not run: {0}")]
    Stopped(String),
}

/// A caller that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// Its site.
    pub site: SiteId,
    /// Who it is.
    pub claimant: Claimant,
    /// Its fence.
    pub fence: Fence,
    /// How long it has held the lock.
    pub age: Duration,
}

impl Error {
    /// Whether the timeout ran out: the same claim may succeed later.
    pub fn is_timeout(&self) -> bool {
        use Denial::{NoAnswer, NoQuorum, NotJoined, TimedOut};
        match self {
            Error::Denied(denial) => {
                matches!(denial, TimedOut | NoQuorum { .. } | NotJoined { .. } | NoAnswer(_))
            }
            error => matches!(error, Error::NoAnswer { .. }),
        }
    }

    /// Whether another caller holds the lock or is first in line, and the claim was not to wait.
    pub fn is_busy(&self) -> bool {
        matches!(self, Error::Busy(_) | Error::Denied(Denial::Busy))
    }
}

fn ago(last_answer: Option<Duration>) -> String {
    let text = |time: Duration| format!("; the last answer came {:.1} s ago", time.as_secs_f64());
    last_answer.map_or_else(String::new, text)
}

fn busy(holders: &[Holder]) -> String {
    let holder = holders.first().map(|holder| format!("it is held by {holder}"));
    holder.unwrap_or_else(|| Denial::Busy.to_string())
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let age = Duration::from_secs(self.age.as_secs());
        write!(f, "{}, at site {} with fence {} for {age:?}", self.claimant, self.site, self.fence)
    }
}
