//! Fences strictly grow along the conflicting grants of one resource, in the order of entry: along
//! all grants of a mutex, along those of a pool that want too many units together, and along those
//! of each unit that has a number. Those of one group session share a fence.
//!
//! The site layer: a fence is above every fence used before it on that resource, also when an
//! earlier holder died without a word. A grant that is told when it is over is no entry.

use std::collections::BTreeMap;

use quorate_protocol::Fence;
use quorate_protocol::group::Group;
use quorate_session::CallId;

use super::Holder;

pub(super) const NAME: &str = "fences grow";

/// The highest fences so far, and whose they were, by resource.
#[derive(Debug)]
pub(super) struct Fences {
    units: u32,
    seen: Vec<Seen>,
}

type Highest = BTreeMap<u32, (Fence, CallId)>;

#[derive(Clone, Debug, Default)]
struct Seen {
    /// Of the grants of so many units.
    by_count: Highest,
    /// Of the grants of the unit with this number.
    by_number: Highest,
    /// Of the grants of groups.
    groups: Groups,
}

/// The fences of the group that came in last, and of all before it.
#[derive(Clone, Debug, Default)]
struct Groups {
    group: Option<Group>,
    /// The highest of the groups before, and of this one.
    before: Fence,
    highest: Fence,
    /// The last one of a member that shares it, and of an exclusive one.
    shared: Fence,
    exclusive: Fence,
}

impl Fences {
    pub(super) fn new(names: usize, units: u32) -> Self {
        Self { units, seen: vec![Seen::default(); names] }
    }

    pub(super) fn on_enter(&mut self, holder: &Holder, fence: Fence) -> Result<(), String> {
        if let Some(group) = &holder.group {
            return self.on_join(holder, group, fence);
        }
        let Seen { by_count, by_number, .. } = &mut self.seen[holder.name];
        let conflicting = by_count.range(self.units - holder.units + 1..).map(|(_, one)| *one);
        let same = holder.numbers.iter().filter_map(|number| by_number.get(number).copied());
        let highest = conflicting.chain(same).max();
        let keep = |one: &mut (Fence, CallId)| *one = (*one).max((fence, holder.call));
        by_count.entry(holder.units).and_modify(keep).or_insert((fence, holder.call));
        for &number in &holder.numbers {
            by_number.entry(number).and_modify(keep).or_insert((fence, holder.call));
        }
        match highest {
            Some((highest, other)) if fence <= highest => {
                let (other, call) = (other.0, holder.call.0);
                Err(format!("fence {fence} of call {call} follows fence {highest} of call {other}"))
            }
            _ => Ok(()),
        }
    }

    fn on_join(&mut self, holder: &Holder, group: &Group, fence: Fence) -> Result<(), String> {
        let seen = &mut self.seen[holder.name].groups;
        if seen.group.as_ref() != Some(group) {
            let before = seen.highest;
            *seen = Groups { group: Some(group.clone()), before, ..Groups::default() };
        }
        let least = if holder.exclusive { seen.exclusive.next() } else { seen.shared };
        seen.highest = seen.highest.max(seen.before).max(fence);
        let (before, call) = (seen.before, holder.call.0);
        let last = if holder.exclusive { &mut seen.exclusive } else { &mut seen.shared };
        *last = fence;
        if fence <= before || fence < least {
            return Err(format!(
                "fence {fence} of call {call}, group {group}, follows fence {} of another",
                before.max(least)
            ));
        }
        Ok(())
    }
}
