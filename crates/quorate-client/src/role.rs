//! Members of a group, shared or exclusive, for a declared time.

use std::ops::Deref;
use std::time::Duration;

use quorate_session::{Got, Group, Role, Want};

use crate::guard::{HASTE, claim};
use crate::{Error, GroupLock, Guard};

/// Roles. A name is used with roles or without, not both at a time.
impl GroupLock {
    /// Waits until it is a member of `group` in this role, for about so long. Dropping the future
    /// gives up.
    ///
    /// One group owns the lock at a time. Any number of its members are inside with
    /// [`Role::Shared`], and at most one beside them with [`Role::Exclusive`]. How long each says
    /// that it will stay decides who still fits before the next group's turn.
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

    /// Waits until it is a member of any one of these groups, in the role named with it.
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

    /// The same, and waits so long at most.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::join_any`], and when the patience is over.
    pub async fn join_any_within<'g>(
        &self,
        groups: impl IntoIterator<Item = (&'g str, Role)>,
        time: Duration,
        patience: Duration,
    ) -> Result<RoleGuard, Error> {
        self.claim_role(groups, time, Some(patience), false).await
    }

    /// Becomes a member if that can be at once, and does not wait for anybody.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::join`], and when somebody is in the way or comes first.
    pub async fn try_join(
        &self,
        group: &str,
        role: Role,
        time: Duration,
    ) -> Result<RoleGuard, Error> {
        self.try_join_any([(group, role)], time).await
    }

    /// Becomes a member of any one of these groups, and does not wait for anybody.
    ///
    /// # Errors
    ///
    /// As [`GroupLock::join_any`], and when somebody is in the way or comes first.
    pub async fn try_join_any<'g>(
        &self,
        groups: impl IntoIterator<Item = (&'g str, Role)>,
        time: Duration,
    ) -> Result<RoleGuard, Error> {
        self.claim_role(groups, time, Some(HASTE), true).await
    }

    async fn claim_role<'g>(
        &self,
        groups: impl IntoIterator<Item = (&'g str, Role)>,
        time: Duration,
        patience: Option<Duration>,
        hasty: bool,
    ) -> Result<RoleGuard, Error> {
        let groups = groups.into_iter().map(|(group, role)| (Group::new(group), role)).collect();
        let wish = (self.name().clone(), Want::Role { groups, time });
        match claim(self.cluster(), wish, patience, hasty).await? {
            (guard, Got::Role(group, role)) => Ok(RoleGuard { guard, group, role }),
            _ => Err(Error::Stopped("it granted something else than was asked for".into())),
        }
    }
}

/// A membership that is held. Dropping it leaves the group; the rest is as with any [`Guard`].
///
/// Shared members of one stage have the same fence, and each exclusive one a higher one of its
/// own. They do not conflict: let what shared and exclusive members write be told apart, or look at
/// the fences of exclusive ones only.
#[derive(Debug)]
#[must_use = "a guard that is dropped leaves its group"]
pub struct RoleGuard {
    guard: Guard,
    group: Group,
    role: Role,
}

impl RoleGuard {
    /// The group it is a member of.
    pub fn group(&self) -> &str {
        self.group.name()
    }

    /// In which role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Leaves, as [`Guard::release`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] if it was not a member to the end.
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
