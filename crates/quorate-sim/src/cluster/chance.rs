//! The one random source of a run, and what is drawn from it. Integers only.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded generator.
#[derive(Debug)]
pub(super) struct Chance(ChaCha8Rng);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).expect("a fraction of a u64 fits in one")
    }

    /// A place in something of this length, which is not 0.
    pub(super) fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("it is below a length")
    }

    /// Whether something happens that happens so many times in a hundred.
    pub(super) fn percent(&mut self, times: u64) -> bool {
        self.below(100) < times
    }

    /// One of these.
    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.place(choices.len())]
    }

    /// The same, by reference.
    pub(super) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.place(choices.len())]
    }

    /// A length of time that is mostly short and sometimes long: the longer the rarer.
    pub(super) fn about(&mut self, mean: u64) -> u64 {
        let mut time = self.below(2 * mean + 1);
        while self.below(8) == 0 {
            time += self.below(4 * mean + 1);
        }
        time
    }

    /// A length of a fault: short, as long as a lease, or longer than several.
    pub(super) fn spell(&mut self, lease: u64) -> u64 {
        match self.below(3) {
            0 => self.below(lease / 2) + 1,
            1 => lease / 2 + self.below(lease),
            _ => lease + self.below(4 * lease),
        }
    }
}
