//! What is claimed, as it was written on the command line.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;
use quorate::{Cluster, Error, Guard, Name, Role};

/// Which kind of lock, and how much of it; without any, a mutex.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Claim")]
pub(crate) struct ClaimArgs {
    /// So many units of a pool, all at once
    #[arg(long, value_name = "H", requires = "of")]
    units: Option<u32>,
    /// How many units the pool has
    #[arg(long, value_name = "K", requires = "units")]
    of: Option<u32>,
    /// Finds out which units, numbered from 0
    #[arg(long, requires = "units")]
    numbered: bool,
    /// Together with others of this group; given again, with any one of them
    #[arg(long = "group", value_name = "GROUP", conflicts_with_all = ["units", "read", "write"])]
    groups: Vec<String>,
    /// The group lock by this means: `token`, which goes round, takes fewer messages where one site
    /// enters again and again
    #[arg(long, value_name = "MEANS", value_parser = ["token"], requires = "groups")]
    #[arg(conflicts_with = "role")]
    via: Option<String>,
    /// As a shared member of the group, or as the exclusive one
    #[arg(long, value_name = "ROLE", value_parser = parse_role, requires_all = ["groups", "time"])]
    role: Option<Role>,
    /// How long it is going to take, about, as in 90s, 10m
    #[arg(long = "for", value_name = "TIME", value_parser = humantime::parse_duration)]
    #[arg(requires = "role")]
    time: Option<Duration>,
    /// Together with others that read
    #[arg(long, conflicts_with_all = ["units", "write"])]
    read: bool,
    /// Alone, where others read
    #[arg(long, conflicts_with = "units")]
    write: bool,
}

/// For how long a claim waits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// For nobody.
    No,
    /// So long at most.
    Within(Duration),
    /// As long as it takes.
    ForEver,
}

/// What was granted.
#[derive(Debug)]
pub(super) struct Granted {
    pub(super) guard: Guard,
    pub(super) share: Share,
}

/// What the command is told of it besides the fence.
#[derive(Debug, Default)]
pub(super) struct Share {
    /// What `QUORATE_UNITS` says.
    pub(super) units: String,
    /// What `QUORATE_GROUP` says.
    pub(super) group: String,
    /// What `QUORATE_ROLE` says.
    pub(super) role: String,
}

impl Share {
    /// The same in a few words, with a comma before it.
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
    /// Claims it.
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
                Wait::Within(patience) => mutex.lock_within(patience).await?,
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
            Wait::Within(patience) => lock.enter_any_within(groups, patience).await?,
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
            Wait::Within(patience) => lock.join_any_within(groups, time, patience).await?,
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
            (Wait::Within(patience), true) => lock.read_within(patience).await?,
            (Wait::Within(patience), false) => lock.write_within(patience).await?,
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
            Wait::Within(patience) => pool.acquire_within(count, patience).await?,
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

/// Numbers as programs like to read them: `0,4,5`.
fn listed(numbers: &BTreeSet<u32>) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
