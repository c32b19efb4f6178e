//! Until when each grant is valid. Most follow one common deadline: extending it costs the same
//! however many grants there are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::Tick;

/// The grants of a client.
///
/// A grant is *covered* by the common deadline, or has a deadline of its own. A *joining* grant
/// follows the next common deadline that is later; a *degraded* or *ending* one follows none.
#[derive(Clone, Debug, Default)]
pub(super) struct Grants {
    all: BTreeMap<u64, Grant>,
    /// The latest common deadline, by our clock.
    common: Tick,
    /// The grants of each margin.
    classes: BTreeMap<Duration, Class>,
    /// Grants that are lost, and still valid until then.
    ending: BTreeSet<(Tick, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Grant {
    status: Status,
    /// How long before its end its loss is signalled.
    margin: Duration,
}

#[derive(Clone, Copy, Debug)]
enum Status {
    Covered,
    Joining(Tick),
    Degraded(Tick),
    Ending(Tick),
}

/// The grants with one margin.
#[derive(Clone, Debug, Default)]
struct Class {
    covered: BTreeSet<u64>,
    joining: BTreeSet<(Tick, u64)>,
    degraded: BTreeSet<(Tick, u64)>,
}

impl Grants {
    /// The deadline of a grant, as the site sent it; `None` for an unknown grant.
    pub(super) fn end(&self, call: u64) -> Option<Tick> {
        Some(match self.all.get(&call)?.status {
            Status::Covered => self.common,
            Status::Joining(end) | Status::Degraded(end) | Status::Ending(end) => end,
        })
    }

    /// Whether there is no grant, not even one that is lost and still valid.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// A new grant, valid until `end`. No common deadline sent before counts for it.
    pub(super) fn insert(&mut self, call: u64, end: Tick, margin: Duration) {
        self.put(call, Grant { status: Status::Joining(end), margin });
    }

    /// All grants are valid until `end`, except the degraded ones.
    ///
    /// A common deadline that is earlier than the one before still counts for the grants that came
    /// in between: the one before does not count for those.
    pub(super) fn on_common(&mut self, end: Tick) {
        let is_latest = end >= self.common;
        self.common = self.common.max(end);
        let joining = self.classes.values().flat_map(|class| &class.joining);
        let joining: Vec<u64> =
            joining.filter(|(own, _)| *own <= end).map(|(_, call)| *call).collect();
        for call in joining {
            let status = if is_latest { Status::Covered } else { Status::Joining(end) };
            self.change(call, status);
        }
    }

    /// The latest common deadline.
    pub(super) fn common(&self) -> Tick {
        self.common
    }

    /// A grant gets a deadline of its own, not before the one it had.
    pub(super) fn degrade(&mut self, call: u64, end: Tick) {
        let Some(old) = self.end(call) else { return };
        if !matches!(self.all[&call].status, Status::Ending(_)) {
            self.change(call, Status::Degraded(end.max(old)));
        }
    }

    /// Common deadlines count again for a grant, from the next one on.
    pub(super) fn restore(&mut self, call: u64) {
        let status = self.all.get(&call).map(|grant| grant.status);
        if let Some(Status::Degraded(end)) = status {
            self.change(call, Status::Joining(end));
        }
    }

    /// A grant is lost: it is valid until `end`, and nothing extends it. False if it was lost
    /// before, or is unknown.
    pub(super) fn end_by(&mut self, call: u64, end: Tick) -> bool {
        let live = |grant: &&Grant| !matches!(grant.status, Status::Ending(_));
        let is_live = self.all.get(&call).as_ref().is_some_and(live);
        if is_live {
            self.change(call, Status::Ending(end));
        }
        is_live
    }

    /// Signals the loss of a grant this much before its end.
    pub(super) fn set_margin(&mut self, call: u64, margin: Duration) {
        if let Some(grant) = self.take(call) {
            self.put(call, Grant { margin, ..grant });
        }
    }

    /// Forgets a grant, and returns whether its loss was signalled; `None` for an unknown grant.
    pub(super) fn remove(&mut self, call: u64) -> Option<bool> {
        self.take(call).map(|grant| matches!(grant.status, Status::Ending(_)))
    }

    /// Forgets the grants that are not ending, and returns them.
    pub(super) fn take_live(&mut self) -> Vec<u64> {
        let is_live = |grant: &Grant| !matches!(grant.status, Status::Ending(_));
        let live = self.all.iter().filter(|(_, grant)| is_live(grant));
        let live: Vec<u64> = live.map(|(call, _)| *call).collect();
        for call in &live {
            self.take(*call);
        }
        live
    }

    /// When the first loss is to be signalled, or the first ending grant is over. No grant is valid
    /// for longer than `session`.
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

    fn change(&mut self, call: u64, status: Status) {
        let grant = self.take(call).expect("the caller looked it up");
        self.put(call, Grant { status, ..grant });
    }

    fn put(&mut self, call: u64, grant: Grant) {
        if let Status::Ending(end) = grant.status {
            self.ending.insert((end, call));
        } else {
            self.classes.entry(grant.margin).or_default().put(call, grant.status);
        }
        self.all.insert(call, grant);
    }

    fn take(&mut self, call: u64) -> Option<Grant> {
        let grant = self.all.remove(&call)?;
        if let Status::Ending(end) = grant.status {
            self.ending.remove(&(end, call));
        } else if let Some(class) = self.classes.get_mut(&grant.margin) {
            class.take(call, grant.status);
            if class.is_empty() {
                self.classes.remove(&grant.margin);
            }
        }
        Some(grant)
    }
}

impl Class {
    fn put(&mut self, call: u64, status: Status) {
        match status {
            Status::Covered => drop(self.covered.insert(call)),
            Status::Joining(end) => drop(self.joining.insert((end, call))),
            Status::Degraded(end) => drop(self.degraded.insert((end, call))),
            Status::Ending(_) => {}
        }
    }

    fn take(&mut self, call: u64, status: Status) {
        match status {
            Status::Covered => drop(self.covered.remove(&call)),
            Status::Joining(end) => drop(self.joining.remove(&(end, call))),
            Status::Degraded(end) => drop(self.degraded.remove(&(end, call))),
            Status::Ending(_) => {}
        }
    }

    fn is_empty(&self) -> bool {
        self.covered.is_empty() && self.joining.is_empty() && self.degraded.is_empty()
    }
}

fn before(end: Tick, margin: Duration) -> Tick {
    Tick(end.0.saturating_sub(u64::try_from(margin.as_nanos()).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARGIN: Duration = Duration::from_nanos(1);

    fn grants(ends: &[u64]) -> Grants {
        let mut grants = Grants::default();
        for (&end, call) in ends.iter().zip(1..) {
            grants.insert(call, Tick(end), MARGIN);
        }
        grants
    }

    #[test]
    fn a_common_deadline_counts_for_earlier_grants() {
        let mut grants = grants(&[50]);
        grants.on_common(Tick(100));
        grants.insert(2, Tick(60), MARGIN);
        assert_eq!((grants.end(1), grants.end(2)), (Some(Tick(100)), Some(Tick(60))));
        // An earlier common deadline counts for the grants in between.
        grants.on_common(Tick(80));
        assert_eq!((grants.end(1), grants.end(2)), (Some(Tick(100)), Some(Tick(80))));
        grants.on_common(Tick(120));
        assert_eq!((grants.end(1), grants.end(2)), (Some(Tick(120)), Some(Tick(120))));
    }

    #[test]
    fn a_degraded_grant_keeps_what_it_had_and_gets_no_more() {
        let mut grants = grants(&[50, 50]);
        grants.on_common(Tick(100));
        grants.degrade(1, Tick(70));
        grants.on_common(Tick(200));
        assert_eq!((grants.end(1), grants.end(2)), (Some(Tick(100)), Some(Tick(200))));
        grants.restore(1);
        assert_eq!(grants.end(1), Some(Tick(100)), "until the next one");
        grants.on_common(Tick(210));
        assert_eq!(grants.end(1), Some(Tick(210)));
    }

    #[test]
    fn nothing_extends_a_grant_that_is_lost() {
        let mut grants = grants(&[50]);
        assert!(grants.end_by(1, Tick(50)));
        assert!(!grants.end_by(1, Tick(60)), "a loss is signalled once");
        grants.degrade(1, Tick(90));
        grants.restore(1);
        grants.on_common(Tick(100));
        assert_eq!((grants.end(1), grants.next_over(Tick(50))), (Some(Tick(50)), Some(1)));
    }

    #[test]
    fn losses_are_due_by_their_margin_and_never_after_the_session() {
        let mut grants = grants(&[50, 90]);
        grants.set_margin(2, Duration::from_nanos(60));
        assert_eq!(grants.due(Tick(1_000)), Some(Tick(30)));
        assert_eq!(grants.next_lost(Tick(29), Tick(1_000)), None);
        assert_eq!(grants.next_lost(Tick(30), Tick(1_000)), Some(2));
        assert_eq!(grants.due(Tick(20)), Some(Tick::ZERO), "the session ends before both");
    }
}
