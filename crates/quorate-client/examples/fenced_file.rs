//! A file that refuses writes of a holder that has lost the lock, even if it does not know that.
//!
//! `quorate up` in one terminal, then `cargo run -p quorate-client --example fenced_file`.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

use quorate::{Cluster, Fence};

/// A file whose first line is the highest fence it has seen.
struct FencedFile(File);

impl FencedFile {
    fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        Ok(Self(options.read(true).write(true).create(true).truncate(false).open(path)?))
    }

    /// Writes `text`, unless a higher fence has been seen.
    fn write(&mut self, fence: Fence, text: &str) -> io::Result<()> {
        self.0.lock()?; // so that check and write are atomic
        let done = self.write_locked(fence, text);
        self.0.unlock()?;
        done
    }

    fn write_locked(&mut self, fence: Fence, text: &str) -> io::Result<()> {
        let mut before = String::new();
        self.0.rewind()?;
        self.0.read_to_string(&mut before)?;
        let highest = before.lines().next().and_then(|line| line.parse().ok()).unwrap_or(0);
        if fence.0 < highest {
            let why = format!("fence {fence} is too low: {highest} has written");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        self.0.rewind()?;
        self.0.set_len(0)?;
        writeln!(self.0, "{fence}\n{text}")?;
        self.0.sync_all()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7420".into());
    let cluster = Cluster::connect(address).await?;
    let guard = cluster.mutex("report")?.lock().await?;
    let path = std::env::temp_dir().join("quorate-example-report");
    FencedFile::open(&path)?.write(guard.fence(), "all is well")?;
    println!("wrote {} with fence {}", path.display(), guard.fence());
    guard.release().await?;
    Ok(())
}

#[test]
fn a_stale_holder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report");
    let (mut stale, mut next) =
        (FencedFile::open(&path).unwrap(), FencedFile::open(&path).unwrap());
    stale.write(Fence(3), "mine").unwrap();
    next.write(Fence(7), "mine now").unwrap();
    next.write(Fence(7), "and again").unwrap();
    let refused = stale.write(Fence(3), "still mine?").unwrap_err();
    assert_eq!(refused.to_string(), "fence 3 is too low: 7 has written");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "7\nand again\n");
}
