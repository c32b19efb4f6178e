//! Locks that many hold to read, or one to write.

use std::time::Duration;

use quorate_session::{Access, Name, Want};

use crate::guard::{HASTE, claim};
use crate::{Cluster, Error, Guard};

/// A lock that many hold to read, or one to write. Names follow `tokio::sync::RwLock`.
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

    /// Waits until nobody writes. Dropping the future gives up.
    ///
    /// Readers that come while others read go before a writer that waits, until the reader leaves
    /// that came first of them.
    ///
    /// # Errors
    ///
    /// The cluster said no, or the way to it is gone for good.
    pub async fn read(&self) -> Result<Guard, Error> {
        self.claim(Access::Read, None, false).await
    }

    /// Waits until nobody writes, so long at most.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read`], and when the time is over.
    pub async fn read_within(&self, patience: Duration) -> Result<Guard, Error> {
        self.claim(Access::Read, Some(patience), false).await
    }

    /// Reads if nobody writes, and does not wait for anybody.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read`], and when somebody writes or comes first.
    pub async fn try_read(&self) -> Result<Guard, Error> {
        self.claim(Access::Read, Some(HASTE), true).await
    }

    /// Waits until nobody else reads or writes. Dropping the future gives up.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read`].
    pub async fn write(&self) -> Result<Guard, Error> {
        self.claim(Access::Write, None, false).await
    }

    /// Waits until nobody else reads or writes, so long at most.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read`], and when the time is over.
    pub async fn write_within(&self, patience: Duration) -> Result<Guard, Error> {
        self.claim(Access::Write, Some(patience), false).await
    }

    /// Writes if nobody else is inside, and does not wait for anybody.
    ///
    /// # Errors
    ///
    /// As [`RwLock::read`], and when somebody is inside or comes first.
    pub async fn try_write(&self) -> Result<Guard, Error> {
        self.claim(Access::Write, Some(HASTE), true).await
    }

    async fn claim(
        &self,
        access: Access,
        patience: Option<Duration>,
        hasty: bool,
    ) -> Result<Guard, Error> {
        let wish = (self.name.clone(), Want::Access(access));
        Ok(claim(&self.cluster, wish, patience, hasty).await?.0)
    }
}
