//! The one random source of a run: same seed, same run.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded generator.
#[derive(Clone, Debug)]
pub(super) struct Chance(ChaCha8Rng);

impl Chance {
    /// The generator of a seed.
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).expect("a fraction of a u64 fits in one")
    }

    /// An index of a list of this length, which is not 0.
    pub(super) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("it is below a length")
    }

    /// Whether something happens that happens so many times in a hundred.
    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}
