//! A site's disk: one record, written whole, and one for each token; one write at a time, in order.

use std::collections::VecDeque;

use quorate_session::Name;
use quorate_site::token::Durable;
use quorate_site::{Disk, Past};

/// A disk and what is being written to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Drive {
    /// What would be read after a crash.
    pub(super) synced: Past,
    /// What is being written, the first of them now.
    queue: VecDeque<(Record, Need)>,
}

/// What is written.
#[derive(Clone, Debug)]
pub(super) enum Record {
    Site(Disk),
    Token(Name, Durable),
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
    pub(super) fn write(&mut self, record: Record, need: Need) -> bool {
        self.queue.push_back((record, need));
        self.queue.len() == 1
    }

    /// The first write is done.
    pub(super) fn done(&mut self) -> (Record, Need) {
        let (record, need) = self.queue.pop_front().expect("a write was under way");
        self.sync(record.clone());
        (record, need)
    }

    fn sync(&mut self, record: Record) {
        match record {
            Record::Site(disk) => self.synced.disk = disk,
            Record::Token(name, durable) => {
                self.synced.tokens.insert(name, durable);
            }
        }
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
            self.sync(record);
        }
        self.queue.clear();
    }
}
