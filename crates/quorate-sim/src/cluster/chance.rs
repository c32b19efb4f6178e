//! What clusters draw beyond what every run does.

use crate::chance::Chance;

impl Chance {
    /// A place in something of this length, which is not 0.
    pub(in crate::cluster) fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).expect("it is below a length")
    }

    /// Whether something happens that happens so many times in a hundred.
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

    /// A length of time that is mostly short and sometimes long: the longer the rarer.
    pub(in crate::cluster) fn about(&mut self, mean: u64) -> u64 {
        let mut time = self.below(2 * mean + 1);
        while self.below(8) == 0 {
            time += self.below(4 * mean + 1);
        }
        time
    }

    /// A length of a fault: short, as long as a lease, or longer than several.
    pub(in crate::cluster) fn spell(&mut self, lease: u64) -> u64 {
        match self.below(3) {
            0 => self.below(lease / 2) + 1,
            1 => lease / 2 + self.below(lease),
            _ => lease + self.below(4 * lease),
        }
    }
}
