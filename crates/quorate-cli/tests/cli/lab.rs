//! `quorate lab`: experiments, for people and machines.

use crate::tools::quorate;

const KEYS: [&str; 7] = ["name", "claim", "condition", "measured", "unit", "verdict", "note"];

#[test]
fn the_list_names_experiments_and_baselines() {
    let done = quorate("lab list");
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    for name in ["errata", "table1", "handover", "maekawa", "joung"] {
        assert!(done.out.contains(name), "{}", done.out);
    }
}

#[test]
fn every_row_has_its_claim_condition_and_verdict() {
    let done = quorate("lab run handover --quick --json");
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    let rows = done.json_lines();
    for row in &rows {
        assert!(KEYS.iter().all(|key| !row[key].is_null()), "{row}");
        let even = row["condition"].as_str().is_some_and(|text| text.contains("constant"));
        assert!(!even || row["verdict"] == "holds", "{row}");
    }
    let csv = quorate("lab run handover --quick --csv").out;
    assert_eq!(csv.lines().next(), Some(KEYS.join(",").as_str()));
    assert_eq!(csv.lines().count(), 1 + rows.len());
    let text = quorate("lab run handover --quick").out;
    assert!(text.contains("maekawa E/T=0.01") && text.contains("measured with"), "{text}");
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let run = |seed| quorate(&format!("lab run table1 --quick --csv --seed {seed}")).out;
    let once = run(3);
    assert_eq!(once, run(3));
    assert_ne!(once, run(4));
    assert!(once.contains("maekawa N=9 delay,2T = 2,"), "{once}");
}

#[test]
fn what_is_no_experiment_is_refused() {
    quorate("lab run table2").refused(&["unknown experiment `table2`", "groups, handover"]);
    quorate("lab run table1 --json --csv").refused(&["--csv"]);
}
