//! Families of explicit quorums: cubes, projective spaces, rotations.

use std::sync::Arc;

use super::blocks::blocks;
use super::cube::Cube;
use super::space::Space;
use super::{Arbiters, check, sizes};
use crate::{Cyclic, Listed, QuorumError, QuorumSystem, SiteId, SiteSet};

impl Arbiters {
    /// The paper's cube: sites are tuples of k + 1 coordinates, and a quorum for h units are all
    /// that agree with one of them on h(k + 1) div (h + k) coordinates in a row.
    ///
    /// Where n is no power of that degree, the next larger cube is *folded*: tuple i is played by
    /// site i mod n. Quorums keep their common sites, but some become equal to others or contain
    /// them, and those are left out.
    ///
    /// # Errors
    ///
    /// There are no sites or no units, or too many of either to list the quorums.
    pub fn cube(n: usize, k: usize) -> Result<Self, QuorumError> {
        check(n, k)?;
        Self::of_cube("cube", n, &Cube::around(n, k)?, &sizes::codimensions(k))
    }

    /// The cube in which large requests agree on as many coordinates as possible.
    ///
    /// # Errors
    ///
    /// There are no sites or no units, or too many of either to list the quorums.
    pub fn improved_cube(n: usize, k: usize) -> Result<Self, QuorumError> {
        check(n, k)?;
        Self::of_cube("improved-cube", n, &Cube::around(n, k)?, &sizes::improved_codimensions(k))
    }

    /// The largest improved cube that is not folded: the last sites are in no quorum.
    ///
    /// # Errors
    ///
    /// There are no sites or no units, or too many of either to list the quorums.
    pub fn full_cube(n: usize, k: usize) -> Result<Self, QuorumError> {
        check(n, k)?;
        Self::of_cube("full-cube", n, &Cube::inside(n, k)?, &sizes::improved_codimensions(k))
    }

    /// The plain k-arbiter of the cube: the quorums for one unit serve every request.
    ///
    /// # Errors
    ///
    /// There are no sites or no units, or too many of either to list the quorums.
    pub fn plain_cube(n: usize, k: usize) -> Result<Self, QuorumError> {
        check(n, k)?;
        Self::of_cube("plain-cube", n, &Cube::around(n, k)?, &vec![1; k])
    }

    /// Sites are the points of a projective space of k + 1 dimensions, and quorums its subspaces:
    /// of as few dimensions as the improved cube's. Other n fold the next larger space.
    ///
    /// # Errors
    ///
    /// There are no sites or no units, or too many of either to list the quorums.
    pub fn space(n: usize, k: usize) -> Result<Self, QuorumError> {
        check(n, k)?;
        let space = Space::around(n, k)?;
        Self::of_weights("space", n, &sizes::improved_codimensions(k), |codimension| {
            space.subspaces(codimension, n)
        })
    }

    /// All rotations of one block of sites for each number of units: small, and the same for every
    /// site.
    ///
    /// # Errors
    ///
    /// There are no sites or no units, or no blocks are known for so many of them; the message says
    /// for which they are.
    pub fn cyclic(n: usize, k: usize) -> Result<Self, QuorumError> {
        check(n, k)?;
        if k == 1 {
            return Ok(Self::of_all("cyclic", vec![Arc::new(Cyclic::new(n)?)]));
        }
        let rotations = |block: &&[usize]| {
            let turned = |by: usize| block.iter().map(move |at| SiteId::new((at + by) % n));
            let sets: Vec<SiteSet> = (0..n).map(|by| turned(by).collect()).collect();
            Arc::new(Listed::spread(n, &sets)) as Arc<dyn QuorumSystem>
        };
        Ok(Self::of_all("cyclic", blocks(n, k)?.iter().map(rotations).collect()))
    }

    fn of_cube(
        name: &'static str,
        n: usize,
        cube: &Cube,
        runs: &[usize],
    ) -> Result<Self, QuorumError> {
        // A cube that does not fold leaves the sites beyond its tuples out.
        let sites = n.min(cube.tuples());
        Self::of_weights(name, n, runs, |run| Ok(cube.quorums(run, sites)))
    }

    /// The quorums that `list` gives for each weight; numbers of units of one weight share theirs.
    fn of_weights(
        name: &'static str,
        n: usize,
        weights: &[usize],
        list: impl Fn(usize) -> Result<Vec<SiteSet>, QuorumError>,
    ) -> Result<Self, QuorumError> {
        let mut of: Vec<Arc<dyn QuorumSystem>> = Vec::with_capacity(weights.len());
        for (place, weight) in weights.iter().enumerate() {
            let same = weights[..place].iter().position(|other| other == weight);
            of.push(match same {
                Some(same) => Arc::clone(&of[same]),
                None => Arc::new(Listed::spread(n, &list(*weight)?)),
            });
        }
        Ok(Self::of_all(name, of))
    }
}
