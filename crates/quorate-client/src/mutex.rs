//! A lock that one holds at a time.

use std::time::Duration;

use quorate_session::{Name, Want};

use crate::guard::{HASTE, claim};
use crate::{Cluster, Error, Guard};

/// A lock that one holds at a time. Names follow `tokio::sync`.
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

    /// Waits until it is ours. Dropping the future gives up.
    ///
    /// # Errors
    ///
    /// The cluster said no, or the way to it is gone for good.
    pub async fn lock(&self) -> Result<Guard, Error> {
        self.claim(None, false).await
    }

    /// Waits so long at most.
    ///
    /// # Errors
    ///
    /// As [`Mutex::lock`], and when the time is over.
    pub async fn lock_within(&self, patience: Duration) -> Result<Guard, Error> {
        self.claim(Some(patience), false).await
    }

    /// Takes it if nobody has it, and does not wait for anybody.
    ///
    /// # Errors
    ///
    /// As [`Mutex::lock`], and when somebody has it or comes first.
    pub async fn try_lock(&self) -> Result<Guard, Error> {
        self.claim(Some(HASTE), true).await
    }

    async fn claim(&self, patience: Option<Duration>, hasty: bool) -> Result<Guard, Error> {
        let wish = (self.name.clone(), Want::Mutex);
        Ok(claim(&self.cluster, wish, patience, hasty).await?.0)
    }
}
