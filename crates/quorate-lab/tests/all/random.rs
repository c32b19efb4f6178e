//! `quorate sim random`: figures, seeds, refusals.

use serde_json::json;

use crate::tools::{missing, quorate, quorate_with};

const KEYS: [&str; 16] = [
    "protocol",
    "sites",
    "quorum",
    "runs",
    "seed",
    "entries",
    "given_up",
    "violations",
    "unserved",
    "messages_per_entry",
    "messages_by_kind",
    "handover_mean_T",
    "handovers",
    "wait_mean_T",
    "elapsed_T",
    "options",
];

#[test]
fn clean_runs_exit_0_with_their_figures() {
    let done = quorate("sim random --runs 50");
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
    for word in ["mutex, 5 sites", "50 runs from seed 1", "entries", "(K - 1), K = 3", "hand-over"]
    {
        assert!(done.out.contains(word), "`{word}` is not in: {}", done.out);
    }
}

#[test]
fn json_has_its_keys() {
    let json = quorate("sim random --runs 20 --requests 2 --option lists=off --json").json();
    assert!(missing(&json, &KEYS).is_empty(), "{json}");
    assert_eq!((&json["runs"], &json["entries"]), (&json!(20), &json!(200)));
    assert_eq!((&json["unserved"], &json["violations"]), (&json!(0), &json!([])));
    assert_eq!(json["options"], json!({"lists": "off"}));
    assert_eq!(json["messages_by_kind"]["request"], json!(400));
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    for line in [
        "sim random --runs 60 --sites 7 --quorum plane --gives-up 2 --skew --json",
        "sim random --runs 60 --option undo=E4 --json",
    ] {
        let one = quorate(&format!("{line} --threads 1"));
        assert_eq!(one, quorate(&format!("{line} --threads 2")));
        assert_eq!(one, quorate(&format!("{line} --threads 1")));
        assert_ne!(one.out, quorate(&format!("{line} --seed 2")).out);
    }
}

#[test]
fn a_failing_run_names_its_seed_and_the_command_that_replays_it() {
    let done = quorate("sim random --option undo=E5 --runs 100 --delay uniform --think ..4");
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""), "{}", done.out);
    assert!(done.out.contains("broken: progress"), "{}", done.out);
    let replay = done.out.lines().find_map(|line| line.strip_prefix("replay: quorate ")).unwrap();
    let again = quorate(replay);
    assert_eq!(again.code, Some(1));
    assert!(again.out.contains("broken: progress"), "{}", again.out);

    let json = quorate("sim random --option undo=E5 --runs 100 --delay uniform --think ..4 --json");
    let violation = &json.json()["violations"][0];
    assert!(replay.contains(&format!("--seed {} ", violation["seed"])), "{replay}");
    assert!(violation["trace"].as_array().unwrap().len() > 10, "{violation}");
}

#[test]
fn panics_in_a_protocol_stay_off_the_terminal() {
    let done = quorate("sim random --option undo=E1 --runs 100");
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""), "{}", done.out);
    assert!(done.out.contains("broke an invariant"), "{}", done.out);
}

#[test]
fn times_are_fixed_or_anything_up_to_a_bound() {
    let json = quorate(
        "sim random --runs 1 --requests 1,0,0,0,0 --think 20 --inside 5 --delay constant --json",
    )
    .json();
    // 20 T to think, 2 T to get in, 5 T inside, 1 T for the release.
    assert_eq!((&json["elapsed_T"], &json["wait_mean_T"]), (&json!(28.0), &json!(2.0)));
    quorate("sim random --think soon").refused(&["--think", "..20"]);
}

#[test]
fn figures_of_nothing_are_null() {
    let json = quorate("sim random --runs 1 --requests 0 --json").json();
    assert_eq!((&json["entries"], &json["messages_per_entry"]), (&json!(0), &json!(null)));
}

#[test]
fn what_does_not_exist_is_refused_with_what_does() {
    quorate("sim random --protocol nosuch").refused(&["nosuch", "mutex"]);
    quorate("sim random --delay slow").refused(&["slow", "constant", "exponential"]);
    quorate("sim random --quorum nosuch").refused(&["nosuch", "majority"]);
    quorate("sim random --requests 1,2").refused(&["2 of 5 sites"]);
    quorate("sim random --nosuch").refused(&["--nosuch"]);
    quorate("sim random --runs 0").refused(&["--runs"]);
    quorate("sim random --seed 18446744073709551615").refused(&["--seed"]);
    quorate_with("sim random --claims", &["; group a"]).refused(&["--claims", "group a"]);
}

#[test]
fn flags_that_make_no_sense_together_are_refused() {
    quorate("sim random --faults all").refused(&["--faults all", "--site"]);
    quorate("sim random --site --budget lose=1").refused(&["--budget", "--faults"]);
    quorate("sim random --site --faults some").refused(&["some", "network", "crashes", "all"]);
    quorate("sim random --site --option undo=E99").refused(&["E99", "no-quarantine"]);
    for flag in ["--requests 2", "--skew", "--delay constant", "--think 3", "--gives-up 1"] {
        let name = flag.split(' ').next().unwrap();
        quorate(&format!("sim random --site {flag}")).refused(&[name, "the seed decides"]);
    }
    assert_eq!(quorate("sim random --faults none --runs 1").code, Some(0));
}

#[test]
fn faults_strike_within_a_budget_and_are_counted() {
    let line = "sim random --sites 3 --budget lose=5,silent=3,crash=2 --runs 50";
    let json = quorate(&format!("{line} --json")).json();
    assert!(missing(&json, &["budget", "faults", "lost", "crashed"]).is_empty(), "{json}");
    let budget = json!({"lose": 5, "silent": 3, "crash": 2, "duplicate": 0, "drop": 0, "early": 0,
        "cut": 0});
    assert_eq!(json["budget"], budget);
    assert_eq!((&json["faults"]["crash"], &json["unserved"]), (&json!(100), &json!(0)));
    assert!(quorate(line).out.contains("crash 100"), "{}", quorate(line).out);
    let one = quorate(&format!("{line} --json --threads 1"));
    assert_eq!(one, quorate(&format!("{line} --json --threads 2")));

    let json = quorate("sim random --budget crash=2 --no-restart --runs 20 --json").json();
    assert_eq!((&json["faults"]["crash"], &json["faults"]["restart"]), (&json!(40), &json!(null)));
    quorate("sim random --no-reopen").refused(&["--no-reopen", "--budget"]);
    quorate("sim random --budget fire=1").refused(&["fire", "lose, silent, crash"]);
}

#[test]
fn a_failing_run_with_faults_is_replayed() {
    let line = "sim random --sites 3 --budget lose=5 --no-restart --option undo=both-halves";
    let done = quorate(&format!("{line} --runs 200"));
    assert_eq!(done.code, Some(1), "{}", done.out);
    let replay = done.out.lines().find_map(|line| line.strip_prefix("replay: quorate ")).unwrap();
    assert!(replay.contains("--budget lose=5,silent=0,crash=0 --no-restart"), "{replay}");
    let again = quorate(replay);
    assert_eq!(again.code, Some(1));
    assert!(again.out.contains("loses its session at"), "{}", again.out);
}

#[test]
fn every_command_has_help_with_an_example() {
    let lines = "sim random,sim script,sim demo,check,lab run,lab list,quorum measure,\
        quorum compare,quorum check,quorum suggest,completions,man,";
    for line in lines.split(',') {
        let done = quorate(&format!("{line} --help"));
        assert_eq!(done.code, Some(0));
        assert!(done.out.contains("Example"), "{line}: {}", done.out);
    }
    assert!(quorate("--version").out.starts_with("quorate-lab "));
}
