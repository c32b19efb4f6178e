//! How many sites a threshold quorum for h of k units needs.
//!
//! A quorum of s sites passes over d = n - s. Quorums have a common site, whichever they are, just
//! if together they pass over at most n - 1: that is the sum rule below.

use crate::{QuorumError, SiteId, SiteSet};

/// Above so many units the improved sizes are the uniform ones.
const UNITS_IMPROVED_MAX: usize = 256;

/// The sizes of the uniform (h,k)-arbiter, for 1 to `k` units. In integers: the quotient of
/// fractions is one short for some n.
pub(super) fn uniform(n: usize, k: usize) -> Vec<usize> {
    (1..=k).map(|h| k * n / (k + h) + 1).collect()
}

/// The uniform sizes, each made as small as the rule allows, those for the most units first.
pub(super) fn improved(n: usize, k: usize) -> Vec<usize> {
    let mut sizes = uniform(n, k);
    if k > UNITS_IMPROVED_MAX {
        return sizes;
    }
    for place in (0..k).rev() {
        // Two quorums for the same units must meet, so none is below a majority.
        let (mut bad, mut good) = (n / 2, sizes[place]);
        while bad + 1 < good {
            sizes[place] = usize::midpoint(bad, good);
            if heaviest(n, &sizes).0 < n { good = sizes[place] } else { bad = sizes[place] }
        }
        sizes[place] = good;
    }
    sizes
}

/// Refuses thresholds under which a critical pattern needs no common site, with quorums that have
/// none.
pub(super) fn check(n: usize, sizes: &[usize]) -> Result<(), QuorumError> {
    let (passed, pattern) = heaviest(n, sizes);
    if passed < n {
        return Ok(());
    }
    // Each quorum passes over the sites that follow those the one before it passes over.
    let mut next = 0;
    let quorums = pattern.into_iter().map(|h| {
        let from = next;
        next += n - sizes[h - 1];
        let passed = |at: usize| (at + n - from % n) % n < next - from;
        (h, (0..n).filter(|at| !passed(*at)).map(SiteId::new).collect::<SiteSet>())
    });
    Err(QuorumError::NoCommonSite { k: sizes.len(), quorums: quorums.collect() })
}

/// The most sites that the quorums of a critical pattern can pass over, and that pattern.
///
/// `best[sum]` is the most for a bag of requests of at least `least` units that add up to `sum`,
/// and its last request. Such a bag is critical if k < sum ≤ k + least.
fn heaviest(n: usize, sizes: &[usize]) -> (usize, Vec<usize>) {
    let k = sizes.len();
    let mut best: Vec<Option<(usize, usize)>> = vec![None; 2 * k + 1];
    best[0] = Some((0, 0));
    let mut found = (0, Vec::new());
    for least in (1..=k).rev() {
        for sum in least..=2 * k {
            if let Some((before, _)) = best[sum - least] {
                best[sum] = best[sum].max(Some((before + n - sizes[least - 1], least)));
            }
        }
        for sum in k + 1..=k + least {
            if best[sum].is_some_and(|(passed, _)| passed > found.0) {
                found = (best[sum].map_or(0, |(passed, _)| passed), unwind(&best, sum));
            }
        }
    }
    found
}

/// The requests of the best bag with this sum.
fn unwind(best: &[Option<(usize, usize)>], mut sum: usize) -> Vec<usize> {
    let mut pattern = Vec::new();
    while sum > 0 {
        let (_, h) = best[sum].expect("the rest of a bag is a bag");
        pattern.push(h);
        sum -= h;
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critical_patterns;

    #[test]
    fn the_heaviest_pattern_is_found() {
        for k in 1..=10 {
            for n in [1, 2, 5, 9, 16, 25, 100, 200] {
                for sizes in [uniform(n, k), improved(n, k), vec![n / 2 + 1; k]] {
                    let passed = |h: &usize| n - sizes[h - 1];
                    let listed = critical_patterns(k).map(|p| p.iter().map(passed).sum()).max();
                    let (most, pattern) = heaviest(n, &sizes);
                    assert_eq!(Some(most), listed, "{n} sites, {k} units, {sizes:?}");
                    assert_eq!(pattern.iter().map(passed).sum::<usize>(), most);
                    assert_eq!(check(n, &sizes).is_ok(), most < n);
                }
            }
        }
    }

    #[test]
    fn improved_sizes_cannot_be_smaller() {
        for k in 1..=8 {
            for n in 1..=40 {
                let (from, sizes) = (uniform(n, k), improved(n, k));
                assert!(sizes.iter().zip(&from).all(|(size, from)| size <= from));
                for place in 0..k {
                    let mut less = sizes.clone();
                    less[place] -= 1;
                    assert!(heaviest(n, &less).0 >= n, "{n} sites, {k} units, {less:?}");
                }
            }
        }
    }
}
