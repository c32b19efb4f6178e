//! The claim, as written on the command line.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;
use quorate::{Cluster, Error, Guard, Kind, Name, Role};

/// The kind of lock, and how much of it; a mutex by default.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Kind of lock (a mutex by default)")]
pub(crate) struct ClaimArgs {
    /// Claim H units of a pool, all at once
    #[arg(long, value_name = "H", requires = "of")]
    units: Option<u32>,
    /// The number of units of the pool
    #[arg(long, value_name = "K", requires = "units")]
    of: Option<u32>,
    /// Report in `QUORATE_UNITS` which units were granted, numbered from 0
    #[arg(long, requires = "units")]
    numbered: bool,
    /// Share the lock with others of this group; if repeated, with any one of these groups
    #[arg(long = "group", value_name = "GROUP", conflicts_with_all = ["units", "read", "write"])]
    groups: Vec<String>,
    /// How the group lock is decided: `token` needs fewer messages if one site enters repeatedly
    #[arg(long, value_name = "MEANS", value_parser = ["token"], requires = "groups")]
    #[arg(conflicts_with = "role")]
    via: Option<String>,
    /// Join the group as a shared member or as the exclusive one
    #[arg(long, value_name = "ROLE", value_parser = parse_role, requires_all = ["groups", "time"])]
    role: Option<Role>,
    /// The expected duration of the stay, such as 90s or 10m
    #[arg(long = "for", value_name = "TIME", value_parser = humantime::parse_duration)]
    #[arg(requires = "role")]
    time: Option<Duration>,
    /// Share the lock with other readers
    #[arg(long, conflicts_with_all = ["units", "write"])]
    read: bool,
    /// Exclude readers and other writers
    #[arg(long, conflicts_with = "units")]
    write: bool,
}

/// How long a claim waits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// Not at all.
    No,
    /// At most this long.
    Within(Duration),
    /// Without a limit.
    ForEver,
}

/// A granted lock.
#[derive(Debug)]
pub(super) struct Granted {
    pub(super) guard: Guard,
    pub(super) share: Share,
}

/// What the command learns about the grant besides the fence.
#[derive(Debug, Default)]
pub(super) struct Share {
    /// The value of `QUORATE_UNITS`.
    pub(super) units: String,
    /// The value of `QUORATE_GROUP`.
    pub(super) group: String,
    /// The value of `QUORATE_ROLE`.
    pub(super) role: String,
}

impl Share {
    /// A short description set off by commas, or nothing.
    pub(super) fn sentence(&self) -> String {
        match (self.units.as_str(), self.group.as_str()) {
            ("", "") => String::new(),
            ("", group) if !self.role.is_empty() => format!(", {} in {group},", self.role),
            ("", group) => format!(", group {group},"),
            (units, _) => format!(", units {units},"),
        }
    }
}

impl ClaimArgs {
    /// The kind of lock that is claimed.
    pub(super) fn kind(&self) -> Kind {
        match self.of {
            Some(units) => Kind::Pool(units),
            None if self.role.is_some() => Kind::Role,
            None if self.via.is_some() => Kind::Token,
            None if !self.groups.is_empty() => Kind::Group,
            None if self.read || self.write => Kind::ReadWrite,
            None => Kind::Mutex,
        }
    }

    /// Claims the lock.
    pub(super) async fn acquire(
        &self,
        cluster: &Cluster,
        name: &Name,
        wait: Wait,
    ) -> Result<Granted, Error> {
        if let Some(units) = self.units.zip(self.of) {
            self.acquire_units(cluster, name, wait, units).await
        } else if let Some(member) = self.role.zip(self.time) {
            self.acquire_role(cluster, name, wait, member).await
        } else if !self.groups.is_empty() {
            self.acquire_group(cluster, name, wait).await
        } else if self.read || self.write {
            self.acquire_access(cluster, name, wait).await
        } else {
            let mutex = cluster.mutex(name.as_str())?;
            let guard = match wait {
                Wait::No => mutex.try_lock().await?,
                Wait::Within(timeout) => mutex.lock_within(timeout).await?,
                Wait::ForEver => mutex.lock().await?,
            };
            Ok(Granted { guard, share: Share::default() })
        }
    }

    async fn acquire_group(
        &self,
        cluster: &Cluster,
        name: &Name,
        wait: Wait,
    ) -> Result<Granted, Error> {
        let mut lock = cluster.group(name.as_str())?;
        if self.via.is_some() {
            lock = lock.via_token();
        }
        let groups = self.groups.iter().map(String::as_str);
        let guard = match wait {
            Wait::No => lock.try_enter_any(groups).await?,
            Wait::Within(timeout) => lock.enter_any_within(groups, timeout).await?,
            Wait::ForEver => lock.enter_any(groups).await?,
        };
        let share = Share { group: guard.group().to_owned(), ..Share::default() };
        Ok(Granted { guard: guard.into(), share })
    }

    async fn acquire_role(
        &self,
        cluster: &Cluster,
        name: &Name,
        wait: Wait,
        (role, time): (Role, Duration),
    ) -> Result<Granted, Error> {
        let lock = cluster.group(name.as_str())?;
        let groups = self.groups.iter().map(|group| (group.as_str(), role));
        let guard = match wait {
            Wait::No => lock.try_join_any(groups, time).await?,
            Wait::Within(timeout) => lock.join_any_within(groups, time, timeout).await?,
            Wait::ForEver => lock.join_any(groups, time).await?,
        };
        let (group, role) = (guard.group().to_owned(), guard.role().to_string());
        let share = Share { group, role, ..Share::default() };
        Ok(Granted { guard: guard.into(), share })
    }

    async fn acquire_access(
        &self,
        cluster: &Cluster,
        name: &Name,
        wait: Wait,
    ) -> Result<Granted, Error> {
        let lock = cluster.rwlock(name.as_str())?;
        let guard = match (wait, self.read) {
            (Wait::No, true) => lock.try_read().await?,
            (Wait::No, false) => lock.try_write().await?,
            (Wait::Within(timeout), true) => lock.read_within(timeout).await?,
            (Wait::Within(timeout), false) => lock.write_within(timeout).await?,
            (Wait::ForEver, true) => lock.read().await?,
            (Wait::ForEver, false) => lock.write().await?,
        };
        Ok(Granted { guard, share: Share::default() })
    }

    async fn acquire_units(
        &self,
        cluster: &Cluster,
        name: &Name,
        wait: Wait,
        (count, of): (u32, u32),
    ) -> Result<Granted, Error> {
        let mut pool = cluster.pool(name.as_str(), of)?;
        if self.numbered {
            pool = pool.numbered();
        }
        let guard = match wait {
            Wait::No => pool.try_acquire(count).await?,
            Wait::Within(timeout) => pool.acquire_within(count, timeout).await?,
            Wait::ForEver => pool.acquire(count).await?,
        };
        let units = if self.numbered { listed(guard.numbers()) } else { count.to_string() };
        let share = Share { units, ..Share::default() };
        Ok(Granted { guard: guard.into(), share })
    }
}

fn parse_role(text: &str) -> Result<Role, String> {
    let found = Role::ALL.into_iter().find(|(name, _)| *name == text);
    found.map(|(_, role)| role).ok_or_else(|| "expected `shared` or `exclusive`".to_owned())
}

/// Numbers separated by commas: `0,4,5`.
fn listed(numbers: &BTreeSet<u32>) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
