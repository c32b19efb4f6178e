//! The storage that locks protect: it refuses a fence below the highest it has seen.
//!
//! It runs in the torturer, outside all sites and clients, and is reached by a Unix socket: no
//! fault of the network touches it.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

/// The highest fence of each place.
type Fences = Arc<Mutex<BTreeMap<String, u64>>>;

/// Starts a storage that listens at `path` for as long as this process runs.
pub(crate) fn serve(path: &Path) -> io::Result<()> {
    let listener = UnixListener::bind(path)?;
    let fences = Fences::default();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let fences = Arc::clone(&fences);
            thread::spawn(move || answer(&stream, &fences));
        }
    });
    Ok(())
}

/// Answers writes until the other end is gone: `PLACE FENCE` with the highest fence seen.
fn answer(stream: &UnixStream, fences: &Fences) -> Option<()> {
    let mut writer = stream;
    for line in BufReader::new(stream).lines() {
        let line = line.ok()?;
        let (place, fence) = line.split_once(' ')?;
        let highest = raise(fences, place, fence.parse().ok()?);
        writer.write_all(format!("{highest}\n").as_bytes()).ok()?;
    }
    Some(())
}

/// Notes a fence, and returns the highest; the write is refused if that is higher.
fn raise(fences: &Fences, place: &str, fence: u64) -> u64 {
    let mut fences = fences.lock().unwrap_or_else(PoisonError::into_inner);
    let highest = fences.entry(place.to_owned()).or_default();
    *highest = fence.max(*highest);
    *highest
}

/// A client's connection to the storage.
#[derive(Debug)]
pub(crate) struct Storage {
    stream: tokio::sync::Mutex<tokio::io::BufReader<tokio::net::UnixStream>>,
}

impl Storage {
    pub(crate) async fn connect(path: &Path) -> io::Result<Self> {
        let stream = tokio::net::UnixStream::connect(path).await?;
        Ok(Self { stream: tokio::sync::Mutex::new(tokio::io::BufReader::new(stream)) })
    }

    /// Writes to a place with this fence. Returns the highest fence that the place has seen: the
    /// write was refused if that is higher.
    pub(crate) async fn write(&self, place: &str, fence: u64) -> io::Result<u64> {
        let mut stream = self.stream.lock().await;
        stream.write_all(format!("{place} {fence}\n").as_bytes()).await?;
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        line.trim().parse().map_err(|_| io::Error::other("the storage is gone"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_keeps_the_highest_fence() {
        let fences = Fences::default();
        assert_eq!(raise(&fences, "a", 5), 5);
        assert_eq!(raise(&fences, "a", 4), 5);
        assert_eq!(raise(&fences, "b", 4), 4);
    }
}
