//! Cyclic difference covers: the rotations of one block.

use crate::difference::{order_for, perfect, points};
use crate::price::{DEAD, nearest};
use crate::{Prices, QuorumError, QuorumSystem, Shape, SiteId, SiteSet, check_sites};

/// The rotations of one block of places in the circle of sites, such that any two meet.
///
/// They do if every number below n is a difference of two places of the block. All sites are alike,
/// each has its own rotation, and quorums are small for every n: as small as any block can be up
/// to 79 sites and where a [`Plane`](crate::Plane) has n points, and about √(1.5 n) otherwise.
///
/// ```
/// use quorate_quorum::{Cyclic, QuorumSystem, SiteId, SiteSet};
/// let system = Cyclic::new(10)?;
/// let own = system.pick_for(SiteId::new(2), &SiteSet::full(10)).expect("all are up");
/// assert_eq!(own.len(), 4);
/// assert!(own.contains(SiteId::new(2)));
/// # Ok::<(), quorate_quorum::QuorumError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cyclic {
    n: usize,
    /// The places of the block, with 0, in order.
    block: Vec<usize>,
}

impl Cyclic {
    /// The rotations of the smallest block known for `n` sites.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX).
    pub fn new(n: usize) -> Result<Self, QuorumError> {
        check_sites(n)?;
        Ok(Self { n, block: block(n) })
    }

    fn sites_of(&self, rotation: usize) -> impl Iterator<Item = SiteId> + '_ {
        self.block.iter().map(move |at| SiteId::new((at + rotation) % self.n))
    }

    /// The rotations that lie in `set`.
    fn inside<'a>(&'a self, set: &'a SiteSet) -> impl Iterator<Item = usize> + 'a {
        (0..self.n).filter(|at| self.sites_of(*at).all(|site| set.contains(site)))
    }
}

impl QuorumSystem for Cyclic {
    fn name(&self) -> String {
        format!("cyclic of {}", self.n)
    }

    fn n(&self) -> usize {
        self.n
    }

    fn is_quorum(&self, set: &SiteSet) -> bool {
        self.inside(set).next().is_some()
    }

    fn quorums(&self) -> Box<dyn Iterator<Item = SiteSet> + '_> {
        // One or two sites have only one quorum; all other blocks differ from their rotations.
        let rotations = if self.block.len() == self.n { 1 } else { self.n };
        Box::new((0..rotations).map(|at| self.sites_of(at).collect()))
    }

    fn min_size(&self) -> usize {
        self.block.len()
    }

    fn max_size(&self) -> usize {
        self.block.len()
    }

    fn cheapest(&self, prices: &Prices) -> Option<SiteSet> {
        let cost = |site| prices.of(site).unwrap_or(DEAD);
        // Twice around: the sites of rotation i are then the block from i on.
        let costs = SiteId::all(self.n).map(cost).collect::<Vec<_>>().repeat(2);
        let price = |rotation: usize| self.block.iter().map(|at| costs[at + rotation]).sum::<u64>();
        let (price, rotation) = (0..self.n).map(|rotation| (price(rotation), rotation)).min()?;
        (price < DEAD).then(|| self.sites_of(rotation).collect())
    }

    /// The block turned so that it starts at `site`.
    fn pick_for(&self, site: SiteId, live: &SiteSet) -> Option<SiteSet> {
        if site.index() >= self.n {
            return None;
        }
        nearest(self, site, self.sites_of(site.index()).collect(), live)
    }

    fn shape(&self) -> Shape {
        Shape::ring(SiteId::all(self.n))
    }
}

/// A block of places in a circle of `n` whose differences are all numbers below `n`.
fn block(n: usize) -> Vec<usize> {
    if let Some((_, block)) = SMALLER.iter().find(|row| row.0 == n) {
        return block.to_vec();
    }
    let order = order_for(n);
    if points(order) == n { perfect(order) } else { ruler(n) }
}

/// A block from the marks of Wichmann's ruler W(r, s) (1963), which measure every length up to
/// 4r(r + s + 2) + 3(s + 1); a circle needs only half its length (Colbourn & Ling 2000).
fn ruler(n: usize) -> Vec<usize> {
    let half = n / 2;
    let fitting = (0..=half.isqrt()).map(|r| {
        let missing = half.saturating_sub(4 * r * (r + 2) + 3);
        (r, missing.div_ceil(4 * r + 3))
    });
    let (r, s) = fitting.min_by_key(|(r, s)| 4 * r + s + 3).expect("r = 0 always fits");
    let repeat = std::iter::repeat_n::<usize>;
    let steps = repeat(1, r)
        .chain(repeat(r + 1, 1))
        .chain(repeat(2 * r + 1, r))
        .chain(repeat(4 * r + 3, s))
        .chain(repeat(2 * r + 2, r + 1))
        .chain(repeat(1, r));
    let marks = steps.scan(0, |mark, step| {
        *mark += step;
        Some(*mark % n)
    });
    let mut block: Vec<_> = std::iter::once(0).chain(marks).collect();
    block.sort_unstable();
    block.dedup(); // the shortest ruler is longer than a circle of one or two
    block
}

/// Where exhaustive search finds a smaller block than the ruler's, and no plane has `n` points.
const SMALLER: [(usize, &[usize]); 28] = [
    (26, &[0, 1, 2, 5, 9, 15]),
    (27, &[0, 1, 2, 5, 13, 22]),
    (28, &[0, 1, 4, 15, 20, 22]),
    (32, &[0, 1, 2, 3, 7, 11, 19]),
    (33, &[0, 1, 2, 3, 6, 16, 27]),
    (34, &[0, 1, 2, 3, 7, 12, 20]),
    (35, &[0, 1, 2, 3, 8, 12, 21]),
    (36, &[0, 1, 2, 5, 12, 14, 20]),
    (37, &[0, 1, 2, 4, 10, 15, 22]),
    (39, &[0, 1, 2, 4, 13, 18, 33]),
    (46, &[0, 1, 2, 3, 6, 18, 25, 38]),
    (47, &[0, 1, 2, 3, 5, 16, 22, 40]),
    (48, &[0, 1, 2, 5, 9, 20, 26, 36]),
    (49, &[0, 1, 2, 5, 24, 33, 36, 44]),
    (50, &[0, 1, 3, 8, 17, 28, 32, 38]),
    (51, &[0, 1, 2, 5, 11, 18, 30, 38]),
    (60, &[0, 1, 2, 4, 9, 15, 25, 30, 42]),
    (61, &[0, 1, 2, 3, 7, 15, 25, 36, 45]),
    (62, &[0, 1, 2, 4, 10, 32, 39, 46, 51]),
    (63, &[0, 1, 2, 6, 8, 20, 38, 41, 54]),
    (64, &[0, 1, 2, 5, 14, 16, 34, 42, 59]),
    (65, &[0, 1, 2, 6, 10, 28, 35, 51, 54]),
    (74, &[0, 1, 2, 3, 7, 28, 30, 43, 57, 65]),
    (75, &[0, 1, 2, 5, 8, 18, 30, 32, 41, 56]),
    (76, &[0, 1, 2, 6, 9, 25, 35, 46, 58, 63]),
    (77, &[0, 1, 2, 4, 10, 15, 37, 49, 56, 61]),
    (78, &[0, 1, 2, 7, 13, 16, 33, 51, 55, 70]),
    (79, &[0, 1, 2, 6, 13, 28, 31, 47, 48, 71]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(block: &[usize], n: usize) -> bool {
        let mut covered = vec![false; n];
        for a in block {
            for b in block {
                covered[(n + a - b) % n] = true;
            }
        }
        covered.into_iter().all(|covered| covered)
    }

    #[test]
    fn every_difference_occurs() {
        for n in (1..=1_500).chain([4_999, 5_000, 10_000, 65_536]) {
            let block = block(n);
            assert!(block.contains(&0), "{n}");
            assert!(block.is_sorted_by(|a, b| a < b), "{n}: {block:?}");
            assert!(block.iter().all(|at| *at < n), "{n}: {block:?}");
            assert!(covers(&block, n), "{n}: {block:?}");
            assert!(covers(&ruler(n), n), "the ruler of {n}");
        }
    }

    #[test]
    fn no_rotation_equals_another() {
        for n in 3..=1_500 {
            let block = block(n);
            let turned = |by: usize| {
                let mut turned: Vec<_> = block.iter().map(|at| (at + by) % n).collect();
                turned.sort_unstable();
                turned
            };
            let same = (1..n).find(|by| n.is_multiple_of(*by) && turned(*by) == block);
            assert_eq!(same, None, "{n}");
        }
    }

    #[test]
    fn sizes_are_those_of_the_catalogue() {
        let runs = [
            (3..=3, 2),
            (4..=7, 3),
            (8..=13, 4),
            (14..=19, 5),
            (20..=20, 6),
            (21..=21, 5),
            (22..=28, 6),
            (29..=30, 7),
            (31..=31, 6),
        ];
        for (sizes, least) in runs {
            for n in sizes {
                assert_eq!(block(n).len(), least, "{n}");
            }
        }
    }

    /// Whether `more` larger places complete this block.
    fn completes(n: usize, block: &mut Vec<usize>, more: usize) -> bool {
        let mut covered = 1_u64;
        for (at, a) in block.iter().enumerate() {
            for b in &block[..at] {
                covered |= 1 << (a - b).min(n - (a - b));
            }
        }
        // Distances up to half the circle are needed; a new place adds one to each old one.
        let missing = n / 2 + 1 - covered.count_ones() as usize;
        let possible: usize = (block.len()..block.len() + more).sum();
        if missing == 0 || possible < missing {
            return missing == 0;
        }
        for next in block[block.len() - 1] + 1..n {
            block.push(next);
            let found = completes(n, block, more - 1);
            block.pop();
            if found {
                return true;
            }
        }
        false
    }

    #[test]
    fn no_smaller_block_exists() {
        for n in 4..=45 {
            // Some two places differ by 1; turn the block so that they are 0 and 1.
            let smaller = block(n).len() - 1;
            assert!(!completes(n, &mut vec![0, 1], smaller - 2), "{n}: {smaller} are enough");
            assert!(completes(n, &mut vec![0, 1], smaller - 1), "{n}: the search is right");
        }
    }

    #[test]
    fn the_textbook_cover_is_never_smaller() {
        // {0 .. m-1} and the multiples of m, with m the root of n rounded up.
        for n in 2_usize..=2_000 {
            let m = (n - 1).isqrt() + 1;
            assert!(block(n).len() <= m + (n - 1) / m, "{n}");
        }
    }
}
