//! The judge: what a history violates.
//!
//! It knows nothing of protocols. A grant counts from when its client knew of it until its client
//! began to release it, or until the end of the validity that the client last knew, whichever comes
//! first. Both ends err on the side of the cluster: what is called a violation is one.

mod exclusion;
mod fences;
mod gaps;
mod health;
mod liveness;

use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) use self::gaps::Row;
pub(crate) use self::health::panics;

use crate::clock::{Time, nanos};
use crate::history::{Event, What};
use crate::share::Share;

/// Something that must not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) at: Time,
    /// The promise that is broken.
    pub(crate) rule: &'static str,
    pub(crate) text: String,
}

/// What a client held, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) who: String,
    pub(crate) name: String,
    pub(crate) share: Share,
    pub(crate) fence: u64,
    pub(crate) from: Time,
    pub(crate) until: Time,
    pub(crate) lost: bool,
}

/// A fault, from its beginning to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) from: Time,
    pub(crate) until: Time,
}

/// Everything a report needs.
#[derive(Debug)]
pub(crate) struct Judgement {
    pub(crate) violations: Vec<Violation>,
    /// What is worth a look, and no violation.
    pub(crate) notes: Vec<String>,
    pub(crate) grants: Vec<Grant>,
    pub(crate) faults: Vec<Span>,
    pub(crate) gaps: Vec<Row>,
    pub(crate) from: Time,
    pub(crate) until: Time,
    pub(crate) writes: usize,
    pub(crate) refused: usize,
    pub(crate) denied: usize,
}

/// Judges a history in the order of time.
pub(crate) fn judge(events: &[Event], lease: Duration) -> Judgement {
    let lease = nanos(lease);
    let late = Lateness::of(events);
    let grants = grants(events);
    let faults = faults(events);
    let mut violations = exclusion::check(&grants, &late);
    violations.extend(fences::check(&grants, &late));
    violations.extend(fences::storage(events));
    violations.extend(liveness::waits(events, lease, &late));
    violations.extend(liveness::after_healing(events, &grants, lease, &late));
    let (broken, notes) = health::check(events);
    violations.extend(broken);
    violations.sort_by_key(|violation| violation.at);
    let wrote = |refused: bool| {
        let is = |what: &What| {
            matches!(what, What::Wrote { fence, highest, .. }
                                        if !refused || highest > fence)
        };
        events.iter().filter(|event| is(&event.what)).count()
    };
    let denied = events.iter().filter(|event| matches!(event.what, What::Denied { .. })).count();
    Judgement {
        gaps: gaps::table(events, &grants, lease),
        violations,
        notes,
        grants,
        faults,
        from: events.first().map_or(0, |event| event.at),
        until: events.last().map_or(0, |event| event.at),
        writes: wrote(false),
        refused: wrote(true),
        denied,
    }
}

/// How late the machine woke a process that waited, and when.
///
/// A supervisor of `quorate lock` that the machine does not run cannot kill its command in time. It
/// is a holder that sleeps; such times are excused, and no others.
#[derive(Debug, Default)]
pub(crate) struct Lateness(Vec<(Time, Time)>);

impl Lateness {
    /// Lateness that nobody notices: about a time slice.
    const USUAL: Time = 15_000_000;
    /// How long before and after a time lateness counts for it.
    const NEAR: Time = 1_000_000_000;

    fn of(events: &[Event]) -> Self {
        let late = events.iter().filter_map(|event| match event.what {
            What::Late { ms } => Some((event.at, ms * 1_000_000)),
            _ => None,
        });
        Self(late.collect())
    }

    /// The worst lateness around `at`.
    fn around(&self, at: Time) -> Time {
        let near = self.0.partition_point(|(time, _)| *time + Self::NEAR < at);
        let near = self.0[near..].iter().take_while(|(time, _)| *time <= at + Self::NEAR);
        near.map(|(_, late)| *late).max().unwrap_or(0) + Self::USUAL
    }

    /// The lateness from one time to another, all together.
    fn total(&self, from: Time, until: Time) -> Time {
        let within = self.0.iter().filter(|(at, _)| (from..until).contains(at));
        within.map(|(_, late)| *late).sum()
    }
}

impl Grant {
    /// Whether it is of a command under `quorate lock`.
    fn is_command(&self) -> bool {
        self.who.starts_with("command-")
    }

    /// When it certainly was over: a command may be killed as late as the machine is.
    fn certain_end(&self, late: &Lateness) -> Time {
        let excused = if self.is_command() { late.around(self.until) } else { 0 };
        self.until.saturating_sub(excused)
    }
}

/// All grants, in the order of their beginnings.
fn grants(events: &[Event]) -> Vec<Grant> {
    let mut open: BTreeMap<(&str, u64), Grant> = BTreeMap::new();
    let mut grants = Vec::new();
    for Event { at, who, what } in events {
        match what {
            What::Granted { id, name, share, fence, until } => {
                let (who_is, name, share) = (who.clone(), name.clone(), share.clone());
                let (from, until, fence) = (*at, *until, *fence);
                let grant = Grant { who: who_is, name, share, fence, from, until, lost: false };
                open.insert((who, *id), grant);
            }
            What::Valid { id, until } => {
                if let Some(grant) = open.get_mut(&(who.as_str(), *id)) {
                    grant.until = grant.until.max(*until);
                }
            }
            What::Lost { id, .. } => {
                if let Some(grant) = open.get_mut(&(who.as_str(), *id)) {
                    grant.lost = true;
                }
            }
            What::Left { id } => {
                grants.extend(open.remove(&(who.as_str(), *id)).map(|grant| ended(grant, *at)));
            }
            What::Ended => {
                let of_process: Vec<_> = open.keys().filter(|(of, _)| of == who).copied().collect();
                for key in of_process {
                    grants.extend(open.remove(&key).map(|grant| ended(grant, *at)));
                }
            }
            _ => {}
        }
    }
    grants.extend(open.into_values());
    grants.sort_by_key(|grant| grant.from);
    grants
}

fn ended(grant: Grant, at: Time) -> Grant {
    Grant { until: grant.until.min(at), ..grant }
}

/// All faults, in the order of their beginnings.
fn faults(events: &[Event]) -> Vec<Span> {
    let mut spans: BTreeMap<usize, Span> = BTreeMap::new();
    for event in events {
        match &event.what {
            What::Begins { fault, name, text } => {
                let (name, text) = (name.clone(), text.clone());
                let span = Span { name, text, from: event.at, until: event.at };
                spans.insert(*fault, span);
            }
            What::Ends { fault } => {
                if let Some(span) = spans.get_mut(fault) {
                    span.until = event.at;
                }
            }
            _ => {}
        }
    }
    spans.into_values().collect()
}

/// A time of a history as people read it: seconds since its beginning are not known here.
fn seconds(time: Time) -> String {
    format!("{:.3} s", Duration::from_nanos(time).as_secs_f64())
}

#[cfg(test)]
pub(crate) mod forged {
    //! Histories made by hand.

    use super::*;

    pub(crate) const LEASE: Duration = Duration::from_secs(1);
    const MS: Time = 1_000_000;

    pub(crate) fn event(at_ms: u64, who: &str, what: What) -> Event {
        Event { at: at_ms * MS, who: who.into(), what }
    }

    /// A grant of `name` from one time to another, in milliseconds.
    pub(crate) fn grant(
        who: &str,
        id: u64,
        name: &str,
        share: Share,
        fence: u64,
        (from, until): (u64, u64),
    ) -> Vec<Event> {
        let name = name.into();
        let granted = What::Granted { id, name, share, fence, until: until * MS };
        vec![event(from, who, granted), event(until, who, What::Left { id })]
    }

    /// The rules that a history breaks.
    pub(crate) fn broken(mut events: Vec<Event>) -> Vec<&'static str> {
        events.sort_by_key(|event| event.at);
        judge(&events, LEASE).violations.iter().map(|violation| violation.rule).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::forged::{broken, event, grant};
    use super::*;

    #[test]
    fn a_grant_ends_when_its_holder_is_killed() {
        let mut events = grant("client-1.1", 0, "mutex", Share::Alone, 1, (0, 900));
        events.truncate(1);
        events.push(event(100, "client-1.1", What::Ended));
        events.extend(grant("client-2.1", 0, "mutex", Share::Alone, 2, (150, 200)));
        assert!(broken(events).is_empty());
    }

    #[test]
    fn a_grant_that_was_extended_counts_to_its_last_end() {
        let mut events = grant("client-1.1", 0, "mutex", Share::Alone, 1, (0, 100));
        events.truncate(1);
        events.push(event(50, "client-1.1", What::Valid { id: 0, until: 300_000_000 }));
        events.extend(grant("client-2.1", 0, "mutex", Share::Alone, 2, (200, 250)));
        assert_eq!(broken(events), ["exclusion"]);
    }
}
