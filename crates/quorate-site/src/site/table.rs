//! The table of locks: those in use, and what each of them has been told.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;

use quorate_session::session::HappeningNo;
use quorate_session::{Kind, Name};

use super::name_index::NameIndex;
use super::site_core::SiteCore;
use crate::lock::LockInstance;

/// The locks in use, in the order of the hashes of their names.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    locks: BTreeMap<Name, TableEntry>,
    /// Their names, in the order of their texts.
    names: NameIndex,
}

/// A lock, and the number of what it was told last.
#[derive(Clone, Debug)]
pub(super) struct TableEntry {
    pub(super) lock: Box<dyn LockInstance>,
    pub(super) told: HappeningNo,
}

impl Table {
    pub(super) fn get(&self, name: &Name) -> Option<&dyn LockInstance> {
        self.locks.get(name).map(|entry| &*entry.lock)
    }

    /// The lock of a call that is placed.
    pub(super) fn lock(&self, name: &Name) -> &dyn LockInstance {
        self.get(name).expect("a call that is placed has a lock")
    }

    pub(super) fn entry_mut(&mut self, name: &Name) -> Option<&mut TableEntry> {
        self.locks.get_mut(name)
    }

    /// The lock of this name, made if there is none; `None` if none can be made. A new lock knows
    /// the present, so it was told everything up to `told`.
    pub(super) fn get_or_make(
        &mut self,
        name: &Name,
        told: HappeningNo,
        make: impl FnOnce() -> Option<Box<dyn LockInstance>>,
    ) -> Option<&mut dyn LockInstance> {
        Some(match self.locks.entry(name.clone()) {
            Entry::Occupied(entry) => &mut *entry.into_mut().lock,
            Entry::Vacant(entry) => {
                let lock = make()?;
                self.names.insert(name);
                &mut *entry.insert(TableEntry { lock, told }).lock
            }
        })
    }

    pub(super) fn remove(&mut self, name: &Name) {
        self.locks.remove(name);
        self.names.remove(name);
    }

    pub(super) fn len(&self) -> usize {
        self.locks.len()
    }

    /// The names, in the order of the table.
    pub(super) fn names(&self) -> impl Iterator<Item = &Name> {
        self.locks.keys()
    }

    /// The names, in the order of their texts.
    pub(super) fn index(&self) -> &NameIndex {
        &self.names
    }

    /// The locks after this one, or all.
    pub(super) fn after_mut(
        &mut self,
        after: Option<&Name>,
    ) -> impl Iterator<Item = (&Name, &mut TableEntry)> {
        let after = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.locks.range_mut::<Name, _>((after, Bound::Unbounded))
    }
}

impl SiteCore {
    /// A lock of which nothing is known but what is on disk; `None` if there can be none.
    pub(super) fn make_lock(&mut self, name: &Name, kind: &Kind) -> Option<Box<dyn LockInstance>> {
        let lock = self.factory.make(kind, self.kept(name).record)?;
        self.unused.remove(name);
        Some(lock)
    }
}
