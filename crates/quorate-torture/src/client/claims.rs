//! What clients ask for, drawn from a seed.

use std::collections::BTreeSet;
use std::time::Duration;

use quorate::{Cluster, Error, Guard, Role};

use crate::chance::Chance;
use crate::share::{Kind, Share, UNITS};

/// What a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) kind: Kind,
    pub(crate) wish: Wish,
    pub(crate) wait: Wait,
    /// How long it stays inside.
    pub(crate) stay: Duration,
}

/// What a client wants of a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Alone,
    Units(u32),
    Groups(Vec<&'static str>),
    Roles(Vec<(&'static str, bool)>),
    Write(bool),
}

/// How long a client waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Not,
    Within(Duration),
    Forever,
}

const GROUPS: [&str; 3] = ["a", "b", "c"];

impl Claim {
    /// Draws a claim.
    pub(crate) fn draw(kind: Kind, lease: Duration, chance: &mut Chance) -> Self {
        let wish = match kind {
            Kind::Mutex => Wish::Alone,
            Kind::Pool | Kind::Numbered => Wish::Units(*chance.pick(&[1, 1, 1, 2, 2, 3, UNITS])),
            Kind::Group | Kind::Token => Wish::Groups(groups(chance)),
            Kind::Role => {
                let groups = groups(chance).into_iter();
                Wish::Roles(groups.map(|group| (group, chance.permille(300))).collect())
            }
            Kind::ReadWrite => Wish::Write(chance.permille(300)),
        };
        Self { kind, wish, wait: Wait::draw(lease, chance), stay: stay(lease, chance) }
    }

    /// Asks a cluster for it.
    pub(crate) async fn ask(&self, cluster: &Cluster) -> Result<(Guard, Share), Error> {
        let name = self.kind.name();
        match &self.wish {
            Wish::Alone => {
                let mutex = cluster.mutex(name)?;
                let guard = match self.wait {
                    Wait::Not => mutex.try_lock().await,
                    Wait::Within(time) => mutex.lock_within(time).await,
                    Wait::Forever => mutex.lock().await,
                };
                Ok((guard?, Share::Alone))
            }
            Wish::Units(count) => self.ask_units(cluster, *count).await,
            Wish::Groups(groups) => self.ask_groups(cluster, groups).await,
            Wish::Roles(roles) => self.ask_roles(cluster, roles).await,
            Wish::Write(write) => self.ask_access(cluster, *write).await,
        }
    }

    async fn ask_units(&self, cluster: &Cluster, count: u32) -> Result<(Guard, Share), Error> {
        let mut pool = cluster.pool(self.kind.name(), UNITS)?;
        if self.kind == Kind::Numbered {
            pool = pool.numbered();
        }
        let guard = match self.wait {
            Wait::Not => pool.try_acquire(count).await?,
            Wait::Within(time) => pool.acquire_within(count, time).await?,
            Wait::Forever => pool.acquire(count).await?,
        };
        let numbers: BTreeSet<u32> = guard.numbers().clone();
        Ok((guard.into(), Share::Units { count, of: UNITS, numbers }))
    }

    async fn ask_groups(
        &self,
        cluster: &Cluster,
        groups: &[&str],
    ) -> Result<(Guard, Share), Error> {
        let mut lock = cluster.group(self.kind.name())?;
        if self.kind == Kind::Token {
            lock = lock.via_token();
        }
        let groups = groups.iter().copied();
        let guard = match self.wait {
            Wait::Not => lock.try_enter_any(groups).await?,
            Wait::Within(time) => lock.enter_any_within(groups, time).await?,
            Wait::Forever => lock.enter_any(groups).await?,
        };
        let group = guard.group().to_owned();
        Ok((guard.into(), Share::Group(group)))
    }

    async fn ask_roles(
        &self,
        cluster: &Cluster,
        roles: &[(&str, bool)],
    ) -> Result<(Guard, Share), Error> {
        let lock = cluster.group(self.kind.name())?;
        let role = |exclusive| if exclusive { Role::Exclusive } else { Role::Shared };
        let roles = roles.iter().map(|(group, exclusive)| (*group, role(*exclusive)));
        let guard = match self.wait {
            Wait::Not => lock.try_join_any(roles, self.stay).await?,
            Wait::Within(time) => lock.join_any_within(roles, self.stay, time).await?,
            Wait::Forever => lock.join_any(roles, self.stay).await?,
        };
        let exclusive = guard.role() == Role::Exclusive;
        let group = guard.group().to_owned();
        Ok((guard.into(), Share::Member { group, exclusive }))
    }

    async fn ask_access(&self, cluster: &Cluster, write: bool) -> Result<(Guard, Share), Error> {
        let lock = cluster.rwlock(self.kind.name())?;
        let share = if write { Share::Write } else { Share::Read };
        let guard = match (self.wait, write) {
            (Wait::Not, true) => lock.try_write().await,
            (Wait::Not, false) => lock.try_read().await,
            (Wait::Within(time), true) => lock.write_within(time).await,
            (Wait::Within(time), false) => lock.read_within(time).await,
            (Wait::Forever, true) => lock.write().await,
            (Wait::Forever, false) => lock.read().await,
        };
        Ok((guard?, share))
    }

    /// The arguments of `quorate lock` that ask for the same.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let mut arguments: Vec<String> = words(&["lock", self.kind.name()]);
        let group = |group: &&str| ["--group".to_owned(), (*group).to_owned()];
        match &self.wish {
            Wish::Alone => {}
            Wish::Units(count) => {
                let (count, of) = (count.to_string(), UNITS.to_string());
                arguments.extend(["--units".into(), count, "--of".into(), of]);
                if self.kind == Kind::Numbered {
                    arguments.push("--numbered".into());
                }
            }
            Wish::Groups(groups) => arguments.extend(groups.iter().flat_map(group)),
            Wish::Roles(roles) => {
                let exclusive = roles[0].1;
                arguments.extend(group(&roles[0].0));
                let role = if exclusive { "exclusive" } else { "shared" };
                let time = format!("{}ms", self.stay.as_millis());
                arguments.extend(["--role".into(), role.into(), "--for".into(), time]);
            }
            Wish::Write(write) => {
                arguments.push(if *write { "--write" } else { "--read" }.to_owned());
            }
        }
        if self.kind == Kind::Token {
            arguments.extend(words(&["--via", "token"]));
        }
        match self.wait {
            Wait::Not => arguments.push("--no-wait".into()),
            Wait::Within(time) => {
                arguments.extend(["--wait".into(), format!("{}ms", time.as_millis())]);
            }
            Wait::Forever => {}
        }
        arguments
    }
}

impl Wait {
    /// Mostly a few leases; sometimes not at all, and sometimes for ever.
    fn draw(lease: Duration, chance: &mut Chance) -> Self {
        match chance.below(10) {
            0 => Wait::Not,
            1 | 2 => Wait::Forever,
            _ => Wait::Within(lease + lease * u32::try_from(chance.below(5)).unwrap_or(0)),
        }
    }

    pub(crate) fn limit(self, lease: Duration) -> Option<Duration> {
        match self {
            Wait::Not => Some(lease),
            Wait::Within(time) => Some(time),
            Wait::Forever => None,
        }
    }
}

fn groups(chance: &mut Chance) -> Vec<&'static str> {
    let count = if chance.permille(300) { 2 } else { 1 };
    let mut groups = chance.shuffled(&GROUPS);
    groups.truncate(count);
    groups
}

/// Mostly short; one in twenty stays for up to three leases, and must outlive a fault.
fn stay(lease: Duration, chance: &mut Chance) -> Duration {
    let longest = match chance.below(20) {
        0 => lease * 3,
        1..=4 => lease / 2,
        _ => lease / 16,
    };
    let millis = usize::try_from(longest.as_millis()).unwrap_or(usize::MAX);
    Duration::from_millis(u64::try_from(chance.below(millis)).unwrap_or_default() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_claims_again() {
        let lease = Duration::from_secs(1);
        for kind in Kind::ALL {
            let draw = |seed| Claim::draw(kind, lease, &mut Chance::new(seed));
            assert_eq!(draw(3), draw(3));
            assert!((0..50).any(|seed| draw(seed) != draw(3)), "{kind}");
        }
    }
}
