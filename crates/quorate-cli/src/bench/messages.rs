//! The commands to the worker processes and their reports, each a line of JSON.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A command to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum WorkerCommand {
    /// Run a site, and call it.
    Site(SiteSettings),
    /// Connect to the site at this address.
    Connect(String),
    /// Send a few bytes to all of these echo servers and wait for all replies, repeatedly.
    Raw {
        /// The addresses of the echo servers.
        echoes: Vec<String>,
        /// When to stop.
        until: u64,
    },
    /// Claim and release locks for a while.
    Load(Load),
    /// Claim a lock, report when it is held, and hold it until [`Release`](Self::Release).
    Hold(String),
    /// Release the held lock.
    Release,
}

/// A site of the measured cluster.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SiteSettings {
    /// Its number, from 1.
    pub(super) site: usize,
    /// The addresses of all sites.
    pub(super) sites: Vec<String>,
    /// The directory for its durable state.
    pub(super) data: PathBuf,
    /// The protocol of pools.
    pub(super) pool: String,
    /// The length of a lease.
    pub(super) lease_ms: u64,
    /// Whether it runs in its own thread, or in the runtime of its callers.
    pub(super) own_thread: bool,
}

/// What a caller claims.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum ClaimTarget {
    /// The mutex of this name.
    Mutex(String),
    /// Units of the pool of this name: how many, and the size of the pool.
    Units(String, u32, u32),
    /// The group lock of this name, with this group.
    Group(String, String),
    /// The group lock by token of this name, with this group.
    Token(String, String),
}

/// Callers that repeatedly claim and release.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Load {
    /// What each caller claims.
    pub(super) claims: Vec<ClaimTarget>,
    /// How long a caller holds a grant.
    pub(super) hold_us: u64,
    /// The pauses of a caller between two claims.
    pub(super) pauses: Option<Pauses>,
    /// When measuring begins; callers start immediately.
    pub(super) from: u64,
    /// When callers stop.
    pub(super) to: u64,
}

/// The pauses of a caller between claims. They vary, so that callers do not run in lockstep, and
/// are the same in every run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pauses {
    /// The longest pause; the mean is half of it.
    pub(super) max_us: u64,
    /// The position in the sequence.
    pub(super) step: u64,
}

impl Iterator for Pauses {
    type Item = Duration;

    /// The fractional parts of k²φ are evenly distributed, and so are pairs of successive ones.
    fn next(&mut self) -> Option<Duration> {
        const PHI: u64 = 0x9e37_79b9_7f4a_7c15; // its fractional part, times 2^64
        self.step += 1;
        let part = self.step.wrapping_mul(self.step).wrapping_mul(PHI) >> 32; // times 2^32
        Some(Duration::from_micros((self.max_us * part) >> 32))
    }
}

/// A report of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum WorkerReport {
    /// It has started; its echo server listens at this address.
    Hello(String),
    /// It has carried out the command.
    Done,
    /// How long each round trip took, in nanoseconds.
    Raw(Vec<u64>),
    /// The measurements of its callers.
    Load(LoadResult),
    /// It has held the lock since this time.
    Held(u64),
    /// It could not carry out the command.
    Failed(String),
}

/// The measurements of the callers of one process.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LoadResult {
    /// One sample for each grant.
    pub(super) samples: Vec<Sample>,
    /// The CPU time of the process meanwhile, in nanoseconds.
    pub(super) cpu: u64,
    /// How many protocol messages its site sent to others meanwhile, if it runs a site.
    pub(super) messages: u64,
}

/// One grant. Times are of the machine's clock, which all processes share.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Sample {
    /// The fence of the grant.
    pub(super) fence: u64,
    /// When it was claimed.
    pub(super) asked: u64,
    /// When it was granted.
    pub(super) granted: u64,
    /// When it was released.
    pub(super) released: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenths(begin: u64, offset: usize) -> Vec<(u64, u64)> {
        let pauses = || {
            Pauses { max_us: 40_000, step: begin }
                .take(1000)
                .map(|pause| u64::try_from(pause.as_micros()).expect("it is short") / 4000)
        };
        pauses().zip(pauses().skip(offset)).collect()
    }

    #[test]
    fn pauses_are_spread_evenly_up_to_the_longest() {
        let tenths = tenths(0, 0);
        for tenth in 0..10 {
            let count = tenths.iter().filter(|(pause, _)| *pause == tenth).count();
            assert!((80..=120).contains(&count), "{count} of 1000 in tenth {tenth}");
        }
    }

    #[test]
    fn long_pauses_are_followed_by_short_and_long_ones_equally_often() {
        let after_long: Vec<u64> =
            tenths(0, 1).into_iter().filter(|(one, _)| *one >= 5).map(|(_, next)| next).collect();
        let short = after_long.iter().filter(|next| **next < 5).count();
        assert!((4..=6).contains(&(10 * short / after_long.len())), "{short}");
    }

    #[test]
    fn callers_pause_for_different_times() {
        let differ = tenths(0, 0).iter().zip(tenths(1000, 0)).filter(|(a, b)| a.0 != b.0).count();
        assert!(differ > 800, "{differ} of 1000");
    }
}
