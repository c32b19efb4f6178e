//! Role locks: shared and exclusive members of a group, each for a declared time.

use std::ops::Deref;
use std::time::Duration;

use quorate_session::{Granted, Group, LockSpec, Role, RoleSpec};

use crate::guard::claim;
use crate::{Error, GroupLock, Guard};

/// Role locks. A name is used with roles or without, not both at a time.
impl GroupLock {
    /// Joins `group` in this role, for about `time`. Dropping the future gives up.
    ///
    /// One group holds the lock at a time. It has any number of members with [`Role::Shared`], and
    /// besides at most one with [`Role::Exclusive`]. The declared times decide which members still
    /// fit in before the next group.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), quorate::Error> {
    /// use quorate::Role;
    /// let sites = quorate::Cluster::in_memory(3)?;
    /// let [a, b] = [&sites[0], &sites[1]];
    /// let minute = Duration::from_secs(60);
    /// let compactor = a.group("table")?.join("v1", Role::Exclusive, minute).await?;
    /// let reader = b.group("table")?.join("v1", Role::Shared, minute / 2).await?;
    /// assert_eq!((reader.group(), reader.role()), ("v1", Role::Shared));
    /// assert!(b.group("table")?.try_join("v1", Role::Exclusive, minute).await.is_err());
    /// # drop(compactor);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`GroupLock::enter`], and if the time is longer than a year.
    pub async fn join(&self, group: &str, role: Role, time: Duration) -> Result<RoleGuard, Error> {
        self.join_any([(group, role)], time).await
    }

    /// Joins one of these groups, in the role named with it.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::join`], and if there is no group, or more than 32.
    pub async fn join_any<'g>(
        &self,
        groups: impl IntoIterator<Item = (&'g str, Role)>,
        time: Duration,
    ) -> Result<RoleGuard, Error> {
        self.claim_role(groups, time, None, false).await
    }

    /// As [`GroupLock::join_any`], with a timeout: it ends then, whether or not any site answers.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::join_any`], and when the timeout runs out.
    pub async fn join_any_within<'g>(
        &self,
        groups: impl IntoIterator<Item = (&'g str, Role)>,
        time: Duration,
        timeout: Duration,
    ) -> Result<RoleGuard, Error> {
        self.claim_role(groups, time, Some(timeout), false).await
    }

    /// Joins `group` if that is possible now, and does not wait for other callers.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::join`], and [`Error::Busy`] if a holder conflicts or another caller is first
    /// in line.
    pub async fn try_join(
        &self,
        group: &str,
        role: Role,
        time: Duration,
    ) -> Result<RoleGuard, Error> {
        self.try_join_any([(group, role)], time).await
    }

    /// Joins one of these groups, and does not wait for other callers.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::join_any`], and [`Error::Busy`] if a holder conflicts or another caller is
    /// first in line.
    pub async fn try_join_any<'g>(
        &self,
        groups: impl IntoIterator<Item = (&'g str, Role)>,
        time: Duration,
    ) -> Result<RoleGuard, Error> {
        self.claim_role(groups, time, None, true).await
    }

    async fn claim_role<'g>(
        &self,
        groups: impl IntoIterator<Item = (&'g str, Role)>,
        time: Duration,
        timeout: Option<Duration>,
        no_wait: bool,
    ) -> Result<RoleGuard, Error> {
        let groups = groups.into_iter().map(|(group, role)| (Group::new(group), role)).collect();
        let spec = LockSpec::Role(RoleSpec { groups, time });
        match claim(self.cluster(), self.name(), spec, timeout, no_wait).await? {
            (guard, Granted::Role(group, role)) => Ok(RoleGuard { guard, group, role }),
            _ => Err(Error::Stopped("it granted another kind of lock".into())),
        }
    }
}

/// A membership that is held. Dropping it leaves the group. It dereferences to a [`Guard`].
///
/// Shared members of one stage have the same fence, and each exclusive member has a higher one. The
/// two roles do not conflict: a storage that both write to must check their fences separately, or
/// only those of exclusive members.
#[derive(Debug)]
#[must_use = "a guard that is dropped leaves its group"]
pub struct RoleGuard {
    guard: Guard,
    group: Group,
    role: Role,
}

impl RoleGuard {
    /// The group that was joined.
    pub fn group(&self) -> &str {
        self.group.name()
    }

    /// The role in it.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Leaves the group, as [`Guard::release`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if the membership was lost before.
    pub async fn release(self) -> Result<(), Error> {
        self.guard.release().await
    }
}

impl Deref for RoleGuard {
    type Target = Guard;

    fn deref(&self) -> &Guard {
        &self.guard
    }
}

impl AsRef<Guard> for RoleGuard {
    fn as_ref(&self) -> &Guard {
        &self.guard
    }
}

impl From<RoleGuard> for Guard {
    fn from(member: RoleGuard) -> Self {
        member.guard
    }
}
