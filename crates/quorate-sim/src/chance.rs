//! The one random source of the simulator, and what is drawn from it.
//!
//! Integers only: floating-point logarithms differ between machines, and one seed must give one
//! history everywhere, byte for byte.

use quorate_quorum::SiteId;
use quorate_session::{SPLITMIX_STEP, splitmix};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded generator.
#[derive(Debug)]
pub(crate) struct Chance(ChaCha8Rng);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number below `bound`, which is not 0; all are equally likely, up to one part in 2^32.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).expect("a fraction of a u64 fits in one")
    }

    /// An exponentially distributed number.
    ///
    /// Von Neumann's way, which only compares uniform numbers: a falling run of odd length keeps
    /// its first number as the fraction, and each run thrown away adds one to the whole part.
    pub(crate) fn exponential(&mut self, mean: u64) -> u64 {
        for whole in 0.. {
            let first = self.0.next_u64();
            let (mut last, mut length) = (first, 1);
            loop {
                let next = self.0.next_u64();
                if next >= last {
                    break;
                }
                (last, length) = (next, length + 1);
            }
            if length % 2 == 1 {
                let fraction = (u128::from(first) * u128::from(mean)) >> 64;
                return whole * mean + u64::try_from(fraction).expect("it is below the mean");
            }
        }
        unreachable!("a run of odd length comes with probability 1 - 1/e each time")
    }
}

/// A number for a channel that depends on nothing but the run's seed, so that ten thousand sites
/// need no table of a hundred million channels.
pub(crate) fn mix(seed: u64, from: SiteId, to: SiteId) -> u64 {
    let pair = ((from.index() as u64) << 32) | to.index() as u64;
    splitmix(seed ^ pair.wrapping_mul(SPLITMIX_STEP))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_numbers_have_their_mean_and_median() {
        let mut chance = Chance::new(1);
        let mut drawn: Vec<u64> = (0..100_000).map(|_| chance.exponential(1_000_000)).collect();
        drawn.sort_unstable();
        let mean = drawn.iter().sum::<u64>() / 100_000;
        assert!((990_000..1_010_000).contains(&mean), "{mean}");
        // ln 2 of the mean.
        assert!((683_000..703_000).contains(&drawn[50_000]), "{}", drawn[50_000]);
    }

    /// Known answers: a generator or an arithmetic that differed would rewrite every history.
    #[test]
    fn a_seed_gives_the_same_numbers_on_every_machine() {
        let mut chance = Chance::new(42);
        let drawn: Vec<u64> = (0..3).map(|_| chance.below(1_000)).collect();
        assert_eq!(drawn, [681, 950, 427]);
        let drawn: Vec<u64> = (0..3).map(|_| chance.exponential(1_000)).collect();
        assert_eq!(drawn, [627, 803, 901]);
        assert_eq!(mix(42, SiteId::new(3), SiteId::new(4)), 16_411_582_503_198_096_861);
    }
}
