//! Cubes, projective spaces and rotations: the tables of their sizes, and their condition.

use quorate_quorum::{
    ArbiterKind, Arbiters, PoolError, QuorumError, SiteId, SiteSet, check_arbiters,
};

use crate::tools::{largest, list, sizes};

/// Sizes in full cubes of side 2, 3, 4 and 5 for pools of 1 to 5 units, with the paper's
/// coordinates.
const CUBES: [[&[usize]; 4]; 5] = [
    [&[3], &[5], &[7], &[9]],
    [&[7, 7], &[19, 19], &[37, 37], &[61, 61]],
    [&[15, 15, 8], &[65, 65, 21], &[175, 175, 40], &[369, 369, 65]],
    [&[31, 31, 19, 19], &[211, 211, 79, 79], &[781, 781, 205, 205], &[2101, 2101, 421, 421]],
    [&[63, 63, 43, 43, 20], &[665, 665, 281, 281, 81], &[3367, 3367, 991, 991, 208], &[]],
];

#[test]
fn full_cubes_have_the_sizes_of_the_table() {
    for (k, row) in (1..).zip(CUBES) {
        for (side, expected) in (2_usize..).zip(row) {
            let n = side.pow(k + 1);
            // Larger ones are checked by count below.
            if n > 256 || expected.is_empty() {
                continue;
            }
            let cube = Arbiters::cube(n, k as usize).unwrap();
            assert_eq!((sizes(&cube), largest(&cube)), (expected.to_vec(), expected.to_vec()));
            for h in 1..=k as usize {
                assert_eq!(cube.of(h).unwrap().quorums().count(), n, "one quorum for each tuple");
            }
        }
    }
}

/// The tuples of `dimensions` coordinates below `side` with `run` zeros in a row: by the length of
/// the zeros at the end, without listing them.
fn with_a_run(side: usize, dimensions: usize, run: usize) -> usize {
    let (mut without, mut with) = (vec![0; run], 0);
    without[0] = 1;
    for _ in 0..dimensions {
        with = with * side + without[run - 1];
        let broken = without.iter().sum::<usize>() * (side - 1);
        without.rotate_right(1);
        without[0] = broken;
    }
    with
}

#[test]
fn large_cubes_have_the_sizes_of_the_table() {
    for (k, row) in (1_usize..).zip(CUBES) {
        for (side, expected) in (2..).zip(row) {
            for (h, size) in (1..).zip(expected) {
                let run = h * (k + 1) / (h + k);
                assert_eq!(with_a_run(side, k + 1, run), *size, "side {side}, {h} of {k}");
            }
        }
    }
}

#[test]
fn improved_cubes_gain_where_coordinates_do() {
    let sizes_of = |k| sizes(&Arbiters::improved_cube(1_usize << (k + 1), k).unwrap());
    assert_eq!(sizes_of(3), [15, 8, 8], "the source has 15, 15, 8");
    assert_eq!(sizes_of(4), [31, 31, 19, 19]);
    assert_eq!(sizes_of(5), [63, 63, 20, 20, 20], "the source has 63, 63, 43, 43, 20");
}

/// A folded cube's quorums for `h` of `k` units: sizes, how many, and failures always survived;
/// 0 for a number that the table leaves out.
struct Folded {
    n: usize,
    k: usize,
    h: &'static [usize],
    sizes: (usize, usize),
    quorums: usize,
    survives: Option<usize>,
}

macro_rules! folded {
    ($($n:literal $k:literal $h:tt: $least:literal..$most:literal x $quorums:literal
       $(f $survives:literal)?;)*) => {
        &[$(Folded {
            n: $n, k: $k, h: &$h, sizes: ($least, $most), quorums: $quorums,
            survives: [$($survives)?].first().copied(),
        }),*]
    };
}

const FOLDED: &[Folded] = folded! {
    9 2 [1, 2]: 9..9 x 1 f 0;
    9 3 [1, 2]: 8..8 x 2 f 0;
    9 3 [3]: 6..6 x 8 f 1;
    9 4 [1, 2]: 9..9 x 1 f 0;
    9 4 [3, 4]: 8..8 x 2 f 0;
    9 5 [1, 2]: 9..9 x 1 f 0;
    9 5 [3, 4]: 9..9 x 1 f 0;
    9 5 [5]: 8..8 x 8 f 0;
    16 2 [1, 2]: 13..15 x 16 f 1;
    16 3 [1, 2]: 15..15 x 16 f 1;
    16 3 [3]: 8..8 x 16 f 2;
    16 4 [1, 2]: 16..16 x 1 f 0;
    16 4 [3, 4]: 11..11 x 16 f 1;
    16 5 [1, 2]: 16..16 x 1 f 0;
    16 5 [3, 4]: 16..16 x 1 f 0;
    16 5 [5]: 9..9 x 16 f 1;
    25 2 [1, 2]: 17..19 x 27 f 1;
    25 3 [1, 2]: 25..25 x 1 f 0;
    25 3 [3]: 14..16 x 43 f 1;
    25 4 [1, 2]: 24..24 x 18 f 0;
    25 4 [3, 4]: 16..18 x 32 f 1;
    25 5 [1, 2]: 25..25 x 1 f 0;
    25 5 [3, 4]: 22..24 x 0;
    25 5 [5]: 14..17 x 54 f 2;
    27 2 [1, 2]: 19..19 x 27 f 2;
    27 3 [1, 2]: 27..27 x 1 f 0;
    27 3 [3]: 11..11 x 27 f 2;
    27 4 [1, 2]: 26..26 x 22 f 0;
    27 4 [3, 4]: 16..19 x 32 f 1;
    27 5 [1, 2]: 27..27 x 1 f 0;
    27 5 [3, 4]: 24..25 x 0;
    27 5 [5]: 15..19 x 60 f 1;
    64 2 [1, 2]: 37..37 x 64;
    64 3 [1, 2]: 51..58 x 71 f 1;
    64 3 [3]: 19..21 x 81;
    64 4 [1, 2]: 64..64 x 1 f 0;
    64 4 [3, 4]: 48..56 x 215 f 1;
    64 5 [1, 2]: 63..63 x 64 f 1;
    64 5 [3, 4]: 43..43 x 64;
    64 5 [5]: 20..20 x 64;
    100 2 [1, 2]: 52..52 x 100;
    100 3 [1, 2]: 91..97 x 112 f 1;
    100 3 [3]: 35..39 x 256;
    100 4 [1, 2]: 98..99 x 55 f 0;
    100 4 [3, 4]: 55..69 x 243;
    100 5 [1, 2]: 100..100 x 1 f 0;
    100 5 [3, 4]: 97..99 x 0 f 0;
    100 5 [5]: 58..71 x 729;
};

#[test]
fn folded_cubes_are_those_of_the_table() {
    for row in FOLDED {
        let cube = Arbiters::cube(row.n, row.k).unwrap();
        for h in row.h {
            let family = cube.of(*h).unwrap();
            let name = format!("{}, h={h}", cube.name());
            assert_eq!((family.min_size(), family.max_size()), row.sizes, "{name}");
            if row.quorums > 0 {
                assert_eq!(family.quorums().count(), row.quorums, "{name}");
            }
            if let Some(survives) = row.survives {
                assert_eq!(family.resilience(), Ok(survives), "{name}");
            }
        }
    }
}

/// The paper calls families minimal because all quorums have one size. Folded ones are not: as
/// constructed, some equal or contain others.
#[test]
fn folding_makes_quorums_contain_others() {
    // n = 10, k = 1: rows and columns of a 4 × 4 square whose last 6 cells are sites 1 to 6 again.
    let member = |base: usize, cell: usize| cell % 4 == base % 4 || cell / 4 == base / 4;
    let quorum = |base: usize| -> SiteSet {
        (0..16).filter(|cell| member(base, *cell)).map(|cell| SiteId::new(cell % 10)).collect()
    };
    let all: Vec<_> = (0..16).map(quorum).collect();
    let strict = |a: &SiteSet, b: &SiteSet| a.is_subset(b) && a != b;
    assert!(all.iter().any(|a| all.iter().any(|b| strict(a, b))), "some contain others");
    let sizes: Vec<_> = all.iter().map(SiteSet::len).collect();
    assert!(sizes.iter().min() < sizes.iter().max(), "sizes differ");
    let minimal: Vec<_> = Arbiters::cube(10, 1).unwrap().of(1).unwrap().quorums().collect();
    assert_eq!(minimal.len(), 12);
    for a in &minimal {
        assert!(all.contains(a));
        assert_eq!(minimal.iter().filter(|b| a.is_subset(b)).count(), 1, "{a}");
    }
}

#[test]
fn a_full_cube_is_usually_smaller_than_a_folded_one() {
    let folded = Arbiters::cube(28, 2).unwrap();
    assert_eq!((sizes(&folded)[0], largest(&folded)[0]), (22, 25));
    let full = Arbiters::full_cube(28, 2).unwrap();
    assert_eq!((sizes(&full), largest(&full)), (vec![19, 19], vec![19, 19]));
    let idle = SiteId::new(27);
    assert!(list(&full).iter().flatten().all(|quorum| !quorum.contains(idle)), "without duty");
    assert!(full.of(1).unwrap().pick_for(idle, &SiteSet::full(28)).is_some(), "but served");
}

/// For one unit a cube beats the threshold only from so many sites on.
#[test]
fn cubes_need_many_sites_to_pay() {
    for (k, from) in [(2, 64), (3, 256), (4, 1024), (5, 4096)] {
        let threshold = |n: usize| k * n / (k + 1) + 1;
        let tuples = |side: usize| std::iter::repeat_n(side, k + 1).product::<usize>();
        assert_eq!(tuples(4), from);
        assert!(with_a_run(4, k + 1, 1) < threshold(from), "{k} units, {from} sites");
        assert!(with_a_run(3, k + 1, 1) >= threshold(tuples(3)), "{k} units, {} sites", tuples(3));
    }
}

#[test]
fn spaces_have_the_sizes_of_the_table() {
    let table: [(usize, usize, &[usize], &[usize]); 4] = [
        (15, 2, &[7, 7], &[11, 8]),
        (40, 2, &[13, 13], &[27, 21]),
        (31, 3, &[15, 7, 7], &[24, 19, 16]),
        (63, 4, &[31, 31, 15, 15], &[51, 43, 37, 32]),
    ];
    for (n, k, expected, uniform) in table {
        let space = Arbiters::space(n, k).unwrap();
        assert_eq!((&*sizes(&space), &*largest(&space)), (expected, expected), "{n} points");
        assert_eq!(sizes(&Arbiters::uniform(n, k).unwrap()), uniform);
    }
}

#[test]
fn a_space_of_one_unit_is_a_plane() {
    for (n, size) in [(7, 3), (13, 4), (21, 5), (31, 6), (57, 8), (73, 9), (91, 10)] {
        let lines = Arbiters::space(n, 1).unwrap();
        assert_eq!((sizes(&lines), largest(&lines)), (vec![size], vec![size]), "{n} points");
        assert_eq!(lines.of(1).unwrap().quorums().count(), n);
    }
}

#[test]
fn rotations_have_the_sizes_of_the_table() {
    let table: [(usize, usize, &[usize]); 10] = [
        (6, 2, &[4, 3]),
        (7, 2, &[5, 3]),
        (11, 2, &[6, 4]),
        (13, 2, &[7, 4]),
        (15, 2, &[7, 5]),
        (16, 2, &[8, 5]),
        (7, 3, &[6, 3, 3]),
        (10, 3, &[7, 4, 4]),
        (12, 3, &[9, 4, 4]),
        (13, 3, &[9, 5, 4]),
    ];
    for (n, k, expected) in table {
        let cyclic = Arbiters::cyclic(n, k).unwrap();
        assert_eq!(sizes(&cyclic), expected, "{n} sites, {k} units");
        assert_eq!(largest(&cyclic), expected, "all rotations are alike");
        let uniform = sizes(&Arbiters::uniform(n, k).unwrap());
        assert!(expected.iter().zip(&uniform).all(|(ours, theirs)| ours <= theirs));
        assert!(expected.iter().zip(&uniform).any(|(ours, theirs)| ours < theirs));
    }
}

#[test]
fn every_family_is_an_arbiter() {
    for kind in ArbiterKind::all() {
        for k in 1..=3 {
            for n in 1..=if k == 3 { 9 } else { 12 } {
                let arbiters = match kind.build(n, k) {
                    Err(QuorumError::Pool(PoolError::NoBlocks { .. })) => continue,
                    arbiters => arbiters.unwrap(),
                };
                assert_eq!((arbiters.n(), arbiters.k()), (n, k));
                assert_eq!(arbiters.name(), format!("{kind} arbiters of {n}, k={k}"));
                assert_eq!(check_arbiters(n, &list(&arbiters)), Ok(()), "{}", arbiters.name());
            }
        }
    }
    for (n, k) in [(16, 2), (13, 3)] {
        let cyclic = Arbiters::cyclic(n, k).unwrap();
        assert_eq!(check_arbiters(n, &list(&cyclic)), Ok(()), "{}", cyclic.name());
    }
}

#[test]
fn tables_of_spaces_and_cubes_are_arbiters() {
    for arbiters in [
        Arbiters::space(15, 2),
        Arbiters::space(40, 2),
        Arbiters::space(31, 3),
        Arbiters::space(20, 2),
        Arbiters::cube(16, 3),
        Arbiters::improved_cube(16, 3),
        Arbiters::cube(27, 2),
        Arbiters::cube(25, 2),
    ] {
        let arbiters = arbiters.unwrap();
        let met = check_arbiters(arbiters.n(), &list(&arbiters));
        assert_eq!(met, Ok(()), "{}", arbiters.name());
    }
}

/// For every live set and every number of units: a pick is a live quorum, and there is one whenever
/// there can be.
#[test]
fn picks_are_quorums_whoever_is_suspected() {
    let sets = |n: usize| {
        (0..1_u32 << n).map(move |mask| -> SiteSet {
            SiteId::all(n).filter(|site| mask >> site.index() & 1 == 1).collect()
        })
    };
    for kind in ArbiterKind::all() {
        for (n, k) in [(5, 1), (6, 2), (7, 3), (8, 2), (9, 3)] {
            let arbiters = kind.build(n, k).unwrap();
            for (h, quorums) in (1..).zip(list(&arbiters)) {
                let family = arbiters.of(h).unwrap();
                for (at, live) in sets(n).enumerate() {
                    let name = format!("{}, h={h}, {live}", arbiters.name());
                    let lives = quorums.iter().any(|quorum| quorum.is_subset(&live));
                    assert_eq!(family.is_quorum(&live), lives, "{name}");
                    let own = family.pick_for(SiteId::new(at % n), &live);
                    for picked in [family.pick(&live, &[]), own] {
                        let fine = |set: SiteSet| set.is_subset(&live) && family.is_quorum(&set);
                        assert_eq!(picked.map(fine), lives.then_some(true), "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_site_uses_a_quorum_with_itself_in_it() {
    for kind in ArbiterKind::all() {
        let arbiters = kind.build(13, 2).unwrap();
        for (h, quorums) in (1..).zip(list(&arbiters)) {
            for site in SiteId::all(13) {
                let own = arbiters.of(h).unwrap().pick_for(site, &SiteSet::full(13)).unwrap();
                let possible = quorums.iter().any(|quorum| quorum.contains(site));
                assert_eq!(own.contains(site), possible, "{}, h={h}", arbiters.name());
            }
        }
    }
}

/// One coordinate more than the rule allows, or one point less in a plane of a space, and requests
/// for too many units need not meet.
#[test]
fn the_rule_is_needed() {
    let cube = Arbiters::cube(16, 3).unwrap();
    let mut sets = list(&cube);
    sets[0] = sets[2].clone(); // two coordinates in a row for one unit of three
    let refused = check_arbiters(16, &sets).unwrap_err();
    let QuorumError::Pool(PoolError::NoCommonSite { k: 3, quorums }) = refused else {
        panic!("{refused}")
    };
    assert!(quorums.iter().map(|(h, _)| h).sum::<usize>() > 3);
    let common = quorums.iter().fold(SiteSet::full(16), |all, (_, set)| all.intersection(set));
    assert!(common.is_empty(), "{quorums:?}");

    let mut space = list(&Arbiters::space(15, 2).unwrap());
    let site = space[0][0].iter().next().unwrap();
    space[0][0].remove(site);
    assert!(matches!(
        check_arbiters(15, &space),
        Err(QuorumError::Pool(PoolError::NoCommonSite { .. }))
    ));
}

#[test]
fn names_are_read_and_written() {
    for kind in ArbiterKind::all() {
        assert_eq!(kind.to_string().parse(), Ok(*kind));
    }
    let error = "cubic".parse::<ArbiterKind>().unwrap_err().to_string();
    assert!(error.starts_with("no arbiters are called `cubic`; known: uniform, "), "{error}");
}

#[test]
fn what_cannot_be_built_says_why() {
    let cases = [
        (
            Arbiters::cyclic(17, 2),
            "no cyclic blocks for 17 sites and 2 units; known for k=2: 2 to 16 sites; \
             `space` and `improved` take others",
        ),
        (
            Arbiters::cyclic(9, 4),
            "no cyclic blocks for 9 sites and 4 units; known for k=1 to 3; \
             `space` and `improved` take others",
        ),
        (Arbiters::cube(5, 12), "a cube is computed only up to 4096 tuples of 13 coordinates"),
        (Arbiters::space(5, 11), "a projective space is computed only up to 4096 points"),
        (Arbiters::space(5, 1_000), "a projective space is computed only up to 4096 points"),
        (Arbiters::cube(0, 2), "a cluster needs at least 1 site"),
        (Arbiters::full_cube(3, 0), "a pool needs at least 1 unit"),
    ];
    for (arbiters, message) in cases {
        assert_eq!(arbiters.unwrap_err().to_string(), message);
    }
}
