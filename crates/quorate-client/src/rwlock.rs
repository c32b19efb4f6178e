//! Locks with many readers or one writer.

use std::time::Duration;

use quorate_session::{Access, LockSpec, Name};

use crate::guard::claim;
use crate::{Cluster, Error, Guard};

/// A lock with many readers or one writer. Names follow `tokio::sync::RwLock`.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), quorate::Error> {
/// let sites = quorate::Cluster::in_memory(3)?;
/// let one = sites[0].rwlock("index")?.read().await?;
/// let other = sites[1].rwlock("index")?.read().await?;
/// assert!(sites[2].rwlock("index")?.try_write().await.is_err());
/// drop((one, other));
/// let writer = sites[2].rwlock("index")?.write().await?;
/// # drop(writer);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RwLock {
    cluster: Cluster,
    name: Name,
}

impl RwLock {
    pub(crate) fn new(cluster: Cluster, name: Name) -> Self {
        Self { cluster, name }
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Waits until there is no writer. Dropping the future gives up.
    ///
    /// While others read, new readers overtake a waiting writer, until the reader that came first
    /// leaves.
    ///
    /// # Errors
    ///
    /// The cluster denies the claim, or the client has stopped.
    pub async fn read(&self) -> Result<Guard, Error> {
        self.claim(Access::Read, None, false).await
    }

    /// As [`RwLock::read`], with a timeout: it ends then, whether or not any site answers.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read`], and when the timeout runs out.
    pub async fn read_within(&self, timeout: Duration) -> Result<Guard, Error> {
        self.claim(Access::Read, Some(timeout), false).await
    }

    /// Becomes a reader if there is no writer, and does not wait for other callers.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read`], and [`Error::Busy`] if there is a writer or one is first in line.
    pub async fn try_read(&self) -> Result<Guard, Error> {
        self.claim(Access::Read, None, true).await
    }

    /// Waits until there is no reader and no other writer. Dropping the future gives up.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read`].
    pub async fn write(&self) -> Result<Guard, Error> {
        self.claim(Access::Write, None, false).await
    }

    /// As [`RwLock::write`], with a timeout: it ends then, whether or not any site answers.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read`], and when the timeout runs out.
    pub async fn write_within(&self, timeout: Duration) -> Result<Guard, Error> {
        self.claim(Access::Write, Some(timeout), false).await
    }

    /// Becomes the writer if the lock is free, and does not wait for other callers.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read`], and [`Error::Busy`] if another caller holds it or is first in line.
    pub async fn try_write(&self) -> Result<Guard, Error> {
        self.claim(Access::Write, None, true).await
    }

    async fn claim(
        &self,
        access: Access,
        timeout: Option<Duration>,
        no_wait: bool,
    ) -> Result<Guard, Error> {
        let spec = LockSpec::Access(access);
        Ok(claim(&self.cluster, &self.name, spec, timeout, no_wait).await?.0)
    }
}
