//! The kinds of lock that callers claim, and how a seed draws what each of them wants.

use std::time::Duration;

use quorate_session::{
    Access, Group, GroupSpec, Groups, LockSpec, PoolSpec, Role, RoleSpec, TokenSpec, Units,
};

use crate::chance::Chance;

/// The kind of all locks of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimKind {
    /// Mutexes.
    Mutex,
    /// Pools of a size that the seed draws; some callers ask which units they have.
    Pool,
    /// Group locks, or read-write locks, as the seed draws.
    Group,
    /// Role locks; some callers name several groups, and some stay for longer than they say.
    Role,
    /// Group locks by token.
    Token,
}

/// What the seed draws once for all claims of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClaimParameters {
    /// Whether group locks are read-write locks.
    read_write: bool,
    /// How many units each pool has.
    units: u32,
}

impl ClaimKind {
    pub(super) fn draw_parameters(self, chance: &mut Chance) -> ClaimParameters {
        ClaimParameters {
            read_write: self == ClaimKind::Group && chance.percent(40),
            units: if self == ClaimKind::Pool { chance.one_of(&[1, 2, 3, 4]) } else { 1 },
        }
    }

    /// What one caller wants, that stays for about `hold` nanoseconds.
    pub(super) fn draw_spec(
        self,
        claims: ClaimParameters,
        hold: u64,
        chance: &mut Chance,
    ) -> LockSpec {
        match self {
            ClaimKind::Mutex => LockSpec::Mutex,
            ClaimKind::Pool => {
                let count = 1 + chance.below(claims.units.into());
                let count = u32::try_from(count).expect("a pool is small here");
                let units = Units { count, of: claims.units };
                LockSpec::Pool(PoolSpec { units, numbered: chance.percent(50) })
            }
            ClaimKind::Group if claims.read_write => {
                let reads = chance.percent(70);
                LockSpec::Access(if reads { Access::Read } else { Access::Write })
            }
            ClaimKind::Group => LockSpec::Group(GroupSpec(draw_groups(chance))),
            ClaimKind::Token => LockSpec::Token(TokenSpec(draw_groups(chance))),
            ClaimKind::Role => {
                let groups = draw_groups(chance);
                let groups = groups.iter().map(|group| {
                    let exclusive = chance.percent(40);
                    (group.clone(), if exclusive { Role::Exclusive } else { Role::Shared })
                });
                let groups = groups.collect();
                // Some stay for longer than they say.
                let time = Duration::from_nanos(chance.about(hold));
                LockSpec::Role(RoleSpec { groups, time })
            }
        }
    }
}

fn draw_groups(chance: &mut Chance) -> Groups {
    let some = 1 + chance.below(7);
    let named = (0..3).filter(|group| some >> group & 1 == 1);
    named.map(|group| Group::new(["a", "b", "c"][group])).collect()
}
