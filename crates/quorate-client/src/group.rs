//! Locks that many hold together, if they are of one group.

use std::ops::Deref;
use std::time::Duration;

use quorate_session::{Got, Group, Groups, Name, Want};

use crate::guard::{HASTE, claim};
use crate::{Cluster, Error, Guard};

/// A lock that many hold together, if they are of one group, and that no two groups hold.
///
/// A caller may name several groups: it gets whichever comes first, and learns which. Whoever could
/// join those inside does not wait, for as long as the one who opened the session stays.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), quorate::Error> {
/// let sites = quorate::Cluster::in_memory(3)?;
/// let old = sites[0].group("warehouse")?.enter("v2").await?;
/// // Whoever can work with either version joins the one that is there.
/// let either = sites[1].group("warehouse")?.enter_any(["v2", "v3"]).await?;
/// assert_eq!(either.group(), "v2");
/// assert_eq!(either.fence(), old.fence(), "those of one session share a fence");
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

    /// The same by a token that goes round, in place of quorums that are asked each time: fewer
    /// messages where one site enters again and again, or many groups wait. It is a lock of another
    /// kind: all who use the name must do so. (Members with [roles](Self::join) are a third kind,
    /// for which this changes nothing.)
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

    /// Waits until nobody of another group is inside. Dropping the future gives up.
    ///
    /// # Errors
    ///
    /// The group's name is empty or too long, the cluster said no, or the way to it is gone for
    /// good.
    pub async fn enter(&self, group: &str) -> Result<GroupGuard, Error> {
        self.enter_any([group]).await
    }

    /// Waits until it can be held with any one of these groups. Dropping the future gives up.
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

    /// The same, and waits so long at most.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::enter_any`], and when the time is over.
    pub async fn enter_any_within<'g>(
        &self,
        groups: impl IntoIterator<Item = &'g str>,
        patience: Duration,
    ) -> Result<GroupGuard, Error> {
        self.claim(named(groups), Some(patience), false).await
    }

    /// Takes it with this group if that can be had at once, and does not wait for anybody.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::enter`], and when another group is inside or comes first.
    pub async fn try_enter(&self, group: &str) -> Result<GroupGuard, Error> {
        self.try_enter_any([group]).await
    }

    /// Takes it with any one of these groups, and does not wait for anybody.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::enter_any`], and when another group is inside or comes first.
    pub async fn try_enter_any<'g>(
        &self,
        groups: impl IntoIterator<Item = &'g str>,
    ) -> Result<GroupGuard, Error> {
        self.claim(named(groups), Some(HASTE), true).await
    }

    async fn claim(
        &self,
        groups: Groups,
        patience: Option<Duration>,
        hasty: bool,
    ) -> Result<GroupGuard, Error> {
        let want = if self.by_token { Want::Token(groups) } else { Want::Group(groups) };
        let wish = (self.name.clone(), want);
        match claim(&self.cluster, wish, patience, hasty).await? {
            (guard, Got::Group(group)) => Ok(GroupGuard { guard, group }),
            _ => Err(Error::Stopped("it granted something else than was asked for".into())),
        }
    }
}

fn named<'g>(groups: impl IntoIterator<Item = &'g str>) -> Groups {
    groups.into_iter().map(Group::new).collect()
}

/// A group lock that is held. Dropping it releases it; the rest is as with any [`Guard`].
///
/// All who are inside together have the same fence, and it is above those of all sessions before.
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

    /// Releases it, as [`Guard::release`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if it was not ours to the end.
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
