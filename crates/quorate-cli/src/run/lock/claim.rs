//! What is claimed, as it was written on the command line.

use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;
use quorate::{Cluster, Error, Guard, Name};

/// Which kind of lock, and how much of it; without any, a mutex.
#[derive(Args, Clone, Copy, Debug)]
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
    /// What `QUORATE_UNITS` says.
    pub(super) units: String,
}

impl ClaimArgs {
    /// Claims it.
    pub(super) async fn acquire(
        self,
        cluster: &Cluster,
        name: &Name,
        wait: Wait,
    ) -> Result<Granted, Error> {
        match self.units.zip(self.of) {
            None => {
                let mutex = cluster.mutex(name.as_str())?;
                let guard = match wait {
                    Wait::No => mutex.try_lock().await?,
                    Wait::Within(patience) => mutex.lock_within(patience).await?,
                    Wait::ForEver => mutex.lock().await?,
                };
                Ok(Granted { guard, units: String::new() })
            }
            Some((count, of)) => self.acquire_units(cluster, name, wait, (count, of)).await,
        }
    }

    async fn acquire_units(
        self,
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
        Ok(Granted { guard: guard.into(), units })
    }
}

/// Numbers as programs like to read them: `0,4,5`.
fn listed(numbers: &BTreeSet<u32>) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
