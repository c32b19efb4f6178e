//! Systems of two and more levels, for any number of sites.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::rows::shares;
use crate::{Composed, Grid, QuorumError, QuorumSystem, Threshold, Weighted, check_sites};

/// A system in the place of a site.
type Part = Arc<dyn QuorumSystem>;

/// Groups up to this size are not divided further.
const GROUP_MAX: usize = 5;

impl Composed {
    /// Hierarchical quorum consensus (Kumar 1991): most of three groups, in each most of three
    /// smaller ones, and so on down to groups of at most five sites.
    ///
    /// With 3^h sites a quorum has 2^h. Other n divide into nearly equal groups, of odd size
    /// but for one if n is even; that one ends in a group of four sites, of which the first has two
    /// votes. So no tie is possible for any n.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX).
    pub fn hierarchy(n: usize) -> Result<Self, QuorumError> {
        check_sites(n)?;
        Self::hierarchy_of(n, &mut BTreeMap::new())
    }

    /// The hierarchy of `n`, with equal parts built once.
    fn hierarchy_of(n: usize, built: &mut BTreeMap<usize, Part>) -> Result<Self, QuorumError> {
        if n <= GROUP_MAX {
            return Self::new("hqc", Arc::new(Threshold::majority(1)?), vec![group(n)?]);
        }
        let mut part = |n: usize| -> Result<Part, QuorumError> {
            if let Some(part) = built.get(&n) {
                return Ok(Arc::clone(part));
            }
            let part =
                if n <= GROUP_MAX { group(n)? } else { Arc::new(Self::hierarchy_of(n, built)?) };
            built.insert(n, Arc::clone(&part));
            Ok(part)
        };
        let parts = thirds(n).into_iter().map(&mut part).collect::<Result<_, _>>()?;
        Self::new("hqc", Arc::new(Threshold::majority(3)?), parts)
    }

    /// Grid-set: most of the groups, and in each of them a row and a column.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX), or there are not 1 to `n` groups.
    pub fn grid_set(n: usize, groups: usize) -> Result<Self, QuorumError> {
        check_sites(n)?;
        if groups == 0 || groups > n {
            return Err(QuorumError::BadGroups { n, groups });
        }
        let grids = shares(n, groups).map(|size| Ok(Arc::new(Grid::new(size)?) as _));
        let grids = grids.collect::<Result<_, QuorumError>>()?;
        Self::new("grid-set", Arc::new(Threshold::majority(groups)?), grids)
    }

    /// Groups of sites at the cells of a grid, and most of the sites in each group of a row and of
    /// a column (Rangarajan, Setia & Tripathi 1995). A failed site changes nothing while its group
    /// keeps a majority.
    ///
    /// Groups have `size` sites; the remaining ones are spread over them.
    ///
    /// # Errors
    ///
    /// `n` is 0 or above [`SITES_MAX`](crate::SITES_MAX), or groups do not have 1 to `n` sites.
    pub fn grid_of_groups(n: usize, size: usize) -> Result<Self, QuorumError> {
        check_sites(n)?;
        if size == 0 || size > n {
            return Err(QuorumError::BadGroups { n, groups: size });
        }
        let cells = shares(n, n / size).map(group).collect::<Result<_, _>>()?;
        Self::new("rst", Arc::new(Grid::new(n / size)?), cells)
    }
}

/// The majorities of a group; where they would allow ties, the first site has two votes.
fn group(n: usize) -> Result<Part, QuorumError> {
    if n.is_multiple_of(2) {
        return Ok(Arc::new(Weighted::without_ties(n)?));
    }
    Ok(Arc::new(Threshold::majority(n)?))
}

/// Three parts of `n`, the largest first: as equal as possible with at most one of even size, which
/// is not 2.
fn thirds(n: usize) -> [usize; 3] {
    let even = |part: &usize| part.is_multiple_of(2);
    let fits = |parts: &[usize; 3]| {
        parts.iter().filter(|part| even(part)).count() <= 1 && !parts.contains(&2)
    };
    let spread = |parts: &[usize; 3]| parts[0] - parts[2];
    // The most equal parts are near a third; four more is far enough for every n from 6 on.
    let third = n / 3;
    let parts = (third..=third + 4).flat_map(|most| {
        let rest = n - most.min(n - 2);
        let most = n - rest;
        (rest.div_ceil(2)..=most.min(rest - 1)).map(move |middle| [most, middle, rest - middle])
    });
    parts.filter(fits).min_by_key(spread).expect("from 6 sites on there are such parts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirds_are_odd_and_nearly_equal() {
        for n in 6..=5_000 {
            let [a, b, c] = thirds(n);
            assert_eq!(a + b + c, n);
            assert!(a >= b && b >= c && c >= 1 && a - c <= 3, "{n}: {a} {b} {c}");
            let even = [a, b, c].iter().filter(|part| part.is_multiple_of(2)).count();
            assert_eq!(even, usize::from(n.is_multiple_of(2)), "{n}: {a} {b} {c}");
        }
        assert_eq!([6, 7, 9, 10, 12, 27].map(thirds)[..3], [[4, 1, 1], [3, 3, 1], [3, 3, 3]]);
        assert_eq!([10, 12, 27].map(thirds), [[4, 3, 3], [5, 4, 3], [9, 9, 9]]);
    }
}
