//! The cube: sites are the tuples of k + 1 coordinates.

use crate::{QuorumError, SiteId, SiteSet};

/// The most tuples for which quorums are listed.
const TUPLES_MAX: usize = 1 << 12;

/// A cube with k + 1 coordinates below `side`.
pub(super) struct Cube {
    side: usize,
    dimensions: usize,
    tuples: usize,
}

impl Cube {
    /// The smallest cube for `k` units with at least `n` tuples.
    pub(super) fn around(n: usize, k: usize) -> Result<Self, QuorumError> {
        let enough = |cube: &Result<Self, _>| cube.as_ref().map_or(true, |cube| cube.tuples >= n);
        (1..=n).map(|side| Self::new(side, k + 1)).find(enough).expect("a side of n is enough")
    }

    /// The largest cube for `k` units with at most `n` tuples.
    pub(super) fn inside(n: usize, k: usize) -> Result<Self, QuorumError> {
        let fits = |cube: &Self| cube.tuples <= n;
        let cubes = (1..=n).map_while(|side| Self::new(side, k + 1).ok().filter(fits));
        cubes.last().ok_or_else(|| too_large(k + 1))
    }

    fn new(side: usize, dimensions: usize) -> Result<Self, QuorumError> {
        let power = u32::try_from(dimensions).ok().and_then(|power| side.checked_pow(power));
        match power.filter(|tuples| *tuples <= TUPLES_MAX) {
            Some(tuples) => Ok(Self { side, dimensions, tuples }),
            None => Err(too_large(dimensions)),
        }
    }

    /// How many sites it takes.
    pub(super) fn tuples(&self) -> usize {
        self.tuples
    }

    /// The quorum of each tuple: all tuples that agree with it on `run` coordinates in a row; where
    /// the cube is larger than the cluster, tuple i is played by site i mod `n`.
    pub(super) fn quorums(&self, run: usize, n: usize) -> Vec<SiteSet> {
        let members = |base: usize| (0..self.tuples).filter(move |x| self.longest(base, *x) >= run);
        let quorum = |base| members(base).map(|tuple| SiteId::new(tuple % n)).collect();
        (0..self.tuples).map(quorum).collect()
    }

    /// On how many coordinates in a row two tuples agree at most. The first coordinate is the
    /// lowest digit of a tuple's number.
    fn longest(&self, mut a: usize, mut b: usize) -> usize {
        let (mut longest, mut run) = (0, 0);
        for _ in 0..self.dimensions {
            run = if a % self.side == b % self.side { run + 1 } else { 0 };
            longest = longest.max(run);
            (a, b) = (a / self.side, b / self.side);
        }
        longest
    }
}

fn too_large(dimensions: usize) -> QuorumError {
    let limit = format!("up to {TUPLES_MAX} tuples of {dimensions} coordinates");
    QuorumError::TooLarge { what: "a cube", limit }
}
