//! A site whose file system is full: it says so, repeats nothing, and resumes when there is room.
//! The file system is real, a small `tmpfs`, which needs the right to mount one.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::cluster::{TestCluster, until};

/// A small file system, which is unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts one at `path`; `None` if that is not allowed here.
    fn mount(path: &Path) -> Option<Self> {
        fs::create_dir(path).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(path);
        let mounted = mount.output().is_ok_and(|done| done.status.success());
        mounted.then(|| Self(path.to_owned()))
    }

    fn ballast(&self) -> PathBuf {
        self.0.join("ballast")
    }

    /// Takes all the room that is left, and all that a file gives back, until it is told to stop.
    fn fill(&self) -> Filler {
        let stop = Arc::new(AtomicBool::new(false));
        let (path, stopped) = (self.ballast(), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            let mut file = File::options().create(true).append(true).open(&path).unwrap();
            while !stopped.load(Ordering::SeqCst) {
                if let Err(error) = file.write(&[1; 4096]) {
                    assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
                    thread::yield_now();
                }
            }
            fs::remove_file(&path).unwrap();
        });
        Filler { stop, thread }
    }
}

/// What keeps a disk full.
struct Filler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Filler {
    fn make_room(self) {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.join().unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg("--lazy").arg(&self.0).status().ok();
    }
}

/// Enters a group lock by token through site 1, which writes; the fence, if it is granted in time.
fn fence(sites: &TestCluster, name: &str, wait: &str) -> Option<u64> {
    let line = format!("lock {name} --group a --via token --wait {wait}");
    let done = sites.run(1, &line, &["--", "sh", "-c", "echo $QUORATE_FENCE"]);
    done.out.trim().parse().ok()
}

const FAILS: &str = "the disk cannot be written; the site tries again";
const WORKS: &str = "the disk can be written again";

/// Fills the disk, and makes site 1 write until it notices.
fn fill_until_noticed(sites: &TestCluster, disk: &SmallDisk, prefix: &str) -> Filler {
    let filler = disk.fill();
    let before = sites.logged(1, &[FAILS]).len();
    let mut names = 0;
    until("a write of site 1 does not fit", || {
        names += 1;
        fence(sites, &format!("{prefix}-{names}"), "300ms");
        sites.logged(1, &[FAILS]).len() > before
    });
    filler
}

#[test]
fn a_site_with_a_full_disk_repeats_nothing_and_resumes() {
    let mut sites = TestCluster::configure(3, |_, _| String::new(), Vec::new());
    let Some(disk) = SmallDisk::mount(&sites.file("data-1")) else {
        return eprintln!("skipped: it is not allowed to mount a tmpfs here");
    };
    (1..=3).for_each(|site| sites.restart(site));
    sites.wait_until_connected();
    let first = fence(&sites, "kept", "20s").expect("nothing is wrong yet");

    let filler = fill_until_noticed(&sites, &disk, "filler");
    let why = sites.wait_for_log(1, &[FAILS]);
    assert!(why.contains("No space left on device"), "{why}");
    // The file may have free pages of its own, so that a later write fits: then it says so first.
    let granted = fence(&sites, "unwritten", "2s");
    let works = sites.logged(1, &[WORKS]).len();
    assert!(granted.is_none() || works > 0, "granted before its record is on disk");
    let others = sites.run(2, "lock other --wait 20s -- echo inside", &[]);
    assert_eq!(others.out, "inside\n", "{}", others.err);

    filler.make_room();
    sites.wait_for_log(1, &[WORKS]);
    let second = fence(&sites, "kept", "20s").expect("there is room again");
    assert!(second > first, "{second} after {first}");

    // A site that is killed while its disk is full finds its last record, and is not refused.
    let filler = fill_until_noticed(&sites, &disk, "refill");
    sites.kill(1);
    filler.make_room();
    sites.restart(1);
    sites.wait_until_connected();
    let third = fence(&sites, "kept", "20s").expect("it has joined again");
    assert!(third > second, "{third} after {second}");
    assert!(sites.logged(2, &["its folder is older than before"]).is_empty());
}
