//! Weights of requests: how much of the cluster a quorum for h of k units may leave out.
//!
//! A threshold quorum passes over d = n - s sites. Such quorums have a common site, whichever they
//! are, just if together they pass over at most n - 1. A subspace of codimension z leaves out z
//! dimensions, and subspaces have a common point if together they leave out at most k + 1. Both are
//! a weight for each h and one limit for the sum over every critical pattern.

use crate::{PoolError, QuorumError, SiteId, SiteSet};

/// Above so many units the improved sizes are the uniform ones.
pub(super) const UNITS_RAISED_MAX: usize = 64;

/// The sizes of the uniform (h,k)-arbiter, for 1 to `k` units. In integers: a product with the
/// fraction k/(k + h) is one short for some n.
pub(super) fn uniform(n: usize, k: usize) -> Vec<usize> {
    (1..=k).map(|h| k * n / (k + h) + 1).collect()
}

/// The same, each size once: the lowest number of units that it is for, and the size. The work
/// grows with the number of sites, not with that of units.
pub(super) fn uniform_runs(n: usize, k: usize) -> Vec<(usize, usize)> {
    let (mut runs, mut h) = (Vec::new(), 1);
    while h <= k {
        let quotient = k * n / (k + h);
        runs.push((h, quotient + 1));
        // The largest h' with k n / (k + h') at least this quotient; if that is 0, all.
        h = (k * n).checked_div(quotient).map_or(k, |sum| sum - k) + 1;
    }
    runs
}

/// The uniform sizes, each made as small as the rule allows, those for the most units first.
pub(super) fn improved(n: usize, k: usize) -> Vec<usize> {
    let mut passed: Vec<_> = uniform(n, k).into_iter().map(|size| n - size).collect();
    raise(&mut passed, n - 1);
    passed.into_iter().map(|passed| n - passed).collect()
}

/// The codimensions of the cube (h,k)-arbiter, for 1 to `k` units. In integers: as a quotient of
/// fractions (15, 9) would give 5 instead of 6.
pub(super) fn codimensions(k: usize) -> Vec<usize> {
    (1..=k).map(|h| h * (k + 1) / (h + k)).collect()
}

/// The same, each made as large as the rule allows, those for the most units first.
pub(super) fn improved_codimensions(k: usize) -> Vec<usize> {
    let mut weights = codimensions(k);
    raise(&mut weights, k + 1);
    weights
}

/// Makes each weight as large as the limit allows, the last first.
fn raise(weights: &mut [usize], limit: usize) {
    if weights.len() > UNITS_RAISED_MAX {
        return;
    }
    for place in (0..weights.len()).rev() {
        // Two requests always have to meet, so none may weigh more than half of the limit.
        let (mut good, mut bad) = (weights[place], limit / 2 + 1);
        while good + 1 < bad {
            weights[place] = usize::midpoint(good, bad);
            let fits = too_heavy(weights, limit).is_none();
            if fits { good = weights[place] } else { bad = weights[place] }
        }
        weights[place] = good;
    }
}

/// Refuses thresholds under which a critical pattern needs no common site, with quorums that have
/// none.
pub(super) fn check(n: usize, sizes: &[usize]) -> Result<(), QuorumError> {
    let passed: Vec<_> = sizes.iter().map(|size| n - size).collect();
    let Some(pattern) = too_heavy(&passed, n - 1) else { return Ok(()) };
    // Each quorum passes over the sites that follow those the one before it passes over.
    let mut next = 0;
    let quorums = pattern.into_iter().map(|h| {
        let from = next;
        next += passed[h - 1];
        let passed = |at: usize| (at + n - from % n) % n < next - from;
        (h, (0..n).filter(|at| !passed(*at)).map(SiteId::new).collect::<SiteSet>())
    });
    Err(PoolError::NoCommonSite { k: sizes.len(), quorums: quorums.collect() }.into())
}

/// A critical pattern whose weights add up to more than `limit`.
///
/// `best[sum]` is the heaviest bag of requests of at least `least` units that add up to `sum`, and
/// its last request. Such a bag is critical if k < sum ≤ k + least.
fn too_heavy(weights: &[usize], limit: usize) -> Option<Vec<usize>> {
    let k = weights.len();
    let mut best: Vec<Option<(usize, usize)>> = vec![None; 2 * k + 1];
    best[0] = Some((0, 0));
    for least in (1..=k).rev() {
        for sum in least..=2 * k {
            if let Some((before, _)) = best[sum - least] {
                best[sum] = best[sum].max(Some((before + weights[least - 1], least)));
            }
        }
        let heavy = |sum: &usize| best[*sum].is_some_and(|(weight, _)| weight > limit);
        if let Some(sum) = (k + 1..=k + least).find(heavy) {
            return Some(unwind(&best, sum));
        }
    }
    None
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
    fn runs_are_the_uniform_sizes_and_few() {
        for n in 1..20 {
            for k in (1..100).chain([1000, 1001, 65_536]) {
                let mut runs: Vec<(usize, usize)> = (1..).zip(uniform(n, k)).collect();
                runs.dedup_by_key(|(_, size)| *size);
                assert_eq!(uniform_runs(n, k), runs, "{n} sites, {k} units");
                assert!(runs.len() <= n);
            }
        }
    }

    fn heaviest_listed(weights: &[usize]) -> usize {
        let weight = |pattern: Vec<usize>| pattern.iter().map(|h| weights[h - 1]).sum();
        critical_patterns(weights.len()).map(weight).max().unwrap()
    }

    #[test]
    fn patterns_that_are_too_heavy_are_found() {
        for k in 1..=10 {
            for n in [1, 2, 5, 9, 16, 25, 100, 200] {
                for sizes in [uniform(n, k), improved(n, k), vec![n / 2 + 1; k]] {
                    let passed: Vec<_> = sizes.iter().map(|size| n - size).collect();
                    let most = heaviest_listed(&passed);
                    assert_eq!(too_heavy(&passed, most), None, "{n} sites, {k} units, {sizes:?}");
                    assert_eq!(check(n, &sizes).is_ok(), most < n);
                    let Some(limit) = most.checked_sub(1) else { continue };
                    let mut pattern = too_heavy(&passed, limit).expect("it is the heaviest");
                    assert_eq!(pattern.iter().map(|h| passed[h - 1]).sum::<usize>(), most);
                    pattern.sort_unstable_by(|a, b| b.cmp(a));
                    assert!(critical_patterns(k).any(|other| other == pattern), "{pattern:?}");
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
                    assert!(check(n, &less).is_err(), "{n} sites, {k} units, {less:?}");
                }
            }
        }
    }

    #[test]
    fn codimensions_are_those_of_the_table() {
        let table: [(&[usize], &[usize]); 5] = [
            (&[1], &[1]),
            (&[1, 1], &[1, 1]),
            (&[1, 1, 2], &[1, 2, 2]),
            (&[1, 1, 2, 2], &[1, 1, 2, 2]),
            (&[1, 1, 2, 2, 3], &[1, 1, 3, 3, 3]),
        ];
        for (k, (source, improved)) in (1..).zip(table) {
            assert_eq!(codimensions(k), source);
            assert_eq!(improved_codimensions(k), improved);
        }
        assert_eq!(too_heavy(&[1, 2, 2, 3, 3], 6), None, "the other choice for 5 units");
        assert!(too_heavy(&[1, 2, 3, 3, 3], 6).is_some(), "both do not go together");
    }

    #[test]
    fn codimensions_fit_every_pattern() {
        for k in 1..=20 {
            for weights in [codimensions(k), improved_codimensions(k)] {
                assert!(heaviest_listed(&weights) <= k + 1, "{k}: {weights:?}");
                assert!(weights[0] >= 1, "{k}: {weights:?}");
            }
        }
        assert_eq!(codimensions(15)[8], 6, "5 in floating point");
    }
}
