//! Pseudo-random numbers for choices that a plan leaves open.

use quorate_protocol::{SPLITMIX_STEP, splitmix};

/// A `SplitMix64` generator. The simulator's `ChaCha8` would draw other numbers, and so change all
/// measured figures.
#[derive(Clone, Debug)]
pub(in crate::experiment) struct Chance(pub(in crate::experiment) u64);

impl Chance {
    /// A number below `n`.
    pub(in crate::experiment) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(SPLITMIX_STEP);
        usize::try_from(splitmix(self.0) % n as u64).expect("below a number of that size")
    }
}
