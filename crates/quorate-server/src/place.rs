//! Where a folder lies: whether it was moved, copied or restored since its site ran with it.
//!
//! A small file in the folder is the mark of a place. Its fingerprint is in the site's record: the
//! machine, and the number and time of change of the mark, which no tool that copies or restores
//! files can set. Each life makes a new mark. The mark of the life before is kept until the record
//! with the new one is on disk.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The two names that marks have in turn.
const NAMES: [&str; 2] = ["place-1", "place-2"];

/// The mark of a life that has not begun yet.
#[derive(Debug)]
pub(crate) struct Mark {
    /// Its fingerprint.
    pub(crate) place: u64,
    /// The mark of the life before, to be removed when this one counts.
    former: PathBuf,
}

impl Mark {
    /// Makes a new mark in the folder. Returns `recorded` if a mark with that fingerprint is there,
    /// and 0 if not.
    pub(crate) fn make(folder: &Path, recorded: u64) -> io::Result<(u64, Self)> {
        let paths = NAMES.map(|name| folder.join(name));
        let is_recorded =
            |path: &PathBuf| matches!(fingerprint(path), Ok(found) if found == recorded);
        let found = paths.iter().position(is_recorded);
        let [one, other] = paths;
        let (former, new) = if found == Some(1) { (other, one) } else { (one, other) };
        if let Err(error) = fs::remove_file(&new)
            && error.kind() != io::ErrorKind::NotFound
        {
            return Err(error);
        }
        let mut file = fs::File::create_new(&new)?;
        file.write_all(b"This file tells a site whether its folder was moved or copied.\n")?;
        file.sync_all()?;
        fs::File::open(folder)?.sync_all()?;
        let place = fingerprint(&new)?;
        Ok((if found.is_some() { recorded } else { 0 }, Self { place, former }))
    }

    /// The record with this mark is on disk: the former one is of no use.
    pub(crate) fn settle(self) {
        drop(fs::remove_file(self.former)); // it may not exist
    }
}

/// The fingerprint of a mark, never 0.
///
/// The number of the device is no part of it, because it may change when a machine starts.
fn fingerprint(mark: &Path) -> io::Result<u64> {
    let file = fs::metadata(mark)?;
    let machine = fs::read("/etc/machine-id").unwrap_or_default();
    let numbers =
        [file.ino().to_le_bytes(), file.ctime().to_le_bytes(), file.ctime_nsec().to_le_bytes()];
    // FNV-1a
    let bytes = machine.iter().chain(numbers.as_flattened());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Ok(hash.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_in_its_place_until_it_is_copied_or_restored() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("site");
        fs::create_dir(&folder).unwrap();
        let (before, first) = Mark::make(&folder, 0).unwrap();
        assert_eq!(before, 0, "it is new");
        let place = first.place;
        first.settle();

        let (before, second) = Mark::make(&folder, place).unwrap();
        assert_eq!(before, place, "the same place");
        let (before, again) = Mark::make(&folder, place).unwrap();
        assert_eq!(before, place, "the life before did not begin");
        drop(second);
        let later = again.place;
        let copy = root.path().join("copy");
        fs::create_dir(&copy).unwrap();
        for name in NAMES {
            fs::copy(folder.join(name), copy.join(name)).unwrap();
        }
        assert_eq!(Mark::make(&copy, place).unwrap().0, 0, "a copy lies elsewhere");
        again.settle();
        assert_eq!(Mark::make(&folder, place).unwrap().0, 0, "an older record");
        assert_ne!(later, place);
    }

    #[test]
    fn a_mark_that_was_written_over_is_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let (_, mark) = Mark::make(folder.path(), 0).unwrap();
        let place = mark.place;
        mark.settle();
        let text = fs::read(folder.path().join("place-2")).unwrap();
        fs::write(folder.path().join("place-2"), text).unwrap();
        assert_eq!(Mark::make(folder.path(), place).unwrap().0, 0);
    }
}
