//! The disk of a site, a `redb` file: one small record, and one for each token.

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quorate_session::Name;
use quorate_site::{Disk, Kept, Past};
use redb::backends::InMemoryBackend;
use redb::{
    Database, DatabaseError, ReadableDatabase, ReadableTable, StorageBackend, TableDefinition,
};

use crate::ServerError;
use crate::place::Mark;

const TABLE: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("site");
const KEY: &str = "record";
/// The row with the version of all records, and that version.
const FORMAT_KEY: &str = "format";
const FORMAT: u8 = 3;
/// Format 2 has no row for the folded record.
const FORMATS: [u8; 2] = [2, FORMAT];
/// The row with the promises about all tokens that have no record of their own.
const FOLDED_KEY: &str = "folded";
/// The promises about each token, by the name of its lock.
const TOKENS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("tokens");

/// One write.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    /// The record of the site.
    Site(Box<Disk>),
    /// Its promises about the token of this lock.
    Token(Name, Kept),
    /// Its promises about the tokens of all locks without a record of their own, in place of the
    /// records of these locks.
    Fold(Kept, Vec<Name>),
}

type Row = (String, Vec<u8>);

/// Why a folder of an earlier version is refused.
const OLD_FORMAT: &str = "it was written by an earlier version of quorate, which did not record \
    whose folder it is. Stop all sites of the cluster and start them with new, empty folders; \
    fences start anew, so set back what your storages remember of them";

/// Opens a file of records, or makes it.
fn open_database(path: &Path) -> Result<Database, String> {
    let damaged = |why: &str| {
        format!(
            "{} is damaged, or no file of quorate: {why}. Restore the disk, or leave this site \
             out: the others go on without it",
            path.display()
        )
    };
    // The library asserts some properties of a file that it opens.
    let opened = catch_unwind(|| Database::create(path));
    match opened {
        Ok(Ok(database)) => Ok(database),
        Ok(Err(DatabaseError::DatabaseAlreadyOpen)) => {
            Err("another process on this machine runs with it: stop that one first".to_owned())
        }
        Ok(Err(DatabaseError::Storage(redb::StorageError::Io(error))))
            if error.kind() == io::ErrorKind::PermissionDenied =>
        {
            Err(format!("{}: {error}", path.display()))
        }
        Ok(Err(error)) => Err(damaged(&error.to_string())),
        Err(_) => Err(damaged("it cannot be read")),
    }
}

/// The file of a site, and how often it was written.
#[derive(Debug)]
pub(crate) struct Store {
    database: Database,
    /// The folder; `None` in memory.
    folder: Option<PathBuf>,
    /// The mark of the folder's place, until it is part of the record on disk.
    mark: Mutex<Option<Mark>>,
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
        Ok(Copied::Store(Self::of_database(database)))
    }

    /// Opens the file, or makes it.
    pub(crate) fn open(folder: &Path) -> Result<Self, ServerError> {
        let problem = |what: String| ServerError::Disk(folder.to_owned(), what);
        std::fs::create_dir_all(folder).map_err(|error| problem(error.to_string()))?;
        let path = folder.join(Self::FILE);
        let database = open_database(&path).map_err(problem)?;
        Ok(Self { folder: Some(folder.to_owned()), ..Self::of_database(database) })
    }

    /// A store in this database.
    pub(crate) fn of_database(database: Database) -> Self {
        Self { database, folder: None, mark: Mutex::default(), writes: Arc::default() }
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
        let rows = self.rows(TABLE).map_err(|error| error.to_string())?;
        let row = |name| rows.iter().find(|(key, _)| key == name).map(|(_, bytes)| &bytes[..]);
        match (row(KEY), row(FORMAT_KEY)) {
            (None, _) => return Ok(past),
            (Some(bytes), Some([format])) if FORMATS.contains(format) => {
                past.disk = postcard::from_bytes(bytes).map_err(|_| broken("the record"))?;
            }
            (Some(_), None) => return Err(OLD_FORMAT.to_owned()),
            (Some(_), Some(format)) => {
                return Err(format!(
                    "its records have format {format:?}, and this version reads {FORMATS:?}: use \
                     the version of quorate that wrote them"
                ));
            }
        }
        if let Some(bytes) = row(FOLDED_KEY) {
            let kept = postcard::from_bytes(bytes);
            past.folded = kept.map_err(|_| broken("the record of unused tokens"))?;
        }
        for (key, bytes) in self.rows(TOKENS).map_err(|error| error.to_string())? {
            let broken = || broken(&format!("the record of the token of {key}"));
            let name: Name = key.parse().map_err(|_| broken())?;
            let kept: Kept = postcard::from_bytes(&bytes).map_err(|_| broken())?;
            past.tokens.insert(name, kept);
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
                        let mut table = transaction.open_table(TABLE)?;
                        table.insert(KEY, bytes.as_slice())?;
                        table.insert(FORMAT_KEY, &[FORMAT][..])?;
                    }
                    Write::Token(name, kept) => {
                        let bytes = postcard::to_allocvec(kept).expect("it can be written");
                        let mut table = transaction.open_table(TOKENS)?;
                        table.insert(name.as_str(), bytes.as_slice())?;
                    }
                    Write::Fold(folded, names) => {
                        let bytes = postcard::to_allocvec(folded).expect("it can be written");
                        transaction.open_table(TABLE)?.insert(FOLDED_KEY, bytes.as_slice())?;
                        let mut table = transaction.open_table(TOKENS)?;
                        for name in names {
                            table.remove(name.as_str())?;
                        }
                    }
                }
            }
            transaction.commit()?;
            Ok(())
        };
        self.writes.fetch_add(1, Ordering::Relaxed);
        write().map_err(|error| error.to_string())?;
        self.settle_mark(writes);
        Ok(())
    }

    /// Marks the place of the folder for a new life. Returns where it lay when the record was
    /// written, 0 if it does not lie there any more, and where it lies now.
    pub(crate) fn mark_place(&self, recorded: u64) -> Result<(u64, u64), String> {
        let Some(folder) = &self.folder else { return Ok((0, 0)) };
        let made = Mark::make(folder, recorded);
        let (place, mark) = made.map_err(|error| format!("its place cannot be marked: {error}"))?;
        let new_place = mark.place;
        *self.mark.lock().unwrap_or_else(PoisonError::into_inner) = Some(mark);
        Ok((place, new_place))
    }

    /// Removes the former mark if the new one is in a record that was written.
    fn settle_mark(&self, writes: &[Write]) {
        let mut mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = |mark: &Mark| {
            let place = |write: &Write| match write {
                Write::Site(disk) => disk.identity.place == mark.place,
                Write::Token(..) | Write::Fold(..) => false,
            };
            writes.iter().any(place)
        };
        if mark.as_ref().is_some_and(counts)
            && let Some(mark) = mark.take()
        {
            mark.settle();
        }
    }

    /// Counts the transactions.
    pub(crate) fn writes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.writes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(folder: &Path) -> String {
        let store = Store::open(folder);
        let read = |store: Store| store.read().map_err(|why| why.clone());
        match store.map(read) {
            Err(error) => error.to_string(),
            Ok(Err(why)) => why,
            Ok(Ok(past)) => panic!("it was read: {past:?}"),
        }
    }

    #[test]
    fn records_survive() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Disk { clock: 7, ..Disk::default() };
        disk.identity.writes = 3;
        let kept = Kept { write: 4, ..Kept::default() };
        let name: Name = "deploy".parse().unwrap();
        let store = Store::open(folder.path()).unwrap();
        assert_eq!(store.read().unwrap(), Past::default());
        let writes =
            [Write::Site(Box::new(disk.clone())), Write::Token(name.clone(), kept.clone())];
        store.write(&writes).unwrap();
        let tokens = [(name.clone(), kept.clone())].into_iter().collect();
        let past = Past { disk, tokens, ..Past::default() };
        assert_eq!(store.read().unwrap(), past);
        let folded = Kept { write: 5, ..kept };
        store.write(&[Write::Fold(folded.clone(), vec![name])]).unwrap();
        assert_eq!(store.read().unwrap(), Past { tokens: [].into(), folded, ..past });
    }

    #[test]
    fn a_folder_of_an_earlier_version_is_refused_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let transaction = store.database.begin_write().unwrap();
        transaction.open_table(TABLE).unwrap().insert(KEY, &[1, 2, 3][..]).unwrap();
        transaction.commit().unwrap();
        drop(store);
        assert!(error(folder.path()).contains("start them with new, empty folders"));
    }

    #[test]
    fn a_damaged_file_is_an_error_and_no_panic() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.redb");
        let store = Store::open(folder.path()).unwrap();
        store.write(&[Write::Site(Box::default())]).unwrap();
        drop(store);
        let whole = std::fs::read(&path).unwrap();
        for length in [1, 100, 320, 511, 512, 4095, 4096, 8192, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(error(folder.path()).contains("site.redb is damaged"), "{length} bytes");
        }
        std::fs::write(&path, "no file of quorate".repeat(1000)).unwrap();
        assert!(error(folder.path()).contains("site.redb is damaged"));
    }
}
