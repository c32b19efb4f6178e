//! The thread that writes to the disk of a site, and tries again when that fails.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use quorate_site::Disk;

use crate::disk::{Store, Write};

/// How long to wait after a failure before the disk is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What the thread reports.
#[derive(Clone, Debug)]
pub(crate) enum DiskReport {
    /// Writes are on disk.
    Written(Written),
    /// The disk cannot be written, and why. Said once; the writes are tried again.
    Failed(String),
    /// It can be written again.
    Recovered,
}

/// The outcome of a batch of writes.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    /// How many writes were done.
    pub(crate) count: u64,
    /// The latest record of the site among them.
    pub(crate) disk: Option<Box<Disk>>,
}

/// Starts a thread that writes what it is sent, in batches, and reports after each. A batch that
/// cannot be written is kept, and tried again on a store that is opened anew.
pub(crate) fn spawn(
    store: Store,
    reopen: impl Fn() -> Result<Store, String> + Send + 'static,
    report: impl Fn(DiskReport) + Send + 'static,
) -> Sender<Write> {
    DiskWriter { store: Some(store), reopen, report, retry_after: RETRY_AFTER }.spawn()
}

struct DiskWriter<O, R> {
    /// `None` if it has to be opened anew.
    store: Option<Store>,
    reopen: O,
    report: R,
    retry_after: Duration,
}

impl<O, R> DiskWriter<O, R>
where
    O: Fn() -> Result<Store, String> + Send + 'static,
    R: Fn(DiskReport) + Send + 'static,
{
    fn spawn(mut self) -> Sender<Write> {
        let (sender, writes) = channel();
        let run = move || self.run(&writes);
        thread::Builder::new().name("disk".into()).spawn(run).expect("a thread can be started");
        sender
    }

    /// Writes until nobody sends any more.
    fn run(&mut self, writes: &Receiver<Write>) {
        let mut failed = false;
        let mut batch: Vec<Write> = Vec::new();
        loop {
            if batch.is_empty() {
                let Ok(first) = writes.recv() else { return };
                batch.push(first);
            }
            batch.extend(writes.try_iter());
            match self.write(&batch) {
                Ok(()) => {
                    if std::mem::take(&mut failed) {
                        (self.report)(DiskReport::Recovered);
                    }
                    (self.report)(DiskReport::Written(written(&batch)));
                    batch.clear();
                }
                Err(why) => {
                    if !std::mem::replace(&mut failed, true) {
                        (self.report)(DiskReport::Failed(why));
                    }
                    if !collect_for(self.retry_after, writes, &mut batch) {
                        return;
                    }
                }
            }
        }
    }

    /// Writes a batch. After a failure, the store is opened anew the next time.
    fn write(&mut self, batch: &[Write]) -> Result<(), String> {
        let mut attempt = || {
            let store = match self.store.take() {
                Some(store) => store,
                None => (self.reopen)()?,
            };
            store.write(batch)?;
            self.store = Some(store);
            Ok(())
        };
        catch_unwind(AssertUnwindSafe(&mut attempt))
            .unwrap_or_else(|_| Err("the file is damaged".into()))
    }
}

/// Takes writes in for so long; false if nobody sends any more.
fn collect_for(time: Duration, writes: &Receiver<Write>, batch: &mut Vec<Write>) -> bool {
    let end = Instant::now() + time;
    loop {
        match writes.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(write) => batch.push(write),
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
        }
    }
}

fn written(batch: &[Write]) -> Written {
    let disk = batch.iter().rev().find_map(|write| match write {
        Write::Site(disk) => Some(disk.clone()),
        Write::Token(..) | Write::Fold(..) => None,
    });
    Written { count: batch.len() as u64, disk }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;

    use redb::backends::InMemoryBackend;
    use redb::{Database, StorageBackend};

    use super::*;

    /// A disk that can be full, and that outlives the stores on it.
    #[derive(Clone, Debug, Default)]
    struct FaultyDisk {
        bytes: Arc<InMemoryBackend>,
        full: Arc<AtomicBool>,
    }

    impl FaultyDisk {
        fn check(&self) -> io::Result<()> {
            let full = self.full.load(Ordering::SeqCst);
            if full { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }

        fn open(&self) -> Result<Store, String> {
            let database = Database::builder().create_with_backend(self.clone());
            database.map(Store::of_database).map_err(|error| error.to_string())
        }
    }

    impl StorageBackend for FaultyDisk {
        fn len(&self) -> io::Result<u64> {
            self.bytes.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
            self.bytes.read(offset, out)
        }

        fn set_len(&self, len: u64) -> io::Result<()> {
            self.check()?;
            self.bytes.set_len(len)
        }

        fn sync_data(&self) -> io::Result<()> {
            self.check()
        }

        fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
            self.check()?;
            self.bytes.write(offset, data)
        }
    }

    fn record(clock: u64) -> Write {
        Write::Site(Box::new(Disk { clock, ..Disk::default() }))
    }

    #[test]
    fn writes_that_fail_are_kept_until_the_disk_works_again() {
        let disk = FaultyDisk::default();
        let (reports, received) = mpsc::channel();
        let reopened = disk.clone();
        let writer = DiskWriter {
            store: Some(disk.open().unwrap()),
            reopen: move || reopened.open(),
            report: move |report| drop(reports.send(report)),
            retry_after: Duration::from_millis(1),
        };
        let writes = writer.spawn();

        writes.send(record(1)).unwrap();
        let DiskReport::Written(done) = received.recv().unwrap() else { panic!("it is not full") };
        assert_eq!((done.count, done.disk.unwrap().clock), (1, 1));

        disk.full.store(true, Ordering::SeqCst);
        writes.send(record(2)).unwrap();
        let DiskReport::Failed(why) = received.recv().unwrap() else { panic!("it is full") };
        assert!(!why.is_empty());
        writes.send(record(3)).unwrap();

        disk.full.store(false, Ordering::SeqCst);
        assert!(
            matches!(received.recv().unwrap(), DiskReport::Recovered),
            "said once, then mended"
        );
        let mut count = 0;
        while count < 2 {
            let DiskReport::Written(done) = received.recv().unwrap() else { panic!("it works") };
            count += done.count;
        }
        drop(writes);
        assert!(received.recv().is_err(), "nothing else is reported");
        assert_eq!(disk.open().unwrap().read().unwrap().disk.clock, 3);
    }
}
