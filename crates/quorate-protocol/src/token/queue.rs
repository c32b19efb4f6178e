//! The token: whose turn it is, and what has been served.

use std::collections::BTreeMap;
use std::fmt;

use quorate_quorum::{SiteId, SiteSet};
use serde::{Deserialize, Serialize};

use super::{Epoch, Stamp};
use crate::group::{Group, Groups};

/// The token: who has it may open sessions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Token {
    /// Its epoch, and the last session that was opened or declined with it.
    pub stamp: Stamp,
    /// Those who wait.
    pub queue: Queue,
    /// The highest request of each site that was let in or is known to be void (*ln*).
    pub served: BTreeMap<SiteId, u64>,
}

impl Token {
    /// The first token of `epoch`, with which nothing has been done yet.
    pub(super) fn new(epoch: Epoch, session: u64) -> Self {
        let stamp = Stamp { epoch, session };
        Self { stamp, queue: Queue::default(), served: BTreeMap::new() }
    }

    /// Whether a request was let in already, or is void.
    pub(super) fn is_served(&self, site: SiteId, sn: u64) -> bool {
        sn <= self.served.get(&site).copied().unwrap_or(0)
    }

    /// Marks a request and all of its site before it as served, and takes them out of the queue.
    pub(super) fn serve(&mut self, site: SiteId, sn: u64) {
        let served = self.served.entry(site).or_insert(0);
        *served = sn.max(*served);
        let served = *served;
        self.queue.remove(|waiting| waiting.site == site && waiting.sn <= served);
    }

    /// Queues a request, unless it or a later one of its site is queued or served (*qadd*).
    pub(super) fn add(&mut self, site: SiteId, sn: u64, groups: &Groups) {
        if !self.is_served(site, sn) {
            self.queue.add(Waiting { site, sn }, groups);
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
pub struct Waiting {
    /// Who waits.
    pub site: SiteId,
    /// The number of its request.
    pub sn: u64,
}

/// Those who wait for one group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    /// The group.
    pub group: Group,
    /// Who waits for it; the first of them would be captain.
    pub waiting: Vec<Waiting>,
}

/// Those who wait, one entry for each group, in the order in which the entries came to be.
///
/// A request that names several groups stands in the entry of each. All its places are one
/// request: what ends one of them ends all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Queue(Vec<Entry>);

impl Queue {
    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entries, the next one first.
    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// Who is to be the next captain.
    pub(super) fn front(&self) -> Option<Waiting> {
        self.0.first().map(|entry| entry.waiting[0])
    }

    /// Takes out the first entry.
    pub(super) fn take_first(&mut self) -> Entry {
        self.0.remove(0)
    }

    /// Those of whom one is the next captain: the first of every entry, and behind one that may
    /// get in by another entry the next.
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

    /// Takes out the requests of which `gone` is true; entries without any disappear.
    pub(super) fn remove(&mut self, gone: impl Fn(&Waiting) -> bool) {
        for entry in &mut self.0 {
            entry.waiting.retain(|waiting| !gone(waiting));
        }
        self.0.retain(|entry| !entry.waiting.is_empty());
    }

    /// Queues a request for each of its groups. One of its site that it replaces keeps its places
    /// in the entries of these.
    fn add(&mut self, new: Waiting, groups: &Groups) {
        let known = |waiting: &Waiting| waiting.site == new.site && waiting.sn >= new.sn;
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
