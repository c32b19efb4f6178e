//! Thresholds, by enumeration where that ends and by the sum rule beyond.

use quorate_quorum::{Arbiters, PoolError, QuorumError, SiteId, SiteSet, check_arbiters};

use crate::tools::{list, sizes};

/// Rows of the size table of Manabe & Tajima's families: sites, then the uniform and the improved
/// sizes for pools of 1 to 5 units.
type Row = (usize, [(&'static [usize], &'static [usize]); 5]);

const TABLE: [Row; 6] = [
    (
        9,
        [
            (&[5], &[5]),
            (&[7, 5], &[7, 5]),
            (&[7, 6, 5], &[7, 5, 5]),
            (&[8, 7, 6, 5], &[8, 7, 5, 5]),
            (&[8, 7, 6, 6, 5], &[8, 7, 5, 5, 5]),
        ],
    ),
    (
        16,
        [
            (&[9], &[9]),
            (&[11, 9], &[11, 9]),
            (&[13, 10, 9], &[13, 9, 9]),
            (&[13, 11, 10, 9], &[13, 11, 9, 9]),
            (&[14, 12, 11, 9, 9], &[14, 12, 9, 9, 9]),
        ],
    ),
    (
        25,
        [
            (&[13], &[13]),
            (&[17, 13], &[17, 13]),
            (&[19, 16, 13], &[19, 13, 13]),
            (&[21, 17, 15, 13], &[21, 17, 13, 13]),
            (&[21, 18, 16, 14, 13], &[21, 18, 15, 13, 13]),
        ],
    ),
    (
        27,
        [
            (&[14], &[14]),
            (&[19, 14], &[19, 14]),
            (&[21, 17, 14], &[21, 14, 14]),
            (&[22, 19, 16, 14], &[22, 19, 14, 14]),
            (&[23, 20, 17, 16, 14], &[23, 20, 15, 14, 14]),
        ],
    ),
    (
        64,
        [
            (&[33], &[33]),
            (&[43, 33], &[43, 33]),
            (&[49, 39, 33], &[49, 33, 33]),
            (&[52, 43, 37, 33], &[52, 43, 33, 33]),
            (&[54, 46, 41, 36, 33], &[54, 46, 37, 33, 33]),
        ],
    ),
    (
        100,
        [
            (&[51], &[51]),
            (&[67, 51], &[67, 51]),
            (&[76, 61, 51], &[76, 51, 51]),
            (&[81, 67, 58, 51], &[81, 67, 51, 51]),
            (&[84, 72, 63, 56, 51], &[84, 72, 57, 51, 51]),
        ],
    ),
];

#[test]
fn sizes_are_those_of_the_table() {
    for (n, row) in TABLE {
        for (k, (uniform, improved)) in (1..).zip(row) {
            assert_eq!(sizes(&Arbiters::uniform(n, k).unwrap()), uniform, "{n} sites, {k} units");
            assert_eq!(sizes(&Arbiters::improved(n, k).unwrap()), improved, "{n} sites, {k} units");
        }
    }
}

#[test]
fn another_choice_favours_two_units() {
    assert!(Arbiters::thresholds(100, &[84, 69, 63, 51, 51]).is_ok());
    let both = Arbiters::thresholds(100, &[84, 69, 57, 51, 51]).unwrap_err();
    let QuorumError::Pool(PoolError::NoCommonSite { k: 5, quorums }) = both else {
        panic!("{both}")
    };
    let pattern: Vec<_> = quorums.iter().map(|(h, _)| *h).collect();
    assert_eq!(pattern, [2, 2, 3], "the pattern that keeps the two from going together");
}

/// Theorem 1's condition for every n up to 9 and k up to 3, and with one site less for some number
/// of units: thresholds are refused just if enumeration finds quorums without a common site.
#[test]
fn the_sum_rule_agrees_with_enumeration() {
    for n in 1..=9 {
        for k in 1..=3 {
            for family in [Arbiters::uniform, Arbiters::improved, Arbiters::plain] {
                let arbiters = family(n, k).unwrap();
                assert_eq!(check_arbiters(n, &list(&arbiters)), Ok(()), "{}", arbiters.name());
                for place in 0..k {
                    let mut less = sizes(&arbiters);
                    less[place] -= 1;
                    let sums = Arbiters::thresholds(n, &less);
                    let listed: Vec<_> = less.iter().map(|size| subsets(n, *size)).collect();
                    let enumerated = check_arbiters(n, &listed);
                    assert_eq!(sums.is_ok(), enumerated.is_ok(), "{n} sites, {less:?}");
                }
            }
        }
    }
}

/// All sets of `size` of `n` sites.
fn subsets(n: usize, size: usize) -> Vec<SiteSet> {
    let masks = (0..1_u32 << n).filter(|mask| mask.count_ones() as usize == size);
    masks.map(|mask| SiteId::all(n).filter(|s| mask >> s.index() & 1 == 1).collect()).collect()
}

#[test]
fn the_sum_rule_holds_up_to_200_sites_and_10_units() {
    for n in 1..=200 {
        for k in 1..=10 {
            for family in [Arbiters::uniform, Arbiters::improved, Arbiters::plain] {
                let sizes = sizes(&family(n, k).unwrap());
                assert!(Arbiters::thresholds(n, &sizes).is_ok(), "{n} sites, {sizes:?}");
                assert!(sizes.is_sorted_by(|a, b| a >= b), "{n} sites, {sizes:?}");
                assert_eq!(sizes[k - 1] == n / 2 + 1, sizes.iter().any(|s| *s == n / 2 + 1));
            }
        }
    }
}

#[test]
fn one_unit_is_a_majority() {
    for n in 1..=50 {
        let sizes = sizes(&Arbiters::uniform(n, 1).unwrap());
        assert_eq!(sizes, [n / 2 + 1]);
    }
}

/// With fractions of floating point the first of these would be one short.
#[test]
fn sizes_are_computed_in_integers() {
    let sizes = sizes(&Arbiters::uniform(22, 15).unwrap());
    assert_eq!(sizes[6], 15 * 22 / 22 + 1);
    assert_eq!(sizes[6], 16);
}

#[test]
fn large_requests_are_more_available() {
    let arbiters = Arbiters::improved(9, 3).unwrap();
    let live = |h: usize| arbiters.of(h).unwrap().availability(&[0.9; 9]).unwrap();
    assert!(live(1) < live(2));
    assert!((live(2) - live(3)).abs() < 1e-12);
    let resilience: Vec<_> = (1..=3).map(|h| arbiters.of(h).unwrap().resilience()).collect();
    assert_eq!(resilience, [Ok(2), Ok(4), Ok(4)]);
}

#[test]
fn many_units_are_no_obstacle() {
    for (k, smaller) in [(64, true), (65, false), (1_000, false)] {
        let [uniform, improved] =
            [Arbiters::uniform, Arbiters::improved].map(|family| sizes(&family(100, k).unwrap()));
        assert_eq!(improved != uniform, smaller, "{k} units");
        assert!(Arbiters::thresholds(100, &improved).is_ok(), "{k} units");
    }
}
