//! Which grants of one lock conflict.

use std::collections::BTreeSet;

use super::{Group, Units};

/// The part of a lock that one grant takes, in terms that all kinds of lock share. Grants conflict
/// if they are of different groups, if two of a group are exclusive, or if they take more units
/// than there are or the same one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// How many units it takes, of how many. A mutex has one unit. Grants with a group take all.
    pub units: Units,
    /// Which units, if that is known.
    pub numbers: BTreeSet<u32>,
    /// The group, if the lock has groups.
    pub group: Option<Group>,
    /// Whether it conflicts with other exclusive grants of its group.
    pub exclusive: bool,
}

impl Share {
    /// Some units; `numbers` says which, or is empty.
    pub(super) fn of_units(units: Units, numbers: BTreeSet<u32>) -> Self {
        Self { units, numbers, group: None, exclusive: false }
    }

    /// The lock for one group.
    pub(super) fn of_group(group: Option<&Group>, exclusive: bool) -> Self {
        let units = Units { count: 1, of: 1 };
        Self { units, numbers: BTreeSet::new(), group: group.cloned(), exclusive }
    }

    /// Whether it can be held together with all of `others`, which can be held together.
    pub fn fits_with(&self, others: &[&Share]) -> bool {
        let apart = |other: &&Share| {
            self.group != other.group
                || (self.exclusive && other.exclusive)
                || !self.numbers.is_disjoint(&other.numbers)
        };
        let taken = self.units.count + others.iter().map(|other| other.units.count).sum::<u32>();
        let too_many = self.group.is_none() && taken > self.units.of;
        !too_many && !others.iter().any(apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(count: u32, numbers: &[u32]) -> Share {
        Share::of_units(Units { count, of: 4 }, numbers.iter().copied().collect())
    }

    fn member(group: &str, exclusive: bool) -> Share {
        Share::of_group(Some(&Group::new(group)), exclusive)
    }

    #[test]
    fn units_fit_while_there_are_enough_and_none_is_taken_twice() {
        assert!(units(2, &[]).fits_with(&[&units(1, &[]), &units(1, &[])]));
        assert!(!units(2, &[]).fits_with(&[&units(2, &[]), &units(1, &[])]));
        assert!(!units(1, &[3]).fits_with(&[&units(2, &[2, 3])]));
    }

    #[test]
    fn members_of_one_group_fit_if_one_at_most_is_exclusive() {
        let shared = member("a", false);
        assert!(member("a", true).fits_with(&[&shared, &shared]));
        assert!(!member("a", true).fits_with(&[&shared, &member("a", true)]));
        assert!(!member("b", false).fits_with(&[&shared]));
    }
}
