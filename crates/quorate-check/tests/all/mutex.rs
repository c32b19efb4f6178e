//! Complete searches of the mutex, and what breaks when a repair is undone. The errata E1 to E6 are
//! listed in `docs/protocols/mutex.md`.

use std::sync::Arc;

use quorate_check::{Claims, Limits, Report, Space, check};
use quorate_protocol::mutex::mutations::{Mutant, Mutation};
use quorate_protocol::mutex::{Mutex, Options};
use quorate_quorum::{Kind, Listed, QuorumSystem, build};
use quorate_sim::SimProtocol;

fn listed(text: &str) -> Arc<dyn QuorumSystem> {
    Arc::new(text.parse::<Listed>().unwrap())
}

fn triangle() -> Arc<dyn QuorumSystem> {
    build(Kind::Majority, 3).unwrap()
}

fn everybody() -> Arc<dyn QuorumSystem> {
    listed(include_str!("../../../../quorums/all-3.txt"))
}

fn two_arbiters() -> Arc<dyn QuorumSystem> {
    listed(include_str!("../../../../quorums/two-arbiters-5.txt"))
}

fn search<P: SimProtocol<Claim = (), Quorums = Arc<dyn QuorumSystem>>>(
    quorums: Arc<dyn QuorumSystem>,
    options: P::Options,
    requests: &[u32],
    gives_up: u32,
) -> Report {
    let space = Space::new::<P>(quorums, options, Claims::all(vec![()]), requests);
    check(&Space { gives_up, ..space }, &Limits::default())
}

/// The basic algorithm, each refinement alone, and all together.
fn variants() -> [Options; 6] {
    let basic = Options::basic();
    [
        basic,
        Options { yield_pass: true, ..basic },
        Options { ahead: true, ..basic },
        Options { ahead: true, lists: true, ..basic },
        Options::default(),
        Options { passing: false, ..Options::default() },
    ]
}

#[test]
fn three_sites_with_two_requests_each_are_clean() {
    for options in variants() {
        search::<Mutex>(triangle(), options, &[2, 2, 2], 0).assert_clean();
    }
}

#[test]
fn three_sites_that_all_need_each_other_are_clean() {
    for options in variants() {
        search::<Mutex>(everybody(), options, &[1, 1, 1], 0).assert_clean();
    }
}

#[test]
fn four_sites_are_clean() {
    for text in [
        include_str!("../../../../quorums/cycle-4.txt"),
        include_str!("../../../../quorums/hub-4.txt"),
        include_str!("../../../../quorums/wheel-4.txt"),
    ] {
        search::<Mutex>(listed(text), Options::default(), &[1; 4], 0).assert_clean();
        search::<Mutex>(listed(text), Options::basic(), &[1; 4], 0).assert_clean();
    }
}

#[test]
fn giving_up_is_clean() {
    for options in variants() {
        search::<Mutex>(triangle(), options, &[1, 1, 1], 3).assert_clean();
    }
}

#[test]
fn a_capped_search_is_not_complete() {
    let limits = Limits { max_states: 100, ..Limits::default() };
    let claims = Claims::all(vec![()]);
    let space = Space::new::<Mutex>(triangle(), Options::default(), claims, &[2, 2, 2]);
    let report = check(&space, &limits);
    assert!(!report.complete && report.violation.is_none());
}

/// Undoes one repair, and expects a shortest schedule of this length that breaks this property.
fn assert_breaks(
    undone: Mutation,
    (quorums, options, requests): (Arc<dyn QuorumSystem>, Options, &[u32]),
    (property, steps): (&str, usize),
) {
    search::<Mutex>(Arc::clone(&quorums), options, requests, 0).assert_clean();
    let report = search::<Mutant>(quorums, (options, undone), requests, 0);
    let (breach, trace) = report.violation.expect("the repair is needed");
    assert_eq!((breach.property, trace.actions.len()), (property, steps), "{:#?}", trace.lines);
    assert!(!report.complete);
}

/// Site 1 gets the permission of 2 and enters; 2 requests for itself, forgets the loan, and lends
/// to itself. No shorter schedule than these six steps exists: so the trace is the shortest one.
#[test]
fn e1_a_sites_own_request_frees_the_lock() {
    let space = (triangle(), Options::default(), &[1, 1, 1][..]);
    assert_breaks(Mutation::E1, space, ("exclusion", 6));
}

#[test]
fn e2_a_site_inside_gives_way() {
    let space = (triangle(), Options::basic(), &[2, 2, 2][..]);
    assert_breaks(Mutation::E2, space, ("exclusion", 12));
}

/// A permission for a finished request arrives, and the next request of its site counts it.
#[test]
fn e3_messages_of_a_former_request_count() {
    let space = (triangle(), Options::basic(), &[2, 2, 2][..]);
    assert_breaks(Mutation::E3, space, ("contract", 21));
}

#[test]
fn e4_an_early_release_loses_the_permission() {
    let space = (triangle(), Options::basic(), &[1, 1, 1][..]);
    assert_breaks(Mutation::E4, space, ("vacancy", 12));
}

#[test]
fn e5_a_missing_fail_deadlocks() {
    let space = (everybody(), Options::basic(), &[1, 1, 1][..]);
    assert_breaks(Mutation::E5, space, ("progress", 13));
    let cycle = listed(include_str!("../../../../quorums/cycle-4.txt"));
    assert_breaks(Mutation::E5, (cycle, Options::basic(), &[1; 4]), ("progress", 11));
}

#[test]
fn e6_a_transfer_of_a_former_loan_counts() {
    let space = (two_arbiters(), Options::basic(), &[1, 1, 1, 0, 0][..]);
    assert_breaks(Mutation::E6, space, ("vacancy", 29));
}
