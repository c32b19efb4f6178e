//! A client that wants nothing but its own lock now and then, and how long it waits for it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::client::run;

/// How long the bystander pauses between two claims.
const PAUSE: Duration = Duration::from_millis(2);

/// A thread that takes and releases a lock of its own.
pub(crate) struct Bystander {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Waits>,
}

impl Bystander {
    /// Starts to take a lock again and again through the site at `address`.
    pub(crate) fn start(address: String) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        Self { stop, thread: thread::spawn(move || run(take_turns(address, stopped))) }
    }

    /// Stops, and returns how long it has waited.
    pub(crate) fn finish(self) -> Waits {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("a bystander reports its failures")
    }

    /// How long a bystander waits during `time`, if nothing else happens.
    pub(crate) fn alone(address: String, time: Duration) -> Waits {
        let bystander = Self::start(address);
        thread::sleep(time);
        bystander.finish()
    }
}

/// How long each claim of a bystander took.
pub(crate) struct Waits {
    microseconds: Histogram<u64>,
    failed: usize,
}

impl Waits {
    /// The median, in microseconds.
    pub(crate) fn median(&self) -> u64 {
        self.microseconds.value_at_quantile(0.5)
    }
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, ms) = (&self.microseconds, |us: u64| us as f64 / 1000.0);
        write!(
            f,
            "{} acquires, median {:.2} ms, p99 {:.2} ms, longest {:.1} ms, {} failed",
            all.len(),
            ms(self.median()),
            ms(all.value_at_quantile(0.99)),
            ms(all.max()),
            self.failed
        )
    }
}

async fn take_turns(address: String, stop: Arc<AtomicBool>) -> Waits {
    let cluster = quorate::Cluster::connect(address).await.expect("the site runs");
    let lock = cluster.mutex("bystander").expect("a valid name");
    let microseconds = Histogram::new(3).expect("three digits are allowed");
    let mut waits = Waits { microseconds, failed: 0 };
    while !stop.load(Ordering::Relaxed) {
        let start = Instant::now();
        match lock.lock().await {
            Ok(guard) => {
                let us = u64::try_from(start.elapsed().as_micros()).expect("it is short");
                waits.microseconds.record(us).expect("it grows");
                drop(guard.release().await);
            }
            Err(_) => waits.failed += 1,
        }
        tokio::time::sleep(PAUSE).await;
    }
    waits
}
