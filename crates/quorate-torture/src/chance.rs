//! The only source of random numbers: one seed gives one schedule.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded generator.
#[derive(Clone, Debug)]
pub(crate) struct Chance(ChaCha8Rng);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `bound`, or 0 if there is none.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).expect("a machine word has 64 bits at most");
        usize::try_from(self.0.next_u64() % bound).expect("it is below a usize")
    }

    /// Whether something happens that happens so many times in a thousand.
    pub(crate) fn permille(&mut self, times: u32) -> bool {
        self.below(1000) < times as usize
    }

    /// One of `items`.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// All of `items`, in any order.
    pub(crate) fn shuffled<T: Clone>(&mut self, items: &[T]) -> Vec<T> {
        let mut items = items.to_vec();
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
        items
    }
}
