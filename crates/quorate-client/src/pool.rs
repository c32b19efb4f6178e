//! Units that many hold together.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::time::Duration;

use quorate_session::{Got, Name, Units, Want};

use crate::guard::{HASTE, claim};
use crate::{Cluster, Error, Guard};

/// A number of units that callers take some of. Names follow `tokio::sync::Semaphore`.
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

    /// The same pool, whose callers are told which units they have. That takes a message to each
    /// site of a quorum and back, one after the other.
    pub fn numbered(mut self) -> Self {
        self.numbered = true;
        self
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// How many units there are.
    pub fn size(&self) -> u32 {
        self.units
    }

    /// Waits until so many units are ours, all at once. Dropping the future gives up.
    ///
    /// # Errors
    ///
    /// There are not so many, the cluster said no, or the way to it is gone for good.
    pub async fn acquire(&self, count: u32) -> Result<UnitsGuard, Error> {
        self.claim(count, None, false).await
    }

    /// Waits so long at most.
    ///
    /// # Errors
    ///
    /// As [`Pool::acquire`], and when the time is over.
    pub async fn acquire_within(
        &self,
        count: u32,
        patience: Duration,
    ) -> Result<UnitsGuard, Error> {
        self.claim(count, Some(patience), false).await
    }

    /// Takes so many units if they are free, and does not wait for anybody.
    ///
    /// # Errors
    ///
    /// As [`Pool::acquire`], and when somebody has them or comes first.
    pub async fn try_acquire(&self, count: u32) -> Result<UnitsGuard, Error> {
        self.claim(count, Some(HASTE), true).await
    }

    async fn claim(
        &self,
        count: u32,
        patience: Option<Duration>,
        hasty: bool,
    ) -> Result<UnitsGuard, Error> {
        let units = Units { count, of: self.units };
        let want = Want::Pool { units, numbered: self.numbered };
        let wish = (self.name.clone(), want);
        let (guard, got) = claim(&self.cluster, wish, patience, hasty).await?;
        let numbers = if let Got::Pool(numbers) = got { numbers } else { BTreeSet::new() };
        Ok(UnitsGuard { guard, count, numbers })
    }
}

/// Units that are held. Dropping it gives them back; the rest is as with any [`Guard`].
///
/// Fences of a pool grow only along grants that could not have been held together, and along those
/// of each unit that has a number.
#[derive(Debug)]
#[must_use = "a guard that is dropped gives its units back"]
pub struct UnitsGuard {
    guard: Guard,
    count: u32,
    numbers: BTreeSet<u32>,
}

impl UnitsGuard {
    /// How many units it has.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Which ones, from 0 on, if the pool is [`numbered`](Pool::numbered); nobody else has any of
    /// them.
    pub fn numbers(&self) -> &BTreeSet<u32> {
        &self.numbers
    }

    /// Gives them back, as [`Guard::release`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if they were not ours to the end.
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
