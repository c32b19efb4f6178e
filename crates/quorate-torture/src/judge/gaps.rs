//! Gaps: for how long nobody held a lock, for each kind of fault.

use std::collections::BTreeMap;

use super::Grant;
use crate::clock::Time;
use crate::history::{Event, What};

/// How long after healing a gap still counts for the fault, in leases.
const AFTER: u64 = 3;

/// The figures of one kind of fault and one lock.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    /// The longest time that nobody held the lock, in leases.
    pub(crate) gap: f64,
    pub(crate) grants: usize,
    pub(crate) lost: usize,
}

/// One kind of fault: how often it came alone, for how long, and what it cost each lock.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Row {
    pub(crate) fault: String,
    pub(crate) times: usize,
    /// In leases.
    pub(crate) length: f64,
    pub(crate) cells: BTreeMap<String, Cell>,
}

/// Faults that came together.
struct Episode {
    fault: String,
    from: Time,
    healed: Time,
    until: Time,
}

/// A row for each kind of fault that came alone, one for those that came together, and one for the
/// time before any.
pub(super) fn table(events: &[Event], grants: &[Grant], lease: Time) -> Vec<Row> {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut of_name: BTreeMap<&str, Vec<&Grant>> = BTreeMap::new();
    for grant in grants {
        of_name.entry(&grant.name).or_default().push(grant);
    }
    for episode in episodes(events, grants, lease) {
        let row = rows.entry(episode.fault.clone()).or_default();
        row.fault.clone_from(&episode.fault);
        row.times += 1;
        row.length += in_leases(episode.healed - episode.from, lease);
        for (name, grants) in &of_name {
            let cell = row.cells.entry((*name).to_owned()).or_default();
            let gap = longest_gap(grants, episode.from, episode.until);
            cell.gap = cell.gap.max(in_leases(gap, lease));
            let began = |grant: &&&Grant| (episode.from..episode.healed).contains(&grant.from);
            cell.grants += grants.iter().filter(began).count();
            cell.lost += grants.iter().filter(began).filter(|grant| grant.lost).count();
        }
    }
    rows.into_values().collect()
}

fn in_leases(time: Time, lease: Time) -> f64 {
    time as f64 / lease as f64
}

fn episodes(events: &[Event], grants: &[Grant], lease: Time) -> Vec<Episode> {
    let mut episodes: Vec<Episode> = Vec::new();
    let mut open: Option<Episode> = None;
    let first = grants.first().map_or(0, |grant| grant.from);
    for event in events {
        match &event.what {
            What::Begins { name, .. } => match &mut open {
                Some(episode) => "several".clone_into(&mut episode.fault),
                None => {
                    if let Some(before) = episodes.last_mut() {
                        before.until = before.until.min(event.at);
                    } else {
                        let (from, until) = (first, event.at);
                        let fault = "none".into();
                        episodes.push(Episode { fault, from, healed: until, until });
                    }
                    let (fault, from) = (name.clone(), event.at);
                    open = Some(Episode { fault, from, healed: from, until: from });
                }
            },
            What::Healed { .. } => {
                if let Some(episode) = open.take() {
                    let (healed, until) = (event.at, event.at + lease * AFTER);
                    episodes.push(Episode { healed, until, ..episode });
                }
            }
            _ => {}
        }
    }
    episodes
}

/// The longest time between `from` and `until` that nobody held the lock.
fn longest_gap(grants: &[&Grant], from: Time, until: Time) -> Time {
    let (mut free_since, mut longest) = (from, 0);
    for grant in grants.iter().filter(|grant| grant.until > from && grant.from < until) {
        longest = longest.max(grant.from.saturating_sub(free_since));
        free_since = free_since.max(grant.until);
    }
    longest.max(until.saturating_sub(free_since))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::forged::{LEASE, event, grant};
    use crate::judge::judge;
    use crate::share::Share;

    #[test]
    fn the_longest_time_without_a_holder_counts() {
        let mut events = grant("client-1.1", 0, "mutex", Share::Alone, 1, (0, 1_200));
        let begins = What::Begins { fault: 0, name: "kill".into(), text: String::new() };
        events.push(event(1_000, "torture", begins));
        events.extend(grant("client-1.1", 1, "mutex", Share::Alone, 2, (3_700, 3_800)));
        events.push(event(4_000, "torture", What::Ends { fault: 0 }));
        events.push(event(4_001, "torture", What::Healed { last: true }));
        events.extend(grant("client-1.1", 2, "mutex", Share::Alone, 3, (4_800, 7_100)));
        events.sort_by_key(|event| event.at);
        let rows = judge(&events, LEASE).gaps;
        let kill = rows.iter().find(|row| row.fault == "kill").unwrap();
        assert!((kill.cells["mutex"].gap - 2.5).abs() < 1e-9, "{kill:?}");
        assert_eq!((kill.times, kill.cells["mutex"].grants), (1, 1));
    }
}
