//! A site's disk: one record for the site and one for each token; one write at a time, in order.

use std::collections::VecDeque;

use quorate_session::Name;
use quorate_site::{Disk, Kept, Past};

/// A disk and its pending writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Drive {
    /// The contents that a restart would read.
    pub(super) synced: Past,
    /// The pending writes; the first is in progress.
    queue: VecDeque<(Record, Need)>,
    /// The place of the folder; a folder that was moved, restored or copied has another.
    pub(super) place: u64,
    /// Copies of the folder that were taken at some times.
    pub(super) copies: Vec<Past>,
}

/// The record of a write.
#[derive(Clone, Debug)]
pub(super) enum Record {
    Site(Box<Disk>),
    Token(Name, Kept),
    Fold(Kept, Vec<Name>),
}

/// What has to wait for a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// All later effects of the site.
    Barrier,
    /// Nothing; the site is notified.
    Early,
}

impl Drive {
    /// Queues a record to be written; true if it is the only one, so that its write begins now.
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
            Record::Site(disk) => self.synced.disk = *disk,
            Record::Token(name, durable) => {
                self.synced.tokens.insert(name, durable);
            }
            Record::Fold(folded, names) => self.synced.fold(folded, &names),
        }
    }

    /// Whether a write is in progress.
    pub(super) fn is_busy(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether later effects of the site have to wait.
    pub(super) fn is_barred(&self) -> bool {
        self.queue.iter().any(|(_, need)| *need == Need::Barrier)
    }

    /// The site crashes: the write in progress is on disk or not, the rest is not.
    pub(super) fn crash(&mut self, finished: bool) {
        if let Some((record, _)) = self.queue.pop_front().filter(|_| finished) {
            self.sync(record);
        }
        self.queue.clear();
    }
}
