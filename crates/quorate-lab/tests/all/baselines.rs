//! Baselines of the laboratory behind the commands that know our protocols.

use crate::tools::{quorate, quorate_with};

#[test]
fn a_baseline_is_checked_and_simulated_like_ours() {
    let done = quorate("check maekawa --sites 3 --json");
    assert_eq!((done.code, done.json()["complete"].as_bool()), (Some(0), Some(true)));
    let done = quorate("sim random --protocol raymond --sites 7 --runs 50 --json");
    assert_eq!((done.code, done.json()["unserved"].as_u64()), (Some(0), Some(0)));
    let done = quorate("check lamport --sites 2 --option undo=acks --json");
    assert_eq!(done.code, Some(1));
    assert_eq!(done.json()["violations"][0]["property"], "exclusion");
}

#[test]
fn a_needless_wait_is_an_error_on_request() {
    let claims = &["a; b; a b", "--option", "choice=last"];
    let line = "check joung --option blocking=off --claims";
    assert_eq!(quorate_with(line, claims).code, Some(0));
    let done = quorate_with("check joung --option blocking=on --json --claims", claims);
    assert_eq!(done.code, Some(1));
    assert_eq!(done.json()["violations"][0]["property"], "no blocking");
}

#[test]
fn what_its_paper_does_not_know_is_refused() {
    quorate("check maekawa --site").refused(&["--site", "maekawa", "leave it out"]);
    quorate("check maekawa --gives-up 1").refused(&["--gives-up", "leave it out"]);
    quorate("check raymond --quorum grid").refused(&["raymond asks no quorum"]);
    quorate("check lamport --option undo=x").refused(&["no rule `x`", "known: acks"]);
    quorate("check joung").refused(&["expected one or more"]);
    let random = "sim random --protocol maekawa";
    quorate(&format!("{random} --site")).refused(&["whole sites run no maekawa"]);
    quorate(&format!("{random} --budget lose=1")).refused(&["--budget", "knows no faults"]);
    quorate("check peterson").refused(&["unknown protocol", "mutex", "maekawa", "joung"]);
}
