//! The kinds of lock that callers claim, and how a seed draws what each of them wants.

use std::time::Duration;

use quorate_session::{
    Access, Group, GroupSpec, Groups, LockSpec, PoolSpec, Role, RoleSpec, TokenSpec, Units,
};

use crate::chance::Chance;

/// The kind of all locks of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
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
pub(super) struct Taste {
    /// Whether group locks are read-write locks.
    read_write: bool,
    /// How many units each pool has.
    units: u32,
}

impl Wants {
    pub(super) fn draw_taste(self, chance: &mut Chance) -> Taste {
        Taste {
            read_write: self == Wants::Group && chance.percent(40),
            units: if self == Wants::Pool { chance.one_of(&[1, 2, 3, 4]) } else { 1 },
        }
    }

    /// What one caller wants, that stays for about `hold` nanoseconds.
    pub(super) fn draw_spec(self, taste: Taste, hold: u64, chance: &mut Chance) -> LockSpec {
        match self {
            Wants::Mutex => LockSpec::Mutex,
            Wants::Pool => {
                let count = 1 + chance.below(taste.units.into());
                let count = u32::try_from(count).expect("a pool is small here");
                let units = Units { count, of: taste.units };
                LockSpec::Pool(PoolSpec { units, numbered: chance.percent(50) })
            }
            Wants::Group if taste.read_write => {
                let reads = chance.percent(70);
                LockSpec::Access(if reads { Access::Read } else { Access::Write })
            }
            Wants::Group => LockSpec::Group(GroupSpec(draw_groups(chance))),
            Wants::Token => LockSpec::Token(TokenSpec(draw_groups(chance))),
            Wants::Role => {
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
