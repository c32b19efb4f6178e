//! Locks with a record on disk that nobody uses here, and the one record that takes the place of
//! many of theirs.
//!
//! A record says what a site has promised about one name. Folding records keeps the strictest of
//! them for every name that has none of its own: all promises are kept, and the disk does not grow
//! with the names that were ever used.

use std::collections::BTreeMap;

use quorate_session::Name;

use super::site_core::SiteCore;
use crate::disk::Kept;
use crate::effect::Effect;
use crate::identity::Identity;

/// How many records are folded in one step at most.
const FOLDED_MAX: usize = 4096;

/// The names with a record whose locks are not in the table.
#[derive(Clone, Debug, Default)]
pub(super) struct UnusedNames {
    /// By the time since which they are unused, the oldest first.
    by_age: BTreeMap<u64, Name>,
    ages: BTreeMap<Name, u64>,
    /// The number of the next name.
    next: u64,
}

impl UnusedNames {
    /// The names with a record on the disk of a site that starts.
    pub(super) fn new<'a>(names: impl Iterator<Item = &'a Name>) -> Self {
        let mut unused = Self::default();
        names.for_each(|name| unused.insert(name));
        unused
    }

    /// Nobody uses this name any more.
    pub(super) fn insert(&mut self, name: &Name) {
        self.remove(name);
        self.by_age.insert(self.next, name.clone());
        self.ages.insert(name.clone(), self.next);
        self.next += 1;
    }

    /// This name is used again.
    pub(super) fn remove(&mut self, name: &Name) {
        if let Some(age) = self.ages.remove(name) {
            self.by_age.remove(&age);
        }
    }

    fn len(&self) -> usize {
        self.by_age.len()
    }

    /// Removes so many names, those that are unused for longest.
    fn take_oldest(&mut self, count: usize) -> Vec<Name> {
        let mut names = Vec::new();
        while names.len() < count
            && let Some((_, name)) = self.by_age.pop_first()
        {
            self.ages.remove(&name);
            names.push(name);
        }
        names
    }
}

impl SiteCore {
    /// Folds the records of names that are unused for longest when there are too many of them. Half
    /// of what may stay stays, so that a write folds many.
    ///
    /// The leases that belonged to these records are over: a lock stays in the table while it has
    /// one, and after a restart the whole site is in quarantine. A fold is a numbered write like
    /// that of a record, and later effects wait for it.
    pub(super) fn fold_unused(&mut self) {
        let most = self.config.unused_records;
        if self.unused.len() <= most || !self.identity.has_begun() {
            return;
        }
        let count = (self.unused.len() - most / 2).min(FOLDED_MAX);
        let names = self.unused.take_oldest(count);
        let mut record = self.folded.record.clone();
        for name in &names {
            let kept = self.tokens.remove(name).expect("an unused name has a record");
            record.fold(&kept.record);
        }
        let write = self.identity.next_write();
        self.folded = Kept { write, record };
        self.out.push(Effect::Fold(self.folded.clone(), names));
        self.identity.note_persisted();
        self.drive_identity(Identity::announce);
        self.held.hold(write, self.out.len());
    }

    /// The record of a lock that is made: its own, or what was folded.
    pub(super) fn kept(&self, name: &Name) -> Kept {
        self.tokens.get(name).unwrap_or(&self.folded).clone()
    }
}
