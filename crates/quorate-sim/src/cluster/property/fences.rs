//! Fences strictly grow along the conflicting grants of one lock, in the order of entry: along all
//! grants of a mutex, along those of a pool that take too many units together, and along those of
//! each numbered unit. The grants of one occupancy share a fence. In a ledger pool a fence is also
//! above those of all grants that were entered before its claim was made.
//!
//! The promise of the site layer: a fence is above every fence used before on that lock, also when
//! an earlier holder has crashed. A grant that is over when its caller learns of it is no entry.

use std::collections::BTreeMap;

use quorate_protocol::Fence;
use quorate_protocol::group::Group;
use quorate_session::{CallId, Share};

use super::Holder;

pub(super) const NAME: &str = "fences grow";

/// The highest fences so far, and their calls, by lock.
#[derive(Debug)]
pub(super) struct Fences {
    seen: Vec<Seen>,
    /// Whether they grow along all grants, also along those that can be inside together.
    along_all: bool,
    /// If so, the highest fence so far when a call was made, and whose it was.
    at_claim: BTreeMap<CallId, (Fence, CallId)>,
}

type Highest = BTreeMap<u32, (Fence, CallId)>;

#[derive(Clone, Debug, Default)]
struct Seen {
    /// Of the grants of this many units.
    by_count: Highest,
    /// Of the grants of the unit with this number.
    by_number: Highest,
    /// Of the grants of groups.
    groups: Groups,
}

/// The fences of the group that entered last, and of all before it.
#[derive(Clone, Debug, Default)]
struct Groups {
    group: Option<Group>,
    /// The highest of the groups before, and including this one.
    before: Fence,
    highest: Fence,
    /// The last one of a shared member, and of an exclusive one.
    shared: Fence,
    exclusive: Fence,
}

impl Fences {
    pub(super) fn new(names: usize, along_all: bool) -> Self {
        Self { seen: vec![Seen::default(); names], along_all, at_claim: BTreeMap::new() }
    }

    pub(super) fn on_claim(&mut self, name: usize, call: CallId) {
        let highest = self.seen[name].by_count.values().max();
        if let Some(highest) = highest.filter(|_| self.along_all) {
            self.at_claim.insert(call, *highest);
        }
    }

    pub(super) fn on_enter(&mut self, holder: &Holder, fence: Fence) -> Result<(), String> {
        let Share { units, numbers, group, .. } = &holder.share;
        if let Some(group) = group {
            return self.on_join(holder, group, fence);
        }
        let Seen { by_count, by_number, .. } = &mut self.seen[holder.name];
        let conflicting = by_count.range(units.of - units.count + 1..).map(|(_, one)| *one);
        let same = numbers.iter().filter_map(|number| by_number.get(number).copied());
        let before = self.at_claim.remove(&holder.call);
        let highest = conflicting.chain(same).chain(before).max();
        let keep = |one: &mut (Fence, CallId)| *one = (*one).max((fence, holder.call));
        by_count.entry(units.count).and_modify(keep).or_insert((fence, holder.call));
        for &number in numbers {
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
        let exclusive = holder.share.exclusive;
        let least = if exclusive { seen.exclusive.next() } else { seen.shared };
        seen.highest = seen.highest.max(seen.before).max(fence);
        let (before, call) = (seen.before, holder.call.0);
        let last = if exclusive { &mut seen.exclusive } else { &mut seen.shared };
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
