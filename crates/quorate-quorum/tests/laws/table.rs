//! The check values of the catalogue.

use quorate_quorum::{Kind, build};

use crate::tools::is_non_dominated;

struct Row {
    kind: Kind,
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
    ($kind:ident $n:literal: $quorums:literal of $least:literal..$most:literal, $resilience:literal,
     $load:literal, $rare:literal, $often:literal, $nd:literal) => {
        Row {
            kind: Kind::$kind,
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

const TABLE: [Row; 13] = [
    row!(Majority 3: 3 of 2..2, 1, 0.667, 0.02800, 0.21600, true),
    row!(Majority 5: 10 of 3..3, 2, 0.6, 0.00856, 0.16308, true),
    row!(Majority 7: 35 of 4..4, 3, 0.571, 0.00273, 0.12604, true),
    row!(Majority 9: 126 of 5..5, 4, 0.556, 0.00089, 0.09881, true),
    row!(Majority 4: 4 of 3..3, 1, 0.75, 0.05230, 0.34830, false),
    row!(Majority 8: 56 of 5..5, 3, 0.625, 0.00502, 0.19410, false),
    row!(Grid 9: 9 of 5..5, 2, 0.556, 0.03331, 0.41056, false),
    row!(Grid 16: 16 of 7..7, 3, 0.4375, 0.02489, 0.48944, false),
    row!(Plane 7: 7 of 3..3, 2, 0.429, 0.00681, 0.15197, true),
    row!(Plane 13: 13 of 4..4, 3, 0.308, 0.00142, 0.11177, false),
    row!(Tree 3: 3 of 2..2, 1, 0.667, 0.02800, 0.21600, true),
    row!(Tree 7: 15 of 3..4, 2, 0.5, 0.00623, 0.14826, true),
    row!(Tree 15: 255 of 4..8, 3, 0.4, 0.00128, 0.09775, true),
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
        let system = build(row.kind, row.n).unwrap();
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
