//! A lock that one holds at a time.

use std::time::Duration;

use quorate_wire::words::{Name, Told, Want, Wish};
use tokio::time::Instant;

use crate::guard::Claim;
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
        self.claim(Some(Duration::from_secs(2)), true).await
    }

    async fn claim(&self, patience: Option<Duration>, hasty: bool) -> Result<Guard, Error> {
        let end = patience.map(|patience| Instant::now() + patience);
        loop {
            let patience = end.map(|end| end.saturating_duration_since(Instant::now()));
            let (name, card) = (self.name.clone(), self.cluster.card.clone());
            let wish = Wish { name, want: Want::Mutex, card, patience, hasty };
            let mut claim = Claim::new(self.cluster.backend.clone(), wish);
            return match claim.told().await {
                Some(Told::Granted(fence, until)) => {
                    Ok(Guard::new(claim, (fence, until), self.cluster.lease()))
                }
                Some(Told::Denied(denial)) => Err(Error::Denied(denial)),
                // The grant was under way for too long to be of use.
                Some(_) if end.is_none_or(|end| Instant::now() < end) => continue,
                Some(_) => Err(Error::LostAtOnce),
                None => Err(Error::Stopped("it does not answer any more".into())),
            };
        }
    }
}
