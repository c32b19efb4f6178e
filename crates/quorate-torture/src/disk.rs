//! Disks of sites: small, and where the machine allows it, of limited speed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::network::run;

/// The size of a disk, in bytes.
const SIZE: u64 = 16 << 20;
/// Writes in a second of a slow disk: a sync takes more than a second.
const SLOW: u32 = 3;
/// The limit of writes to a device, in the control group of a site.
const LIMIT: &str = "blkio.throttle.write_iops_device";

/// What disks the machine allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Disks {
    /// Plain folders.
    Folders,
    /// File systems in memory, of limited size.
    Small,
    /// File systems on devices of their own, whose speed can be limited.
    Throttled,
}

/// The disk of one site.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    /// The folder where it is mounted.
    pub(crate) folder: PathBuf,
    /// The control group of the site, and its device.
    throttle: Option<(PathBuf, String)>,
}

impl Disks {
    /// The best that works in this process, which is tried in `folder`; `groups` is where control
    /// groups can be made.
    pub(crate) fn probe(folder: &Path, groups: &Path) -> Self {
        for disks in [Disks::Throttled, Disks::Small] {
            let tried = disks.make(&folder.join("probe"), &groups.join("probe"));
            if tried.is_ok_and(|disk| disks.remove(&disk).is_ok()) {
                return disks;
            }
        }
        Disks::Folders
    }

    /// Makes a disk, mounted at `folder`.
    pub(crate) fn make(self, folder: &Path, group: &Path) -> io::Result<Disk> {
        fs::create_dir_all(folder)?;
        let path = folder.to_string_lossy();
        let throttle = match self {
            Disks::Folders => None,
            Disks::Small => {
                let size = format!("size={SIZE}");
                run("mount", &["-t", "tmpfs", "-o", &size, "none", &path])?;
                None
            }
            Disks::Throttled => {
                fs::create_dir_all(group)?;
                let image = folder.with_extension("image");
                File::create(&image)?.set_len(SIZE)?;
                let image = image.to_string_lossy();
                // Without a journal the site's own process writes, so the limit applies.
                run("mkfs.ext2", &["-q", "-F", "-m", "0", &image])?;
                run("mount", &["-o", "loop,noatime", &image, &path])?;
                let device = fs::metadata(folder)?.dev();
                let (major, minor) = ((device >> 8) & 0xfff, device & 0xff);
                let throttle = (group.to_owned(), format!("{major}:{minor}"));
                limit(&throttle, 0)?;
                Some(throttle)
            }
        };
        Ok(Disk { folder: folder.to_owned(), throttle })
    }

    /// Unmounts a disk, and removes it.
    pub(crate) fn remove(self, disk: &Disk) -> io::Result<()> {
        if self != Disks::Folders {
            run("umount", &[&disk.folder.to_string_lossy()])?;
        }
        if self == Disks::Throttled {
            fs::remove_file(disk.folder.with_extension("image"))?;
        }
        fs::remove_dir_all(&disk.folder)
    }
}

impl Disk {
    /// The folder for the site's record.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The control group that the site must be in.
    pub(crate) fn group(&self) -> Option<PathBuf> {
        self.throttle.as_ref().map(|(group, _)| group.clone())
    }

    /// Makes it slow, or as fast as it is.
    pub(crate) fn slow(&self, slow: bool) -> io::Result<()> {
        self.throttle
            .as_ref()
            .map_or(Ok(()), |throttle| limit(throttle, if slow { SLOW } else { 0 }))
    }

    /// Fills it.
    pub(crate) fn fill(&self) -> io::Result<()> {
        let mut file = File::create(self.folder.join("filler"))?;
        let block = [0; 1 << 12];
        for _ in 0..=SIZE >> 12 {
            if file.write_all(&block).is_err() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Makes room again.
    pub(crate) fn empty(&self) -> io::Result<()> {
        match fs::remove_file(self.folder.join("filler")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Puts an empty folder in the place of the site's own. If the disk is full, nothing changes.
    pub(crate) fn wipe(&self) -> io::Result<()> {
        if self.kept().exists() {
            return Ok(());
        }
        let empty = self.folder.join("empty");
        fs::create_dir(&empty)?;
        fs::rename(self.data(), self.kept())?;
        fs::rename(empty, self.data())
    }

    /// Puts the site's own folder back, untouched. False if it was not wiped.
    pub(crate) fn unwipe(&self) -> io::Result<bool> {
        if !self.kept().exists() {
            return Ok(false);
        }
        fs::remove_dir_all(self.data())?;
        fs::rename(self.kept(), self.data())?;
        Ok(true)
    }

    fn kept(&self) -> PathBuf {
        self.folder.join("kept")
    }
}

fn limit((group, device): &(PathBuf, String), writes: u32) -> io::Result<()> {
    fs::write(group.join(LIMIT), format!("{device} {writes}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_could_not_be_wiped_is_still_there() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Disk { folder: folder.path().to_owned(), throttle: None };
        fs::create_dir(disk.data()).unwrap();
        let record = disk.data().join("record");
        fs::write(&record, "births and lives").unwrap();
        let in_the_way = folder.path().join("empty");
        fs::write(&in_the_way, "no room").unwrap();
        disk.wipe().unwrap_err();
        assert!(record.exists(), "nothing has changed");
        assert!(!disk.unwipe().unwrap(), "it was not wiped");
        fs::remove_file(in_the_way).unwrap();
        disk.wipe().unwrap();
        assert!(!record.exists());
        assert!(disk.unwipe().unwrap() && record.exists());
    }
}
