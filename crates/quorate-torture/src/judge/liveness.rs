//! Nothing is stuck: waits end in time, and everybody is served when everything works again.

use std::collections::{BTreeMap, BTreeSet};

use super::{Grant, Lateness, Violation, seconds};
use crate::clock::Time;
use crate::history::{Event, What};

/// Within so many leases after healing every lock is held or granted.
const SERVED: u64 = 5;
/// Within so many leases after the last healing every caller was served.
const EVERYBODY: u64 = 11;

/// Waits that ended too late: more than a lease and a second after their deadline.
pub(super) fn waits(events: &[Event], lease: Time, late: &Lateness) -> Vec<Violation> {
    let mut asleep: BTreeMap<&str, Time> = BTreeMap::new();
    let mut violations = Vec::new();
    for event in events {
        match &event.what {
            What::Paused => {
                asleep.insert(&event.who, Time::MAX);
            }
            What::Resumed => {
                asleep.insert(&event.who, event.at);
            }
            What::Denied { why, late_ms, .. } => {
                let over = late_ms.saturating_mul(1_000_000);
                let asked = event.at.saturating_sub(over);
                let slept = asleep.get(event.who.as_str()).is_some_and(|woke| *woke >= asked);
                let excused = lease + 1_000_000_000 + late.total(asked, event.at);
                if over > excused && !slept {
                    let text = format!("{}: an answer {late_ms} ms late: {why}", event.who);
                    violations.push(Violation { at: event.at, rule: "waits end", text });
                }
            }
            _ => {}
        }
    }
    violations
}

/// Locks and callers that were not served after everything was mended.
pub(super) fn after_healing(
    events: &[Event],
    grants: &[Grant],
    lease: Time,
    late: &Lateness,
) -> Vec<Violation> {
    let end = events.last().map_or(0, |event| event.at);
    let names: BTreeSet<&str> = asks(events).map(|(_, _, name)| name).collect();
    let mut violations = Vec::new();
    for (at, last) in healings(events) {
        if last && grants.is_empty() {
            let text = "nothing was granted at all".to_owned();
            violations.push(Violation { at, rule: "served after healing", text });
        }
        let quiet_until = next_fault(events, at).unwrap_or(end);
        let limit = at + lease * SERVED + late.total(at, at + lease * SERVED);
        for name in names.iter().filter(|_| quiet_until >= limit) {
            let held = |grant: &&Grant| grant.from < limit && grant.until > at;
            if !grants.iter().filter(|grant| grant.name == *name).any(|grant| held(&grant)) {
                let text = format!("{name}: nobody holds it for {} after", seconds(limit - at));
                violations.push(Violation { at, rule: "served after healing", text });
            }
        }
        if last && end >= at + lease * EVERYBODY {
            violations.extend(unserved(events, at, at + lease * EVERYBODY));
        }
    }
    violations
}

/// Callers that asked between two times and were neither served nor denied.
fn unserved(events: &[Event], from: Time, until: Time) -> Vec<Violation> {
    let mut waiting: BTreeMap<(&str, u64), &str> = BTreeMap::new();
    let mut served: BTreeSet<(&str, &str)> = BTreeSet::new();
    for event in events.iter().take_while(|event| event.at <= until) {
        let who = event.who.as_str();
        match &event.what {
            What::Asks { id, name, .. } => {
                waiting.insert((who, *id), name);
            }
            What::Granted { id, name, .. } => {
                waiting.remove(&(who, *id));
                served.extend((event.at >= from).then_some((who, name.as_str())));
            }
            What::Denied { id, .. } => {
                waiting.remove(&(who, *id));
            }
            What::Ended => waiting.retain(|(of, _), _| *of != who),
            _ => {}
        }
    }
    let stuck = waiting.into_iter().filter(|((who, _), name)| !served.contains(&(*who, *name)));
    stuck
        .map(|((who, _), name)| {
            let text = format!("{name}: {who} waits for {} after", seconds(until - from));
            Violation { at: from, rule: "served after healing", text }
        })
        .collect()
}

fn asks(events: &[Event]) -> impl Iterator<Item = (&str, Time, &str)> {
    events.iter().filter_map(|event| match &event.what {
        What::Asks { name, .. } => Some((event.who.as_str(), event.at, name.as_str())),
        _ => None,
    })
}

fn healings(events: &[Event]) -> impl Iterator<Item = (Time, bool)> {
    events.iter().filter_map(|event| match event.what {
        What::Healed { last } => Some((event.at, last)),
        _ => None,
    })
}

fn next_fault(events: &[Event], after: Time) -> Option<Time> {
    let begins = |event: &&Event| event.at > after && matches!(event.what, What::Begins { .. });
    events.iter().find(begins).map(|event| event.at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::forged::{broken, event, grant};
    use crate::share::Share;

    fn asks(at: u64) -> Event {
        event(at, "client-1.1", What::Asks { id: 0, name: "mutex".into(), wait_ms: None })
    }

    #[test]
    fn a_lock_that_nobody_gets_after_healing_is_found() {
        let mut events = vec![
            asks(0),
            event(1, "torture", What::Healed { last: true }),
            event(20_000, "torture", What::Late { ms: 1 }),
        ];
        let rule = "served after healing";
        assert_eq!(broken(events.clone()), [rule, rule, rule]);
        events.extend(grant("client-2.1", 1, "mutex", Share::Alone, 1, (300, 400)));
        assert_eq!(broken(events.clone()), [rule], "one caller is stuck still");
        events.extend(grant("client-1.1", 0, "mutex", Share::Alone, 2, (9_000, 9_100)));
        assert!(broken(events).is_empty());
    }

    #[test]
    fn a_cluster_that_never_worked_is_found() {
        let healed = event(1, "torture", What::Healed { last: true });
        assert_eq!(broken(vec![healed]), ["served after healing"]);
    }

    #[test]
    fn an_answer_that_comes_long_after_its_deadline_is_found() {
        let denied = |late_ms| {
            vec![event(9_000, "client-1.1", What::Denied { id: 0, why: "none".into(), late_ms })]
        };
        assert!(broken(denied(1_900)).is_empty());
        assert_eq!(broken(denied(2_100)), ["waits end"]);
        let mut paused = denied(2_100);
        paused.push(event(1_000, "client-1.1", What::Paused));
        paused.push(event(8_000, "client-1.1", What::Resumed));
        assert!(broken(paused).is_empty());
    }
}
