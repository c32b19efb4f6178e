//! Until when each grant is good. Most follow one common deadline: telling of it costs the same
//! however many there are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::Tick;

/// The grants of a client.
///
/// A grant is *covered* by the common deadline, or has a deadline of its own: for good if it is
/// *degraded* or *ending*, and until the next common deadline that is later if it is *joining*.
#[derive(Clone, Debug, Default)]
pub(super) struct Grants {
    all: BTreeMap<u64, Grant>,
    /// The latest common deadline, by our clock.
    common: Tick,
    /// Those of each margin.
    classes: BTreeMap<Duration, Class>,
    /// Those that are lost, and still good until then.
    ending: BTreeSet<(Tick, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Grant {
    standing: Standing,
    /// By how much before its end its loss is signalled.
    margin: Duration,
}

#[derive(Clone, Copy, Debug)]
enum Standing {
    Covered,
    Joining(Tick),
    Degraded(Tick),
    Ending(Tick),
}

/// Grants whose loss is signalled by the same margin before their end.
#[derive(Clone, Debug, Default)]
struct Class {
    covered: BTreeSet<u64>,
    joining: BTreeSet<(Tick, u64)>,
    degraded: BTreeSet<(Tick, u64)>,
}

impl Grants {
    /// The deadline of a grant, by what the site said; `None` if it is none of ours.
    pub(super) fn end(&self, call: u64) -> Option<Tick> {
        Some(match self.all.get(&call)?.standing {
            Standing::Covered => self.common,
            Standing::Joining(end) | Standing::Degraded(end) | Standing::Ending(end) => end,
        })
    }

    /// A new grant, good until then. No common deadline told before counts for it.
    pub(super) fn insert(&mut self, call: u64, end: Tick, margin: Duration) {
        self.put(call, Grant { standing: Standing::Joining(end), margin });
    }

    /// All grants are good until then, except the degraded ones.
    ///
    /// One that is earlier than another before it still says something about the grants that came
    /// in between; for those the earlier one does not count.
    pub(super) fn on_common(&mut self, end: Tick) {
        let is_latest = end >= self.common;
        self.common = self.common.max(end);
        let joining = self.classes.values().flat_map(|class| &class.joining);
        let joining: Vec<u64> =
            joining.filter(|(own, _)| *own <= end).map(|(_, call)| *call).collect();
        for call in joining {
            let standing = if is_latest { Standing::Covered } else { Standing::Joining(end) };
            self.change(call, standing);
        }
    }

    /// The latest common deadline.
    pub(super) fn common(&self) -> Tick {
        self.common
    }

    /// A grant has a deadline of its own, which is not before the one it had.
    pub(super) fn degrade(&mut self, call: u64, end: Tick) {
        let Some(old) = self.end(call) else { return };
        if !matches!(self.all[&call].standing, Standing::Ending(_)) {
            self.change(call, Standing::Degraded(end.max(old)));
        }
    }

    /// Common deadlines count again for a grant, from the next one on.
    pub(super) fn restore(&mut self, call: u64) {
        let standing = self.all.get(&call).map(|grant| grant.standing);
        if let Some(Standing::Degraded(end)) = standing {
            self.change(call, Standing::Joining(end));
        }
    }

    /// A grant is lost: nothing extends it any more, and it is good until then at the latest.
    /// False if that was so before, or it is none of ours.
    pub(super) fn end_by(&mut self, call: u64, end: Tick) -> bool {
        let live = |grant: &&Grant| !matches!(grant.standing, Standing::Ending(_));
        let is_live = self.all.get(&call).as_ref().is_some_and(live);
        if is_live {
            self.change(call, Standing::Ending(end));
        }
        is_live
    }

    /// Signals the loss of a grant by so much before its end.
    pub(super) fn set_margin(&mut self, call: u64, margin: Duration) {
        if let Some(grant) = self.take(call) {
            self.put(call, Grant { margin, ..grant });
        }
    }

    /// Forgets a grant: whether its loss was signalled before; `None` if it is none of ours.
    pub(super) fn remove(&mut self, call: u64) -> Option<bool> {
        self.take(call).map(|grant| matches!(grant.standing, Standing::Ending(_)))
    }

    /// Forgets those that are not ending, and says which they are.
    pub(super) fn take_live(&mut self) -> Vec<u64> {
        let is_live = |grant: &Grant| !matches!(grant.standing, Standing::Ending(_));
        let live = self.all.iter().filter(|(_, grant)| is_live(grant));
        let live: Vec<u64> = live.map(|(call, _)| *call).collect();
        for call in &live {
            self.take(*call);
        }
        live
    }

    /// When the first loss is to be signalled, if no grant is good for longer than `session`, or
    /// the first ending grant is over.
    pub(super) fn due(&self, session: Tick) -> Option<Tick> {
        let of_class = |(margin, class): (&Duration, &Class)| {
            let covered = (!class.covered.is_empty()).then_some(self.common);
            let apart = [class.joining.first(), class.degraded.first()].map(|one| one.map(|x| x.0));
            let first = [covered, apart[0], apart[1]].into_iter().flatten().min()?;
            Some(before(first.min(session), *margin))
        };
        let ending = self.ending.first().map(|(end, _)| *end);
        self.classes.iter().filter_map(of_class).chain(ending).min()
    }

    /// A grant whose loss is to be signalled by now.
    pub(super) fn next_lost(&self, now: Tick, session: Tick) -> Option<u64> {
        self.classes.iter().find_map(|(margin, class)| {
            let is_due = |end: Tick| before(end.min(session), *margin) <= now;
            let covered = class.covered.first().filter(|_| is_due(self.common));
            let apart = [class.joining.first(), class.degraded.first()];
            let mut apart = apart.into_iter().flatten().filter(|(end, _)| is_due(*end));
            covered.copied().or_else(|| apart.next().map(|(_, call)| *call))
        })
    }

    /// An ending grant that is over by now.
    pub(super) fn next_over(&self, now: Tick) -> Option<u64> {
        self.ending.first().filter(|(end, _)| *end <= now).map(|(_, call)| *call)
    }

    fn change(&mut self, call: u64, standing: Standing) {
        let grant = self.take(call).expect("its standing was looked at");
        self.put(call, Grant { standing, ..grant });
    }

    fn put(&mut self, call: u64, grant: Grant) {
        if let Standing::Ending(end) = grant.standing {
            self.ending.insert((end, call));
        } else {
            self.classes.entry(grant.margin).or_default().put(call, grant.standing);
        }
        self.all.insert(call, grant);
    }

    fn take(&mut self, call: u64) -> Option<Grant> {
        let grant = self.all.remove(&call)?;
        if let Standing::Ending(end) = grant.standing {
            self.ending.remove(&(end, call));
        } else if let Some(class) = self.classes.get_mut(&grant.margin) {
            class.take(call, grant.standing);
            if class.is_empty() {
                self.classes.remove(&grant.margin);
            }
        }
        Some(grant)
    }
}

impl Class {
    fn put(&mut self, call: u64, standing: Standing) {
        match standing {
            Standing::Covered => drop(self.covered.insert(call)),
            Standing::Joining(end) => drop(self.joining.insert((end, call))),
            Standing::Degraded(end) => drop(self.degraded.insert((end, call))),
            Standing::Ending(_) => {}
        }
    }

    fn take(&mut self, call: u64, standing: Standing) {
        match standing {
            Standing::Covered => drop(self.covered.remove(&call)),
            Standing::Joining(end) => drop(self.joining.remove(&(end, call))),
            Standing::Degraded(end) => drop(self.degraded.remove(&(end, call))),
            Standing::Ending(_) => {}
        }
    }

    fn is_empty(&self) -> bool {
        self.covered.is_empty() && self.joining.is_empty() && self.degraded.is_empty()
    }
}

fn before(end: Tick, margin: Duration) -> Tick {
    Tick(end.0.saturating_sub(u64::try_from(margin.as_nanos()).unwrap_or(u64::MAX)))
}
