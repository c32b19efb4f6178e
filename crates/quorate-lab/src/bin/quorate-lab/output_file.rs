//! Output files that are written completely or not at all.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use quorate_terminal::answer::Failure;

/// A file that will be written.
#[derive(Debug)]
pub(crate) struct OutputFile {
    named: String,
    path: PathBuf,
}

impl OutputFile {
    /// Checks that `named` can be written, before any work is done for it.
    pub(crate) fn new(named: &str) -> Result<Self, Failure> {
        // Replace the target of a link, not the link.
        let path = fs::canonicalize(named).unwrap_or_else(|_| PathBuf::from(named));
        if path.exists() && !path.is_file() {
            return Err(format!("{named}: is no file; expected the name of one").into());
        }
        let file = Self { named: named.to_owned(), path };
        file.beside().map(drop)?;
        Ok(file)
    }

    /// Writes a temporary file in the same folder, then renames it.
    pub(crate) fn write(&self, text: &str) -> Result<(), Failure> {
        let mut file = self.beside()?;
        file.write_all(text.as_bytes()).map_err(|error| self.failed(&error))?;
        file.persist(&self.path).map_err(|error| self.failed(&error.error))?;
        Ok(())
    }

    fn beside(&self) -> Result<NamedTempFile, Failure> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // The mode of a new file, before the user's umask.
        let permissions = Permissions::from_mode(0o666);
        let made = Builder::new()
            .permissions(permissions)
            .tempfile_in(folder.unwrap_or_else(|| Path::new(".")));
        made.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        let why = match error.kind() {
            ErrorKind::NotFound => "its folder does not exist".to_owned(),
            // Leave out the name of the temporary file.
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
        let file = OutputFile::new(path.to_str().unwrap()).unwrap();
        assert!(!path.exists(), "nothing is there before something is written");
        file.write("old").unwrap();
        file.write("new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_cannot_be_written_is_refused_before_the_work() {
        let folder = tempfile::tempdir().unwrap();
        let refused =
            |path: &Path| OutputFile::new(path.to_str().unwrap()).unwrap_err().to_string();
        assert!(refused(folder.path()).contains("is no file"));
        assert!(refused(&folder.path().join("no/page.html")).contains("its folder does not exist"));
        assert!(refused(Path::new("/dev/null")).contains("is no file"));
    }
}
