//! A site's disk: one record, written whole, one write at a time and in order.

use std::collections::VecDeque;

use quorate_site::Disk;

/// A disk and what is being written to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Drive {
    /// What would be read after a crash.
    pub(super) synced: Disk,
    /// What is being written, the first of them now.
    queue: VecDeque<(Disk, Need)>,
}

/// What waits for a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// All that the site says later.
    Barrier,
    /// Nothing; the site is told.
    Early,
}

impl Drive {
    /// Takes a record to be written; true if it is the only one, so that its writing begins now.
    pub(super) fn write(&mut self, record: Disk, need: Need) -> bool {
        self.queue.push_back((record, need));
        self.queue.len() == 1
    }

    /// The first write is done.
    pub(super) fn done(&mut self) -> (Disk, Need) {
        let (record, need) = self.queue.pop_front().expect("a write was under way");
        self.synced = record;
        (record, need)
    }

    /// Whether a write is under way.
    pub(super) fn is_busy(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether what the site says has to wait.
    pub(super) fn is_barred(&self) -> bool {
        self.queue.iter().any(|(_, need)| *need == Need::Barrier)
    }

    /// The site crashes: the write under way is on disk or not, the rest is not.
    pub(super) fn crash(&mut self, finished: bool) {
        if let Some((record, _)) = self.queue.pop_front().filter(|_| finished) {
            self.synced = record;
        }
        self.queue.clear();
    }
}
