//! Locks that callers of one group hold together.

use std::ops::Deref;
use std::time::Duration;

use quorate_session::{Granted, Group, GroupSpec, Groups, LockSpec, Name, TokenSpec};

use crate::guard::claim;
use crate::{Cluster, Error, Guard};

/// A lock that callers of one group hold together, and never two groups.
///
/// A caller may name several groups: it is granted one of them, and learns which. Compatible
/// callers join immediately until the caller that opened the occupancy leaves.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), quorate::Error> {
/// let sites = quorate::Cluster::in_memory(3)?;
/// let old = sites[0].group("warehouse")?.enter("v2").await?;
/// // A caller that can work with either version joins the present one.
/// let either = sites[1].group("warehouse")?.enter_any(["v2", "v3"]).await?;
/// assert_eq!(either.group(), "v2");
/// assert_eq!(either.fence(), old.fence(), "all holders of one occupancy share a fence");
/// // Version 3 has to wait.
/// assert!(sites[2].group("warehouse")?.try_enter("v3").await.is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct GroupLock {
    cluster: Cluster,
    name: Name,
    by_token: bool,
}

impl GroupLock {
    pub(crate) fn new(cluster: Cluster, name: Name) -> Self {
        Self { cluster, name, by_token: false }
    }

    /// The same lock with another protocol: a token passes between sites, and no quorum is asked
    /// for each grant. This takes fewer messages if one site enters again and again, or many groups
    /// wait. It is another kind of lock: all callers of a name must use the same kind. (Members
    /// with [roles](Self::join) are a third kind, for which this changes nothing.)
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), quorate::Error> {
    /// let sites = quorate::Cluster::in_memory(3)?;
    /// let old = sites[0].group("warehouse")?.via_token().enter_any(["v2"]).await?;
    /// let either = sites[1].group("warehouse")?.via_token().enter_any(["v2", "v3"]).await?;
    /// assert_eq!((either.group(), either.fence()), ("v2", old.fence()));
    /// // Without the token it is another kind of lock, and the name is in use.
    /// assert!(sites[0].group("warehouse")?.enter("v2").await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "it is another lock"]
    pub fn via_token(self) -> Self {
        Self { by_token: true, ..self }
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    pub(crate) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Waits until no other group holds the lock. Dropping the future gives up.
    ///
    /// # Errors
    ///
    /// The group's name is invalid, the cluster denies the claim, or the client has stopped.
    pub async fn enter(&self, group: &str) -> Result<GroupGuard, Error> {
        self.enter_any([group]).await
    }

    /// Waits until the lock can be held with one of these groups. Dropping the future gives up.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::enter`], and if there is no group, or more than 32.
    pub async fn enter_any<'g>(
        &self,
        groups: impl IntoIterator<Item = &'g str>,
    ) -> Result<GroupGuard, Error> {
        self.claim(named(groups), None, false).await
    }

    /// As [`GroupLock::enter_any`], with a timeout: it ends then, whether or not any site answers.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::enter_any`], and when the timeout runs out.
    pub async fn enter_any_within<'g>(
        &self,
        groups: impl IntoIterator<Item = &'g str>,
        timeout: Duration,
    ) -> Result<GroupGuard, Error> {
        self.claim(named(groups), Some(timeout), false).await
    }

    /// Takes the lock with this group if no other group holds it, and does not wait for other
    /// callers.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::enter`], and [`Error::Busy`] if another group holds it or is first in line.
    pub async fn try_enter(&self, group: &str) -> Result<GroupGuard, Error> {
        self.try_enter_any([group]).await
    }

    /// Takes the lock with one of these groups, and does not wait for other callers.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::enter_any`], and [`Error::Busy`] if another group holds it or is first in
    /// line.
    pub async fn try_enter_any<'g>(
        &self,
        groups: impl IntoIterator<Item = &'g str>,
    ) -> Result<GroupGuard, Error> {
        self.claim(named(groups), None, true).await
    }

    async fn claim(
        &self,
        groups: Groups,
        timeout: Option<Duration>,
        no_wait: bool,
    ) -> Result<GroupGuard, Error> {
        let spec = if self.by_token {
            LockSpec::Token(TokenSpec(groups))
        } else {
            LockSpec::Group(GroupSpec(groups))
        };
        match claim(&self.cluster, &self.name, spec, timeout, no_wait).await? {
            (guard, Granted::Group(group)) => Ok(GroupGuard { guard, group }),
            _ => Err(Error::Stopped("it granted another kind of lock".into())),
        }
    }
}

fn named<'g>(groups: impl IntoIterator<Item = &'g str>) -> Groups {
    groups.into_iter().map(Group::new).collect()
}

/// A group lock that is held. Dropping it releases the lock. It dereferences to a [`Guard`].
///
/// All holders of one occupancy have the same fence, which is higher than those of all occupancies
/// before.
#[derive(Debug)]
#[must_use = "a guard that is dropped releases its lock"]
pub struct GroupGuard {
    guard: Guard,
    group: Group,
}

impl GroupGuard {
    /// The group it is held with.
    pub fn group(&self) -> &str {
        self.group.name()
    }

    /// Releases the lock, as [`Guard::release`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if the lock was lost before.
    pub async fn release(self) -> Result<(), Error> {
        self.guard.release().await
    }
}

impl Deref for GroupGuard {
    type Target = Guard;

    fn deref(&self) -> &Guard {
        &self.guard
    }
}

impl AsRef<Guard> for GroupGuard {
    fn as_ref(&self) -> &Guard {
        &self.guard
    }
}

impl From<GroupGuard> for Guard {
    fn from(group: GroupGuard) -> Self {
        group.guard
    }
}
