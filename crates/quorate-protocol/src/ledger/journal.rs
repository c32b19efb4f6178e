//! An arbiter's own ledger, and its latest changes, so that a long ledger need not be sent whole.
//!
//! A borrower that keeps a copy says which version it has, and is sent the changes since. The
//! changes of short ledgers are not counted: they are sent whole, and nobody keeps a copy.

use std::collections::VecDeque;

use super::Options;
use super::known::{Change, Ledger, Update};
use crate::Shared;

/// A part of an update has about so many numbers at most, or a single change. One number takes
/// three bytes at most, so a part is far shorter than a frame.
const PART_WEIGHT_MAX: usize = 1 << 14;

/// An arbiter's ledger, and its latest changes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Journal {
    pub(super) ledger: Ledger,
    /// The latest changes, as many as the ledger has entries; `None` while it is short.
    changes: Option<VecDeque<Change>>,
    /// The longest ledger that counts as short.
    whole: usize,
}

impl Journal {
    pub(super) fn new(options: Options) -> Self {
        Self { ledger: Ledger::default(), changes: None, whole: options.whole }
    }

    /// Makes a change.
    pub(super) fn change(&mut self, site: &Shared, change: Change) {
        self.ledger.apply(change.clone());
        let entries = self.ledger.entries.len();
        match &mut self.changes {
            _ if entries <= self.whole => self.changes = None,
            Some(changes) => {
                self.ledger.version += 1;
                changes.push_back(change);
                while changes.len() > entries {
                    changes.pop_front();
                }
            }
            None => {
                // Above every version before, also those of a forgotten pool of the same name.
                self.ledger.version = self.ledger.version.max(site.loans()) + 1;
                self.changes = Some(VecDeque::new());
            }
        }
    }

    /// The version that others may keep; 0 while the ledger is short.
    pub(super) fn version(&self) -> u64 {
        if self.changes.is_some() { self.ledger.version } else { 0 }
    }

    /// What a borrower must do to a copy of version `known`, in parts.
    pub(super) fn updates(&self, known: u64) -> Vec<Update> {
        let version = self.version();
        let latest = self.changes.as_ref().map_or(0, VecDeque::len) as u64;
        let whole = known == 0 || known > version || version - known > latest;
        let changes: Vec<Change> = if whole {
            let entries = self.ledger.entries.iter();
            entries.map(|(&ticket, numbers)| Change::Join(ticket, numbers.clone())).collect()
        } else {
            let skipped = usize::try_from(latest + known - version).expect("a place in memory");
            self.changes.iter().flatten().skip(skipped).cloned().collect()
        };
        let mut updates = vec![Update { whole, changes: Vec::new(), version }];
        let mut weight = 0;
        for change in changes {
            weight += change.weight();
            if weight > PART_WEIGHT_MAX && updates.last().is_some_and(|u| !u.changes.is_empty()) {
                updates.push(Update { whole: false, changes: Vec::new(), version });
                weight = change.weight();
            }
            updates.last_mut().expect("the first part is there").changes.push(change);
        }
        updates
    }
}
