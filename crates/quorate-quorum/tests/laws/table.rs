//! The check values of the catalogue.

use quorate_quorum::{Kind, build};

use crate::tools::is_non_dominated;

struct Row {
    kind: &'static str,
    n: usize,
    quorums: usize,
    sizes: (usize, usize),
    resilience: usize,
    load: f64,
    /// The probability of no live quorum when sites fail with probability 0.1, and 0.3.
    fails: (f64, f64),
    non_dominated: bool,
}

macro_rules! row {
    ($kind:literal $n:literal: $quorums:literal of $least:literal..$most:literal,
     $resilience:literal, $load:literal, $rare:literal, $often:literal, $nd:literal) => {
        Row {
            kind: $kind,
            n: $n,
            quorums: $quorums,
            sizes: ($least, $most),
            resilience: $resilience,
            load: $load,
            fails: ($rare, $often),
            non_dominated: $nd,
        }
    };
}

const TABLE: [Row; 22] = [
    row!("majority" 3: 3 of 2..2, 1, 0.667, 0.02800, 0.21600, true),
    row!("majority" 5: 10 of 3..3, 2, 0.6, 0.00856, 0.16308, true),
    row!("majority" 7: 35 of 4..4, 3, 0.571, 0.00273, 0.12604, true),
    row!("majority" 9: 126 of 5..5, 4, 0.556, 0.00089, 0.09881, true),
    row!("majority" 4: 4 of 3..3, 1, 0.75, 0.05230, 0.34830, false),
    row!("majority" 8: 56 of 5..5, 3, 0.625, 0.00502, 0.19410, false),
    row!("grid" 9: 9 of 5..5, 2, 0.556, 0.03331, 0.41056, false),
    row!("grid" 16: 16 of 7..7, 3, 0.4375, 0.02489, 0.48944, false),
    row!("cover" 9: 27 of 5..5, 2, 0.556, 0.02268, 0.32888, false),
    row!("plane" 7: 7 of 3..3, 2, 0.429, 0.00681, 0.15197, true),
    row!("plane" 13: 13 of 4..4, 3, 0.308, 0.00142, 0.11177, false),
    row!("tree" 3: 3 of 2..2, 1, 0.667, 0.02800, 0.21600, true),
    row!("tree" 7: 15 of 3..4, 2, 0.5, 0.00623, 0.14826, true),
    row!("tree" 15: 255 of 4..8, 3, 0.4, 0.00128, 0.09775, true),
    row!("hqc" 9: 27 of 4..4, 3, 0.444, 0.00231, 0.11981, true),
    row!("wall:1,2,3" 6: 10 of 3..3, 2, 0.5, 0.00856, 0.16308, true),
    row!("wall:1,2,3,4" 10: 41 of 4..4, 3, 0.4, 0.00304, 0.13070, true),
    row!("wall:1,2,3,3" 9: 31 of 3..4, 2, 0.4286, 0.00331, 0.12974, true),
    row!("wall:3,3,3" 9: 13 of 3..5, 2, 0.4737, 0.02103, 0.30477, false),
    row!("wheel" 7: 7 of 2..6, 1, 0.545, 0.04686, 0.26522, true),
    row!("grid-set" 12: 48 of 6..6, 3, 0.5, 0.00792, 0.27943, false),
    row!("rst" 12: 108 of 6..6, 3, 0.5, 0.00453, 0.20584, false),
];

#[test]
fn trees_of_other_sizes_are_right() {
    for (n, sizes, resilience, fails) in [(5, (2, 3), 1, 0.01504), (10, (3, 6), 2, 0.00464)] {
        let system = build(Kind::Tree, n).unwrap();
        assert_eq!((system.min_size(), system.max_size()), sizes, "tree of {n}");
        assert_eq!(system.resilience(), Ok(resilience), "tree of {n}");
        let told = 1.0 - system.availability(&vec![0.9; n]).unwrap();
        assert!((told - fails).abs() < 0.000_006, "tree of {n}: {told}");
    }
}

#[test]
fn trees_and_odd_votes_leave_no_tie() {
    for n in 1..=13 {
        for kind in [Kind::Tree, Kind::Weighted] {
            assert!(is_non_dominated(&*build(kind, n).unwrap()), "{kind} of {n}");
        }
    }
}

#[test]
fn the_catalogue_is_right() {
    for row in TABLE {
        let system = build(row.kind.parse().unwrap(), row.n).unwrap();
        let name = system.name();
        assert_eq!(system.quorums().count(), row.quorums, "{name}");
        assert_eq!((system.min_size(), system.max_size()), row.sizes, "{name}");
        assert_eq!(system.resilience(), Ok(row.resilience), "{name}");
        let load = system.load_bounds();
        assert!((load.lower - row.load).abs() < 0.0006, "{name}: {load:?}");
        assert!((load.upper - row.load).abs() < 0.0006, "{name}: {load:?}");
        for (down, fails) in [(0.1, row.fails.0), (0.3, row.fails.1)] {
            let told = 1.0 - system.availability(&vec![1.0 - down; row.n]).unwrap();
            assert!((told - fails).abs() < 0.000_006, "{name}: {told} at {down}");
        }
        assert_eq!(is_non_dominated(&*system), row.non_dominated, "{name}");
    }
}

#[test]
fn other_figures_of_the_catalogue_are_right() {
    let fails = |kind: &str, n: usize| {
        let system = build(kind.parse().unwrap(), n).unwrap();
        1.0 - system.availability(&vec![0.9; n]).unwrap()
    };
    assert!((fails("wall:1,2,2,3,3", 11) - 0.0024).abs() < 0.00005, "a logarithmic wall");
    assert!((fails("cwlog", 11) - fails("wall:1,2,2,3,3", 11)).abs() < 1e-15);
    assert!((fails("weighted:2,1,1,1", 4) - 0.0280).abs() < 0.00005, "no tie for 4 sites");
    for depth in 2..=5_u32 {
        let n = 3_usize.pow(depth);
        let system = build(Kind::Hqc, n).unwrap();
        let size = 2_usize.pow(depth);
        assert_eq!((system.min_size(), system.max_size()), (size, size), "hqc of {n}");
        assert_eq!(system.resilience(), Ok(size - 1), "hqc of {n}");
        let load = (2.0_f64 / 3.0).powi(i32::try_from(depth).unwrap());
        assert!((system.load_bounds().upper - load).abs() < 1e-9, "hqc of {n}");
        assert!((system.load_bounds().lower - load).abs() < 1e-9, "hqc of {n}");
    }
    for rows in 2..=20_usize {
        let n = rows * (rows + 1) / 2;
        let system = build(Kind::Triangle, n).unwrap();
        assert_eq!((system.min_size(), system.max_size()), (rows, rows), "triangle of {n}");
        let load = system.load_bounds().upper;
        assert!((load * f64::from(u32::try_from(rows + 1).unwrap()) - 2.0).abs() < 1e-9);
    }
}

/// Without ties: hierarchies and walls whose first row alone has one site.
#[test]
fn hierarchies_and_walls_leave_no_tie() {
    for n in 1..=14 {
        for kind in [Kind::Hqc, Kind::Triangle, Kind::CwLog, Kind::Wheel] {
            assert!(is_non_dominated(&*build(kind, n).unwrap()), "{kind} of {n}");
        }
    }
    for (widths, free) in [("1,3,2", true), ("2,2,3", false), ("1,2,1", true), ("3,1,2", true)] {
        let kind: Kind = format!("wall:{widths}").parse().unwrap();
        let n = widths.split(',').map(|width| width.parse::<usize>().unwrap()).sum();
        assert_eq!(is_non_dominated(&*build(kind, n).unwrap()), free, "wall of {widths}");
    }
}
