//! `quorate lab`: experiments, for people and machines.

use quorate_laboratory::EXPERIMENTS;

use crate::json_lines;
use crate::tools::quorate;

const KEYS: [&str; 8] =
    ["experiment", "name", "claim", "condition", "measured", "unit", "verdict", "note"];

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
    let rows = json_lines(&done);
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
    assert!(once.contains("table1,maekawa N=9 delay,2T = 2,"), "{once}");
}

#[test]
fn several_experiments_are_made_one_after_the_other_each_once() {
    let done = quorate("lab run table1 handover table1 --quick");
    let titles = ["table1  Cao", "handover  Cao"].map(|title| done.out.find(title).unwrap());
    assert!(titles[0] < titles[1], "in the order asked for");
    let names = |line: &str| {
        let rows = json_lines(&quorate(line));
        let mut names: Vec<_> = rows.iter().map(|row| row["experiment"].to_string()).collect();
        names.dedup();
        names
    };
    let some = names("lab run table1 handover table1 --quick --json");
    assert_eq!(some, ["\"table1\"", "\"handover\""]);
}

#[test]
fn what_is_no_experiment_is_refused() {
    let known = EXPERIMENTS.map(|experiment| experiment.name).join(", ");
    let words = ["unknown experiment `table2`", &known, "or all"];
    quorate("lab run table2").refused(&words);
    quorate("lab run table1 table2").refused(&words);
    quorate("lab run").refused(&["EXPERIMENT"]);
    quorate("lab run table1 --json --csv").refused(&["--csv"]);
    quorate("lab run table1 --clock --html page.html").refused(&["--clock"]);
}
