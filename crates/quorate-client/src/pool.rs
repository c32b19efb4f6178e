//! Pools of units.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::time::Duration;

use quorate_session::{Granted, LockSpec, Name, PoolSpec, Units};

use crate::guard::claim;
use crate::{Cluster, Error, Guard};

/// A pool of units; a claim takes some of them. Names follow `tokio::sync::Semaphore`.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), quorate::Error> {
/// let sites = quorate::Cluster::in_memory(3)?;
/// let gpus = sites[0].pool("gpu", 8)?.numbered();
/// let three = gpus.acquire(3).await?;
/// let five = gpus.acquire(5).await?;
/// assert!(three.numbers().is_disjoint(five.numbers()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Pool {
    cluster: Cluster,
    name: Name,
    units: u32,
    numbered: bool,
}

impl Pool {
    pub(crate) fn new(cluster: Cluster, name: Name, units: u32) -> Self {
        Self { cluster, name, units, numbered: false }
    }

    /// The same pool with numbered units: a grant names its units. Where the cluster has pools by
    /// arbiters, this takes a round trip to each site of a quorum, one after the other.
    pub fn numbered(mut self) -> Self {
        self.numbered = true;
        self
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The number of units.
    pub fn size(&self) -> u32 {
        self.units
    }

    /// Waits for this many units, and takes them together. Dropping the future gives up.
    ///
    /// # Errors
    ///
    /// The pool has fewer units, the cluster denies the claim, or the client has stopped.
    pub async fn acquire(&self, count: u32) -> Result<UnitsGuard, Error> {
        self.claim(count, None, false).await
    }

    /// As [`Pool::acquire`], with a timeout: it ends then, whether or not any site answers.
    ///
    /// # Errors
    ///
    /// As [`Pool::acquire`], and when the timeout runs out.
    pub async fn acquire_within(&self, count: u32, timeout: Duration) -> Result<UnitsGuard, Error> {
        self.claim(count, Some(timeout), false).await
    }

    /// Takes this many units if they are free, and does not wait for other callers.
    ///
    /// # Errors
    ///
    /// As [`Pool::acquire`], and [`Error::Busy`] if other callers hold them or are first in line.
    pub async fn try_acquire(&self, count: u32) -> Result<UnitsGuard, Error> {
        self.claim(count, None, true).await
    }

    async fn claim(
        &self,
        count: u32,
        timeout: Option<Duration>,
        no_wait: bool,
    ) -> Result<UnitsGuard, Error> {
        let units = Units { count, of: self.units };
        let spec = LockSpec::Pool(PoolSpec { units, numbered: self.numbered });
        let (guard, granted) = claim(&self.cluster, &self.name, spec, timeout, no_wait).await?;
        let numbers = if let Granted::Pool(numbers) = granted { numbers } else { BTreeSet::new() };
        Ok(UnitsGuard { guard, count, numbers })
    }
}

/// Units that are held. Dropping it gives them back. It dereferences to a [`Guard`].
///
/// The fences of two grants are ordered if the grants could not be held together, or share a
/// numbered unit.
#[derive(Debug)]
#[must_use = "a guard that is dropped gives its units back"]
pub struct UnitsGuard {
    guard: Guard,
    count: u32,
    numbers: BTreeSet<u32>,
}

impl UnitsGuard {
    /// The number of units held.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The numbers of the units, counted from 0, if the pool is [`numbered`](Pool::numbered). No
    /// other holder has any of them.
    pub fn numbers(&self) -> &BTreeSet<u32> {
        &self.numbers
    }

    /// Gives the units back, as [`Guard::release`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if they were lost before.
    pub async fn release(self) -> Result<(), Error> {
        self.guard.release().await
    }
}

impl Deref for UnitsGuard {
    type Target = Guard;

    fn deref(&self) -> &Guard {
        &self.guard
    }
}

impl AsRef<Guard> for UnitsGuard {
    fn as_ref(&self) -> &Guard {
        &self.guard
    }
}

impl From<UnitsGuard> for Guard {
    fn from(units: UnitsGuard) -> Self {
        units.guard
    }
}
