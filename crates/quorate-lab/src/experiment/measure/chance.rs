//! Pseudo-random numbers for choices that a plan leaves open.

/// A splitmix64 generator. The simulator's `ChaCha8` would draw other numbers, and so change all
/// measured figures.
#[derive(Clone, Debug)]
pub(in crate::experiment) struct Chance(pub(in crate::experiment) u64);

impl Chance {
    /// A number below `n`.
    pub(in crate::experiment) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ mixed >> 31) % n as u64).expect("below a number of that size")
    }
}
