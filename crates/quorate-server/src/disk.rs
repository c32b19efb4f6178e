//! What a site keeps on disk: one small record in a `redb` file.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use quorate_site::Disk;
use redb::backends::InMemoryBackend;
use redb::{Database, ReadableDatabase, TableDefinition};

use crate::ServerError;

const TABLE: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("site");
const KEY: &str = "record";

/// The file of a site, and how often it was written.
#[derive(Debug)]
pub(crate) struct Store {
    database: Database,
    writes: Arc<AtomicU64>,
}

impl Store {
    /// Opens the file, or makes it.
    pub(crate) fn open(folder: &Path) -> Result<Self, ServerError> {
        let problem = |what: String| ServerError::Disk(folder.to_owned(), what);
        std::fs::create_dir_all(folder).map_err(|error| problem(error.to_string()))?;
        let database = Database::create(folder.join("site.redb"));
        let database = database.map_err(|error| problem(error.to_string()))?;
        Ok(Self { database, writes: Arc::default() })
    }

    /// A record that is forgotten.
    pub(crate) fn in_memory() -> Result<Self, ServerError> {
        let database = Database::builder().create_with_backend(InMemoryBackend::new());
        let database = database.map_err(|error| ServerError::System(io::Error::other(error)))?;
        Ok(Self { database, writes: Arc::default() })
    }

    /// What is there; nothing on a new disk.
    pub(crate) fn read(&self) -> Result<Disk, String> {
        let read = || -> Result<Option<Vec<u8>>, redb::Error> {
            let transaction = self.database.begin_read()?;
            match transaction.open_table(TABLE) {
                Ok(table) => Ok(table.get(KEY)?.map(|bytes| bytes.value().to_vec())),
                Err(redb::TableError::TableDoesNotExist(_)) => Ok(None),
                Err(error) => Err(error.into()),
            }
        };
        match read().map_err(|error| error.to_string())? {
            None => Ok(Disk::default()),
            Some(bytes) => postcard::from_bytes(&bytes)
                .map_err(|_| "the record cannot be read; it is of another version".to_owned()),
        }
    }

    /// Writes a record and syncs it.
    pub(crate) fn write(&self, disk: &Disk) -> Result<(), String> {
        let write = || -> Result<(), redb::Error> {
            let transaction = self.database.begin_write()?;
            let bytes = postcard::to_allocvec(disk).expect("a record can be written");
            transaction.open_table(TABLE)?.insert(KEY, bytes.as_slice())?;
            transaction.commit()?;
            Ok(())
        };
        self.writes.fetch_add(1, Ordering::Relaxed);
        write().map_err(|error| error.to_string())
    }

    /// How often it was written.
    pub(crate) fn writes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.writes)
    }

    /// A thread that writes what it is sent, the latest of what has gathered, and tells.
    pub(crate) fn into_thread(
        self,
        done: impl Fn(Result<Disk, String>) + Send + 'static,
    ) -> Sender<Disk> {
        let (sender, records): (Sender<Disk>, Receiver<Disk>) = channel();
        let write = move || {
            while let Ok(mut disk) = records.recv() {
                // A later record says all that an earlier one said.
                while let Ok(later) = records.try_recv() {
                    disk = later;
                }
                done(self.write(&disk).map(|()| disk));
            }
        };
        thread::Builder::new().name("disk".into()).spawn(write).expect("a thread can be started");
        sender
    }
}
