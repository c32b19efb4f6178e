//! `quorate quorum list` and `show`; the other commands run `quorate-lab`.

use quorate_quorum::{ArbiterKind, Kind};
use serde_json::json;

use crate::program::{Done, quorate};

fn clean(line: &str) -> Done {
    let done = quorate(line);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{line}");
    done
}

#[test]
fn all_kinds_are_listed() {
    let done = clean("quorum list");
    assert!(Kind::all().iter().all(|kind| done.out.contains(kind.name())), "{}", done.out);
    assert!(ArbiterKind::all().iter().all(|kind| done.out.contains(kind.name())), "{}", done.out);
    let json = clean("quorum list --json").json();
    assert_eq!(json["kinds"].as_array().map(Vec::len), Some(Kind::all().len()));
}

#[test]
fn a_system_is_shown_with_its_sizes_and_resilience() {
    let out = clean("quorum show majority 3").out;
    for line in [
        "quorums      3 of 2 sites: {1 2} {1 3} {2 3}",
        "survives     any 1 failure",
        "site: asks   1:{1 2} 2:{2 3} 3:{1 3}",
    ] {
        assert!(out.contains(line), "{line}\n{out}");
    }
    assert!(!out.contains('\x1b'), "no colours for a pipe");
    assert!(clean("quorum show majority 5000").out.contains("of 2501 sites"));
    let json = clean("quorum show grid 9 --json").json();
    assert_eq!((&json["sizes"], &json["resilience"]), (&json!([5, 5]), &json!(2)));
    assert_eq!((&json["quorums"], &json["own"][0]), (&json!(9), &json!([1, 2, 3, 4, 7])));
}

#[test]
fn a_pool_is_shown_for_each_number_of_units() {
    let json = clean("quorum show improved 9 --k 3 --json").json();
    let sizes: Vec<_> = (0..3).map(|h| json["of"][h]["sizes"][0].as_u64().unwrap()).collect();
    assert_eq!(sizes, [7, 5, 5]);
    assert!(clean("quorum show improved 9 --k 3").out.contains("UNITS  SITES  SURVIVES"));
}

#[test]
fn an_unknown_kind_is_refused_with_a_list_of_kinds() {
    quorate("quorum show nosuch 3").refused(&["nosuch", "majority", "grid"]);
    quorate("quorum show grid many").refused(&["many", "such as 9"]);
    quorate("quorum show grid 9 --k 3").refused(&["grid", "improved"]);
    quorate("quorum show improved 9 --k x").refused(&["1 to 64"]);
}
