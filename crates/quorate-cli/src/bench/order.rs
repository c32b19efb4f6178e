//! What the bench tells its worker processes, and what they say back: a line of JSON each.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a worker is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Run a site, and be its caller.
    Site(SitePlan),
    /// Be a caller of the site at this address.
    Connect(String),
    /// Send a few bytes to each of these echoes and wait for all, again and again until then.
    Raw {
        /// Where the echoes are.
        echoes: Vec<String>,
        /// When to end.
        until: u64,
    },
    /// Claim and release locks for a while.
    Load(Load),
    /// Claim a lock, and say so once it is held. Nothing releases it but another order.
    Hold(String),
    /// Release what is held.
    Release,
}

/// A site of the cluster that is measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SitePlan {
    /// Its place, from 1.
    pub(super) site: usize,
    /// All addresses.
    pub(super) sites: Vec<String>,
    /// Where it keeps its record.
    pub(super) data: PathBuf,
    /// The length of a lease.
    pub(super) lease_ms: u64,
    /// Whether it has a thread of its own, or runs among its callers.
    pub(super) apart: bool,
}

/// What a caller claims.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Claimed {
    /// A mutex of this name.
    Mutex(String),
    /// So many units of a pool of this name and size.
    Units(String, u32, u32),
    /// A group lock of this name, with this group.
    Group(String, String),
    /// A group lock by token of this name, with this group.
    Token(String, String),
}

/// Callers that claim and release.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Load {
    /// What each of them claims.
    pub(super) claims: Vec<Claimed>,
    /// For how long they keep it.
    pub(super) keep_us: u64,
    /// How they pause before they ask again.
    pub(super) pauses: Option<Pauses>,
    /// When measuring begins; callers start at once.
    pub(super) from: u64,
    /// When callers stop.
    pub(super) to: u64,
}

/// How long a caller pauses between two claims: for another time after each, so that callers do not
/// march in step, and for the same times in every run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pauses {
    /// The longest; half of it is the mean.
    pub(super) most_us: u64,
    /// With which it begins.
    pub(super) turn: u64,
}

impl Iterator for Pauses {
    type Item = Duration;

    /// The fractional parts of k²φ are spread evenly, and so are any two that follow each other.
    fn next(&mut self) -> Option<Duration> {
        const PHI: u64 = 0x9e37_79b9_7f4a_7c15; // its fractional part, of 2^64
        self.turn += 1;
        let part = self.turn.wrapping_mul(self.turn).wrapping_mul(PHI) >> 32; // of 2^32
        Some(Duration::from_micros((self.most_us * part) >> 32))
    }
}

/// What a worker says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Report {
    /// It is there; its echo listens at this address.
    Hello(String),
    /// It has done what it was told.
    Done,
    /// How long each round took, in nanoseconds.
    Raw(Vec<u64>),
    /// What its callers saw.
    Load(Seen),
    /// It holds the lock since then.
    Held(u64),
    /// It cannot do what it was told.
    Failed(String),
}

/// What the callers of one process saw.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Seen {
    /// Every turn inside.
    pub(super) turns: Vec<Turn>,
    /// What the process took of the processors meanwhile, in nanoseconds.
    pub(super) cpu: u64,
    /// How many messages of protocols its site sent to others meanwhile, if it has one.
    pub(super) messages: u64,
}

/// One turn inside. Times are of the machine's clock, which all processes share.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Turn {
    /// The grant's number.
    pub(super) fence: u64,
    /// When it was asked for.
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
            Pauses { most_us: 40_000, turn: begin }
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
    fn after_a_long_pause_comes_a_short_one_as_often_as_a_long_one() {
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
