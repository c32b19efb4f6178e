//! The disk of a site, a `redb` file: one small record, and one for each token.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quorate_session::Name;
use quorate_site::kinds::LockRecord;
use quorate_site::{Disk, Past};
use redb::backends::InMemoryBackend;
use redb::{Database, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition};

use crate::ServerError;

const TABLE: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("site");
const KEY: &str = "record";
/// The promises about each token, by the name of its lock.
const TOKENS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("tokens");

/// One write.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    /// The record of the site.
    Site(Disk),
    /// Its promises about the token of this lock.
    Token(Name, LockRecord),
}

type Row = (String, Vec<u8>);

/// The file of a site, and how often it was written.
#[derive(Debug)]
pub(crate) struct Store {
    database: Database,
    writes: Arc<AtomicU64>,
}

/// A copy of the file of a site.
#[derive(Debug)]
pub(crate) enum Copied {
    /// There is no file yet.
    Nothing,
    /// Another process uses it.
    InUse,
    /// The copy, in memory.
    Store(Store),
}

impl Store {
    /// The name of the file.
    pub(crate) const FILE: &str = "site.redb";

    /// Copies the file into memory, to look at it without changing it.
    pub(crate) fn copy(folder: &Path) -> Result<Copied, String> {
        let problem = |error: io::Error| format!("it cannot be read: {error}");
        let mut file = match File::open(folder.join(Self::FILE)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Copied::Nothing),
            Err(error) => return Err(problem(error)),
        };
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Copied::InUse),
            Err(TryLockError::Error(error)) => return Err(problem(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(problem)?;
        if bytes.is_empty() {
            return Err("it is empty".into());
        }
        let memory = InMemoryBackend::new();
        memory.set_len(bytes.len() as u64).map_err(problem)?;
        memory.write(0, &bytes).map_err(problem)?;
        let database = Database::builder().create_with_backend(memory);
        let database = database.map_err(|error| format!("it is damaged: {error}"))?;
        Ok(Copied::Store(Self { database, writes: Arc::default() }))
    }

    /// Opens the file, or makes it.
    pub(crate) fn open(folder: &Path) -> Result<Self, ServerError> {
        let problem = |what: String| ServerError::Disk(folder.to_owned(), what);
        std::fs::create_dir_all(folder).map_err(|error| problem(error.to_string()))?;
        let database = Database::create(folder.join(Self::FILE));
        let database = database.map_err(|error| problem(error.to_string()))?;
        Ok(Self::of_database(database))
    }

    /// A store in this database.
    pub(crate) fn of_database(database: Database) -> Self {
        Self { database, writes: Arc::default() }
    }

    /// The same store, with its writes counted here.
    pub(crate) fn counting(self, writes: Arc<AtomicU64>) -> Self {
        Self { writes, ..self }
    }

    /// A store in memory.
    pub(crate) fn in_memory() -> Result<Self, ServerError> {
        let database = Database::builder().create_with_backend(InMemoryBackend::new());
        let database = database.map_err(|error| ServerError::System(io::Error::other(error)))?;
        Ok(Self::of_database(database))
    }

    /// All records; none on a new disk.
    pub(crate) fn read(&self) -> Result<Past, String> {
        let broken = |what: &str| format!("{what} cannot be read; it is from another version");
        let mut past = Past::default();
        for (key, bytes) in self.rows(TABLE).map_err(|error| error.to_string())? {
            if key == KEY {
                let disk = postcard::from_bytes(&bytes);
                past.disk = disk.map_err(|_| broken("the record"))?;
            }
        }
        for (key, bytes) in self.rows(TOKENS).map_err(|error| error.to_string())? {
            let broken = || broken(&format!("the record of the token of {key}"));
            let name: Name = key.parse().map_err(|_| broken())?;
            let durable: LockRecord = postcard::from_bytes(&bytes).map_err(|_| broken())?;
            past.tokens.insert(name, durable);
        }
        Ok(past)
    }

    /// All rows of a table; none if it does not exist yet.
    fn rows(&self, table: TableDefinition<'_, &str, &[u8]>) -> Result<Vec<Row>, redb::Error> {
        let transaction = self.database.begin_read()?;
        let table = match transaction.open_table(table) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut rows = Vec::new();
        for row in table.iter()? {
            let (key, value) = row?;
            rows.push((key.value().to_owned(), value.value().to_vec()));
        }
        Ok(rows)
    }

    /// Writes and syncs all of it in one transaction. Later writes replace earlier ones.
    pub(crate) fn write(&self, writes: &[Write]) -> Result<(), String> {
        let write = || -> Result<(), redb::Error> {
            let transaction = self.database.begin_write()?;
            for write in writes {
                match write {
                    Write::Site(disk) => {
                        let bytes = postcard::to_allocvec(disk).expect("a record can be written");
                        transaction.open_table(TABLE)?.insert(KEY, bytes.as_slice())?;
                    }
                    Write::Token(name, durable) => {
                        let bytes = postcard::to_allocvec(durable).expect("it can be written");
                        let mut table = transaction.open_table(TOKENS)?;
                        table.insert(name.as_str(), bytes.as_slice())?;
                    }
                }
            }
            transaction.commit()?;
            Ok(())
        };
        self.writes.fetch_add(1, Ordering::Relaxed);
        write().map_err(|error| error.to_string())
    }

    /// Counts the transactions.
    pub(crate) fn writes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.writes)
    }
}
