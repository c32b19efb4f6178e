//! `quorate sim random --site`: whole sites, faults, seeds.

use serde_json::json;

use crate::tools::{missing, quorate};

const KEYS: [&str; 16] = [
    "sites",
    "quorum",
    "faults",
    "runs",
    "seed",
    "violations",
    "claims",
    "grants",
    "denied",
    "lost",
    "broken",
    "packets",
    "faults_injected",
    "simulated_ns",
    "late_writes_refused",
    "gap_ns_max",
];

#[test]
fn clean_runs_exit_0_with_their_figures() {
    let done = quorate("sim random --site --faults all --runs 10");
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{}", done.out);
    for word in ["whole sites, faults: all", "seeds 1 to 10", "grants lost", "reboot", "held"] {
        assert!(done.out.contains(word), "`{word}` is not in: {}", done.out);
    }
}

#[test]
fn json_has_its_keys() {
    let json = quorate("sim random --site --faults crashes --sites 3 --runs 5 --json").json();
    assert!(missing(&json, &KEYS).is_empty(), "{json}");
    assert_eq!((&json["runs"], &json["violations"]), (&json!(5), &json!([])));
    assert_eq!(json["faults_injected"]["partition"], json!(0));
    assert!(json["faults_injected"]["crash"].as_u64().unwrap() > 0, "{json}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let line = "sim random --site --faults all --sites 3 --runs 12 --json";
    let one = quorate(&format!("{line} --threads 1"));
    assert_eq!(one, quorate(&format!("{line} --threads 2")));
    assert_ne!(one.out, quorate(&format!("{line} --seed 2")).out);
}

#[test]
fn a_failing_run_names_its_seed_and_replaying_shows_the_trace() {
    let done = quorate("sim random --site --faults all --sites 3 --runs 20 --option undo=E1");
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""), "{}", done.out);
    assert!(done.out.contains("broken: "), "{}", done.out);
    let replay = done.out.lines().find_map(|line| line.strip_prefix("replay: quorate ")).unwrap();
    let again = quorate(replay);
    assert_eq!((again.code, again.err.as_str()), (Some(1), ""));
    for word in ["claims lock-", "welcome to session 1", "enters lock-", "broken: "] {
        assert!(again.out.contains(word), "`{word}` is not in the trace");
    }
}
