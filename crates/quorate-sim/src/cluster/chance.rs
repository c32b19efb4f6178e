//! The random draws of clusters, beyond those of every run.

use crate::chance::Chance;

impl Chance {
    /// An index below this length, which is not 0.
    pub(in crate::cluster) fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("it is below a length")
    }

    /// True in so many cases of a hundred.
    pub(in crate::cluster) fn percent(&mut self, times: u64) -> bool {
        self.below(100) < times
    }

    /// One of these.
    pub(in crate::cluster) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.place(choices.len())]
    }

    /// The same, by reference.
    pub(in crate::cluster) fn pick<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.place(choices.len())]
    }

    /// A duration that is mostly short and sometimes long; the longer, the rarer.
    pub(in crate::cluster) fn about(&mut self, mean: u64) -> u64 {
        let mut time = self.below(2 * mean + 1);
        while self.below(8) == 0 {
            time += self.below(4 * mean + 1);
        }
        time
    }

    /// The duration of a fault: short, about a lease, or longer than several leases.
    pub(in crate::cluster) fn spell(&mut self, lease: u64) -> u64 {
        match self.below(3) {
            0 => self.below(lease / 2) + 1,
            1 => lease / 2 + self.below(lease),
            _ => lease + self.below(4 * lease),
        }
    }
}
