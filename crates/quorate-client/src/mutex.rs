//! A lock with one holder at a time.

use std::time::Duration;

use quorate_session::{LockSpec, Name};

use crate::guard::claim;
use crate::{Cluster, Error, Guard};

/// A lock with one holder at a time. Names follow `tokio::sync::Mutex`.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), quorate::Error> {
/// let sites = quorate::Cluster::in_memory(3)?;
/// let guard = sites[0].mutex("deploy")?.lock().await?;
/// assert!(sites[1].mutex("deploy")?.try_lock().await.is_err());
/// guard.release().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Mutex {
    cluster: Cluster,
    name: Name,
}

impl Mutex {
    pub(crate) fn new(cluster: Cluster, name: Name) -> Self {
        Self { cluster, name }
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Waits for the lock. Dropping the future gives up.
    ///
    /// # Errors
    ///
    /// The cluster denies the claim, or the client has stopped.
    pub async fn lock(&self) -> Result<Guard, Error> {
        self.claim(None, false).await
    }

    /// As [`Mutex::lock`], with a timeout: it ends then, whether or not any site answers.
    ///
    /// # Errors
    ///
    /// As [`Mutex::lock`], and when the timeout runs out.
    pub async fn lock_within(&self, timeout: Duration) -> Result<Guard, Error> {
        self.claim(Some(timeout), false).await
    }

    /// Takes the lock if it is free, and does not wait for other callers. It ends within a lease,
    /// whether or not any site answers.
    ///
    /// # Errors
    ///
    /// As [`Mutex::lock`], and [`Error::Busy`] if another caller holds it or is first in line.
    pub async fn try_lock(&self) -> Result<Guard, Error> {
        self.claim(None, true).await
    }

    async fn claim(&self, timeout: Option<Duration>, no_wait: bool) -> Result<Guard, Error> {
        Ok(claim(&self.cluster, &self.name, LockSpec::Mutex, timeout, no_wait).await?.0)
    }
}
