//! `quorate check`: verdicts, traces, refusals.

use serde_json::json;

use crate::tools::{file, missing, quorate, quorate_with};

const KEYS: [&str; 10] = [
    "protocol",
    "sites",
    "quorum",
    "requests",
    "options",
    "gives_up",
    "states",
    "depth",
    "complete",
    "violations",
];

/// Every site asks all sites.
const ALL_OF_THREE: &str = "quorum 1: 1 2 3\nquorum 2: 1 2 3\nquorum 3: 1 2 3\n";

#[test]
fn a_complete_search_names_every_property_and_exits_0() {
    let pool = quorate_with("check pool --claims", &["1 of 2; 2 of 2"]);
    let group = quorate_with("check group --claims", &["a; a b; b"]);
    let token = quorate_with("check token --claims", &["a; b; a"]);
    for (done, others) in [
        (quorate("check mutex"), &["no blocking", "one token", "units"][..]),
        (pool, &["no blocking", "one token"]),
        (group, &["one token", "units"]),
        (token, &["no blocking", "units"]),
    ] {
        assert_eq!((done.code, done.err.as_str()), (Some(0), ""));
        assert!(done.out.contains("complete"), "{}", done.out);
        for property in quorate_sim::PROPERTIES {
            let named = done.out.contains(property);
            assert_eq!(named, !others.contains(&property), "{property}: {}", done.out);
        }
    }
}

#[test]
fn pools_are_claimed_in_units() {
    let claims =
        |line: &str, claims: &str| quorate_with(&format!("check pool {line} --claims"), &[claims]);
    assert_eq!(
        claims("--requests 1,1,0 --at-once 2", "1 of 2, 2 of 2; 1 of 2 numbered").code,
        Some(0)
    );
    quorate("check pool").refused(&["--claims", "`3 of 8`"]);
    claims("", "9 of 8").refused(&["--claims", "invalid units: 9 of 8"]);
    claims("", "x of 8").refused(&["`x`", "`3 of 8`"]);
    claims("", "1 of 2; 1 of 3").refused(&["one size", "2", "3"]);
    claims("--quorum nosuch", "1 of 2").refused(&["nosuch", "uniform", "space"]);
    claims("--at-once 0", "1 of 2").refused(&["--at-once"]);
    quorate("check mutex --at-once 2").refused(&["--at-once", "one claim"]);
    let quorums = file("check_by_units.txt", "sites 3\nh=1: 1 2 3\nh=2: 1 2\nh=2: 2 3\n");
    let by_units = format!("--quorum {quorums}");
    assert_eq!(claims(&by_units, "1 of 2; 2 of 2").code, Some(0));
    claims(&by_units, "1 of 3").refused(&["2 units", "3"]);
    quorate(&format!("check mutex {by_units}")).refused(&["pools"]);
}

#[test]
fn channels_need_not_keep_the_order_where_a_protocol_allows_it() {
    let line = "check pool --requests 1,1,0 --order any --budget duplicate=1";
    let claims = ["--claims", "2 of 2; 1 of 2"];
    let clean = quorate_with(&format!("{line} --option unordered=on"), &claims);
    assert_eq!(clean.code, Some(0), "{}", clean.out);
    assert_eq!(quorate_with(line, &claims).code, Some(1), "somebody must remember what is over");
    quorate("check mutex --order any").refused(&["any", "fifo"]);
    quorate("check mutex --order backwards").refused(&["backwards", "fifo", "any"]);
    quorate("check mutex --budget duplicate=1").refused(&["duplicate", "--order any"]);
    quorate_with("check pool --site --order any", &claims).refused(&["sessions", "fifo"]);
}

#[test]
fn json_has_its_keys_and_the_same_states_on_any_number_of_threads() {
    let [one, two] = [1, 2].map(|threads| {
        quorate(&format!("check mutex --requests 1 --gives-up 1 --threads {threads} --json"))
    });
    assert_eq!((one.code, two.code), (Some(0), Some(0)));
    let (one, two) = (one.json(), two.json());
    assert!(missing(&one, &KEYS).is_empty(), "{one}");
    assert_eq!(one["states"], two["states"]);
    assert_eq!((&one["complete"], &one["violations"]), (&json!(true), &json!([])));
    assert_eq!((&one["requests"], &one["gives_up"]), (&json!([1, 1, 1]), &json!(1)));
}

#[test]
fn a_broken_property_exits_1_with_the_shortest_trace() {
    let quorums = file("check_all_of_three.txt", ALL_OF_THREE);
    let line = "check mutex --sites 3 --requests 1 --option undo=E5 --quorum";
    let done = quorate_with(line, &[&quorums]);
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""), "{}", done.out);
    assert!(done.out.contains("broken: progress"), "{}", done.out);
    assert!(done.out.contains("  1 -> 2  request"), "{}", done.out);

    let json = quorate_with(&format!("{line} {quorums} --json"), &[]).json();
    assert!(missing(&json, &KEYS).is_empty(), "{json}");
    let violation = &json["violations"][0];
    assert_eq!(violation["property"], "progress");
    assert!(missing(violation, &["what", "steps", "trace"]).is_empty(), "{violation}");
    assert_eq!(violation["shortest"], true);
    assert!(violation["trace"].as_array().unwrap().len() > 10, "{violation}");
    assert_eq!((&json["complete"], &json["options"]), (&json!(false), &json!({"undo": "E5"})));
}

#[test]
fn of_a_schedule_that_is_not_the_shortest_the_end_is_shown() {
    let line = "check token --requests 1,2,1 --budget drop=2 --option undo=E8 --max-states 150000";
    let line = format!("{line} --claims");
    let done = quorate_with(&line, &["a; a; b"]);
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""), "{}", done.out);
    assert!(done.out.contains("it ends so, and --json has all of it"), "{}", done.out);
    let json = quorate_with(&line, &["a; a; b", "--json"]).json();
    let violation = &json["violations"][0];
    assert_eq!(violation["shortest"], false);
    let all = violation["trace"].as_array().unwrap().len();
    assert!(all > done.out.lines().count(), "{all} lines, all were shown");
}

#[test]
fn a_panic_in_a_protocol_is_a_violation_and_stays_off_the_terminal() {
    let done = quorate("check mutex --requests 2 --option undo=E1 --threads 1");
    assert_eq!((done.code, done.err.as_str()), (Some(1), ""), "{}", done.out);
}

#[test]
fn a_search_that_was_cut_short_exits_3() {
    let done = quorate("check mutex --requests 2 --max-states 100");
    assert_eq!(done.code, Some(3));
    assert!(done.out.contains("not complete"), "{}", done.out);
    assert_eq!(
        quorate("check mutex --requests 2 --max-states 100 --json").json()["complete"],
        false
    );
}

#[test]
fn what_does_not_exist_is_refused_with_what_does() {
    quorate("check nosuch").refused(&["nosuch", "mutex"]);
    quorate("check mutex --option nosuch=on").refused(&["nosuch", "yield_pass", "undo"]);
    quorate("check mutex --option ahead=maybe").refused(&["ahead", "`on` or `off`"]);
    quorate("check mutex --option ahead").refused(&["NAME=VALUE"]);
    quorate("check mutex --quorum nosuch").refused(&["nosuch", "majority", "grid", "plane"]);
    quorate("check mutex --claims x").refused(&["--claims", "x"]);
    quorate("check").refused(&["PROTOCOL"]);
}

#[test]
fn sessions_can_end_within_a_budget() {
    let clean = quorate("check mutex --site --requests 1,1,0 --budget lose=1 --json");
    assert_eq!(clean.code, Some(0), "{}", clean.out);
    let broken = "check mutex --site --budget lose=1 --option undo=both-halves --requests 1,1,0";
    assert_eq!(quorate(broken).code, Some(1));
    quorate("check mutex --budget lose=1").refused(&["--site"]);
    quorate("check mutex --site --budget fire=1").refused(&["fire", "lose, silent, crash"]);
    quorate("check mutex --site --budget lose").refused(&["NAME=NUMBER"]);
}

#[test]
fn requests_name_all_sites_or_one_number_for_all() {
    quorate("check mutex --sites 3 --requests 2,1")
        .refused(&["2 of 3 sites", "one number for all"]);
    quorate("check mutex --requests x").refused(&["--requests", "`x`"]);
    let json = quorate("check mutex --requests 1,1,0 --json").json();
    assert_eq!(json["requests"], json!([1, 1, 0]));
}

#[test]
fn quorum_files_are_read_and_blamed_by_line() {
    let quorums = file("check_arbiter_only.txt", "quorum 1: 1 3\nquorum 2: 2 3\n");
    let json = quorate(&format!("check mutex --quorum {quorums} --json")).json();
    assert_eq!((&json["sites"], &json["requests"]), (&json!(3), &json!([1, 1, 0])));
    quorate(&format!("check mutex --quorum {quorums} --requests 1,1,1"))
        .refused(&["site 3", "no quorum"]);
    quorate(&format!("check mutex --quorum {quorums} --sites 4"))
        .refused(&["--sites 4", "3 sites"]);

    let wrong = file("check_wrong.txt", "quorum 1: 1 2\nquorum two: 2\n");
    quorate(&format!("check mutex --quorum {wrong}")).refused(&["check_wrong.txt:2:", "expected"]);
    let apart = file("check_apart.txt", "quorum 1: 1\nquorum 2: 2\n");
    quorate(&format!("check mutex --quorum {apart}")).refused(&["do not meet"]);
    quorate("check mutex --quorum no/such/file.txt").refused(&["no/such/file.txt"]);
}

#[test]
fn a_number_of_sites_that_does_not_fit_is_refused() {
    quorate("check mutex --sites 0").refused(&["at least 1 site"]);
    quorate("check mutex --sites 70000").refused(&["65536"]);
    quorate("check mutex --threads 0").refused(&["--threads"]);
}

#[test]
fn an_address_that_cannot_be_served_is_refused() {
    quorate("check mutex --explore nowhere").refused(&["--explore nowhere"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    quorate(&format!("check mutex --explore {address}")).refused(&["--explore", &address]);
}

#[test]
fn what_is_no_claim_or_option_of_a_lock_is_refused_in_a_line() {
    for (line, expected) in [
        ("check group", "expected one or more, as in `group a b`"),
        ("check group --claims a --option choice=best", "`arbitrary` or `most-waiting`"),
        ("check group --claims a --option limit=5", "`off` or a time as in `50ms`, not `5`"),
        ("check group --claims a --option fair=on", "known: choice, limit, spares, undo"),
        ("check group --claims a --option undo=E2", "there is no repair `E2` to undo"),
        ("check group --claims a --order any", "a group needs --order fifo"),
        ("sim random --protocol token --site --option t1=5ms", "known: undo"),
    ] {
        let done = quorate(line);
        assert_eq!((done.code, done.err.lines().count()), (Some(2), 1), "{line}: {}", done.err);
        assert!(done.err.contains(expected), "{line}: {}", done.err);
    }
}
