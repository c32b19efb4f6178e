//! `quorate quorum`.

use quorate_quorum::Kind;

use crate::tools::quorate;

#[test]
fn all_kinds_are_listed() {
    let done = quorate("quorum list");
    assert_eq!(done.code, Some(0));
    assert_eq!(done.out.lines().count(), Kind::all().len());
    assert!(Kind::all().iter().all(|kind| done.out.contains(kind.name())), "{}", done.out);
}

#[test]
fn a_system_is_shown_with_the_quorum_of_every_site() {
    let done = quorate("quorum show majority 3");
    assert_eq!(done.code, Some(0));
    assert_eq!(done.out, "majority of 3: quorums of 2\n   1  {1 2}\n   2  {2 3}\n   3  {1 3}\n");
    assert_eq!(quorate("quorum show majority 32").out.lines().count(), 1);
}

#[test]
fn what_does_not_exist_is_refused_with_what_does() {
    quorate("quorum show nosuch 3").refused(&["nosuch", "majority", "grid"]);
    quorate("quorum show grid 0").refused(&["at least 1 site"]);
    quorate("quorum show grid many").refused(&["many"]);
}
