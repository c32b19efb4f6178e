//! The token and its queue.

use std::collections::BTreeMap;
use std::fmt;

use quorate_quorum::{SiteId, SiteSet};
use serde::{Deserialize, Serialize};

use super::{Epoch, Stamp};
use crate::group::{Group, Groups};

/// The token. Its holder may start occupancies.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Token {
    /// Its epoch and its round, which grows when an occupancy starts or the token is declined.
    pub stamp: Stamp,
    /// The waiting requests.
    pub queue: Queue,
    /// For each site, the highest request number that was granted or is void (*ln*).
    pub served: BTreeMap<SiteId, u64>,
}

impl Token {
    /// A token with an empty queue that has served nobody.
    pub(super) fn new(epoch: Epoch, round: u64) -> Self {
        let stamp = Stamp { epoch, round };
        Self { stamp, queue: Queue::default(), served: BTreeMap::new() }
    }

    /// Whether a request was granted already, or is void.
    pub(super) fn is_served(&self, site: SiteId, sn: u64) -> bool {
        sn <= self.served.get(&site).copied().unwrap_or(0)
    }

    /// Marks a request and all earlier ones of its site as served, and removes them from the queue.
    pub(super) fn mark_served(&mut self, site: SiteId, sn: u64) {
        let served = self.served.entry(site).or_insert(0);
        *served = sn.max(*served);
        let served = *served;
        self.queue.remove(|waiting| waiting.site == site && waiting.sn <= served);
    }

    /// Queues a request, unless it or a later one of its site is queued or served.
    pub(super) fn enqueue(&mut self, site: SiteId, sn: u64, groups: &Groups) {
        if !self.is_served(site, sn) {
            self.queue.add(Waiter { site, sn }, groups);
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.stamp)?;
        if self.queue.is_empty() { Ok(()) } else { write!(f, ", queue {}", self.queue) }
    }
}

/// A request in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Waiter {
    /// Its site.
    pub site: SiteId,
    /// Its number.
    pub sn: u64,
}

/// The requests that wait for one group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    /// The group.
    pub group: Group,
    /// The requests, in order; the first becomes captain.
    pub waiting: Vec<Waiter>,
}

/// The queue: one entry per group, in the order in which the entries were created.
///
/// A request that names several groups is in the entry of each. Granting or replacing it removes
/// it from all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Queue(Vec<Entry>);

impl FromIterator<Entry> for Queue {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl Queue {
    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries; the first is served next.
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// The next captain's request: the first of a site that is reached (O20).
    pub(super) fn next(&self, reaches: impl Fn(SiteId) -> bool) -> Option<Waiter> {
        let waiting = self.0.iter().flat_map(|entry| &entry.waiting);
        waiting.copied().find(|waiter| reaches(waiter.site))
    }

    /// Removes and returns the requests of sites that are reached from the first entry that has
    /// any (O20).
    pub(super) fn take_next(&mut self, reaches: impl Fn(SiteId) -> bool) -> Entry {
        let reached = |waiter: &Waiter| reaches(waiter.site);
        let entry = self.0.iter_mut().find(|entry| entry.waiting.iter().any(reached));
        let entry = entry.expect("a site that is reached waits");
        let (waiting, rest) = std::mem::take(&mut entry.waiting).into_iter().partition(reached);
        entry.waiting = rest;
        let group = entry.group.clone();
        self.0.retain(|entry| !entry.waiting.is_empty());
        Entry { group, waiting }
    }

    /// All sites that may become captain next (O11): in each entry, every waiter up to the first
    /// that is in no other entry.
    pub(super) fn captains(&self) -> SiteSet {
        let stands = |entry: &Entry, site| entry.waiting.iter().any(|waiting| waiting.site == site);
        let places = |site| self.0.iter().filter(|entry| stands(entry, site)).count();
        let mut captains = SiteSet::new();
        for entry in &self.0 {
            for waiting in &entry.waiting {
                captains.insert(waiting.site);
                if places(waiting.site) == 1 {
                    break;
                }
            }
        }
        captains
    }

    /// Removes the requests for which `gone` is true, and entries that become empty.
    pub(super) fn remove(&mut self, gone: impl Fn(&Waiter) -> bool) {
        for entry in &mut self.0 {
            entry.waiting.retain(|waiting| !gone(waiting));
        }
        self.0.retain(|entry| !entry.waiting.is_empty());
    }

    /// Queues a request for each of its groups. In entries that it shares with the site's previous
    /// request it takes that one's place.
    fn add(&mut self, new: Waiter, groups: &Groups) {
        let known = |waiting: &Waiter| waiting.site == new.site && waiting.sn >= new.sn;
        if self.0.iter().flat_map(|entry| &entry.waiting).any(known) {
            return;
        }
        for entry in self.0.iter_mut().filter(|entry| groups.contains(&entry.group)) {
            match entry.waiting.iter_mut().find(|waiting| waiting.site == new.site) {
                Some(waiting) => *waiting = new,
                None => entry.waiting.push(new),
            }
        }
        for group in groups.iter() {
            if self.0.iter().all(|entry| entry.group != *group) {
                self.0.push(Entry { group: group.clone(), waiting: vec![new] });
            }
        }
        self.remove(|waiting| waiting.site == new.site && waiting.sn < new.sn);
    }
}

impl fmt::Display for Queue {
    /// As in `g3: 1 4, g1: 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = |entry: &Entry| {
            let sites: Vec<_> = entry.waiting.iter().map(|w| w.site.to_string()).collect();
            format!("{}: {}", entry.group, sites.join(" "))
        };
        f.write_str(&self.0.iter().map(entry).collect::<Vec<_>>().join(", "))
    }
}
