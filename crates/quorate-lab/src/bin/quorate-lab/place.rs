//! Files that are there whole, or not at all.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use quorate_terminal::answer::Failure;

/// Where a file is to be written, once there is something to write.
#[derive(Debug)]
pub(crate) struct Place {
    named: String,
    path: PathBuf,
}

impl Place {
    /// Looks whether `named` can be written, before anybody works for it.
    pub(crate) fn new(named: &str) -> Result<Self, Failure> {
        // What is behind a link is replaced, not the link.
        let path = fs::canonicalize(named).unwrap_or_else(|_| PathBuf::from(named));
        if path.exists() && !path.is_file() {
            return Err(format!("{named}: is no file; expected the name of one").into());
        }
        let place = Self { named: named.to_owned(), path };
        place.beside().map(drop)?;
        Ok(place)
    }

    /// Writes the file: beside its place, then all at once into it.
    pub(crate) fn write(&self, text: &str) -> Result<(), Failure> {
        let mut file = self.beside()?;
        file.write_all(text.as_bytes()).map_err(|error| self.failed(&error))?;
        file.persist(&self.path).map_err(|error| self.failed(&error.error))?;
        Ok(())
    }

    fn beside(&self) -> Result<NamedTempFile, Failure> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // As any new file, but for what the user's mask takes away.
        let permissions = Permissions::from_mode(0o666);
        let made = Builder::new()
            .permissions(permissions)
            .tempfile_in(folder.unwrap_or_else(|| Path::new(".")));
        made.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        let why = match error.kind() {
            ErrorKind::NotFound => "its folder does not exist".to_owned(),
            // The name of the file beside is of no use to the reader.
            kind => kind.to_string(),
        };
        Failure::Input(format!("{}: cannot be written: {why}", self.named))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        let place = Place::new(path.to_str().unwrap()).unwrap();
        assert!(!path.exists(), "nothing is there before something is written");
        place.write("old").unwrap();
        place.write("new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_refused_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| Place::new(path.to_str().unwrap()).unwrap_err().to_string();
        assert!(refused(folder.path()).contains("is no file"));
        assert!(refused(&folder.path().join("no/page.html")).contains("its folder does not exist"));
        assert!(refused(Path::new("/dev/null")).contains("is no file"));
    }
}
