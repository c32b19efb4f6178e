//! The history of a run: what every client believed, and what was done to the cluster.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::clock::{Clock, Time};
use crate::share::Share;

/// Something that happened, in true time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) at: Time,
    /// The process: `client-1.0` is the first life of the first client.
    pub(crate) who: String,
    #[serde(flatten)]
    pub(crate) what: What,
}

/// What happened. An `id` is unique in its process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub(crate) enum What {
    /// A client asks for a lock, and waits so long at most.
    Asks { id: u64, name: String, wait_ms: Option<u64> },
    /// It is granted. The client believes that it holds the lock until `until` at least.
    Granted { id: u64, name: String, share: Share, fence: u64, until: Time },
    /// The grant was extended.
    Valid { id: u64, until: Time },
    /// The holder wrote to the storage; `valid` if the grant was valid after the storage answered.
    Wrote { id: u64, place: String, fence: u64, highest: u64, valid: bool },
    /// The client learns that the grant is lost.
    Lost { id: u64, why: String },
    /// The holder begins to release, or stops believing that it holds the lock.
    Left { id: u64 },
    /// The claim was not granted. `late_ms` is how long after its deadline the answer came.
    Denied { id: u64, why: String, late_ms: u64 },
    /// The process is about to be killed, or has ended: it believes nothing from now on.
    Ended,
    /// A process is paused.
    Paused,
    /// It continues.
    Resumed,
    /// A fault begins. `name` is its kind, `text` describes it.
    Begins { fault: usize, name: String, text: String },
    /// A fault ends.
    Ends { fault: usize },
    /// All faults are over: everything works from now on.
    Healed { last: bool },
    /// A site ended by itself.
    Exited { status: String },
    /// A site with a foreign folder was refused, or not.
    Refused { refused: bool },
    /// Memory and descriptors of a site.
    Sampled { kilobytes: u64, descriptors: u64 },
    /// The machine woke the torturer so many milliseconds too late.
    Late { ms: u64 },
}

/// A file of events that is written as they happen.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    file: Arc<Mutex<BufWriter<File>>>,
    grants: Arc<AtomicUsize>,
}

impl Recorder {
    /// A recorder with a new file at `path`.
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        let file = BufWriter::new(File::create(path)?);
        Ok(Self { file: Arc::new(Mutex::new(file)), grants: Arc::default() })
    }

    /// Records an event of the torturer's own, with the present time.
    pub(crate) fn record(&self, who: &str, what: What) {
        let event = Event { at: Clock::of_machine().now(), who: who.to_owned(), what };
        self.record_line(&line(&event));
    }

    /// Records a line that a process printed.
    pub(crate) fn record_line(&self, line: &str) {
        if line.contains("\"granted\"") {
            self.grants.fetch_add(1, Ordering::Relaxed);
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = writeln!(file, "{line}") {
            eprintln!("the history cannot be written: {error}");
        }
    }

    /// How many grants were recorded.
    pub(crate) fn grants(&self) -> usize {
        self.grants.load(Ordering::Relaxed)
    }

    /// Writes out what is buffered.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// An event as a line.
pub(crate) fn line(event: &Event) -> String {
    serde_json::to_string(event).expect("events have keys that are strings")
}

/// Reads a history, in the order of time. A process that was killed may leave half a line, which is
/// left out; its number is returned too.
pub(crate) fn read(path: &Path) -> io::Result<(Vec<Event>, usize)> {
    let mut events: Vec<Event> = Vec::new();
    let mut broken = 0;
    for line in BufReader::new(File::open(path)?).lines() {
        match serde_json::from_str(&line?) {
            Ok(event) => events.push(event),
            Err(_) => broken += 1,
        }
    }
    events.sort_by_key(|event| event.at);
    Ok((events, broken))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_survives_its_line() {
        let share = Share::Units { count: 2, of: 4, numbers: [0, 3].into() };
        let name = "numbered".to_owned();
        let what = What::Granted { id: 7, name, share, fence: 9, until: 12 };
        let event = Event { at: 5, who: "client-1.0".into(), what };
        assert_eq!(serde_json::from_str::<Event>(&line(&event)).unwrap(), event);
    }
}
