//! The mutex when sessions end and sites crash: complete searches, and what breaks when one of the
//! repairs that sessions make necessary is undone (`docs/protocols/mutex.md`).
//!
//! Three sites, majorities, fence ceilings raised by two at a time. The session layer is replaced
//! by its contract; everything above it is the production code.

use std::sync::Arc;
use std::time::Duration;

use quorate_check::{Claims, Faults, Limits, Report, Space, check};
use quorate_protocol::mutex::mutations::{Mutant, Mutation};
use quorate_protocol::mutex::{Mutex, Options};
use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::{Contract, SessionlessFaults, SimProtocol};

fn one_lost() -> Faults {
    Faults { lose: 1, ..Faults::NONE }
}

fn one_silent() -> Faults {
    Faults { silent: 1, ..Faults::NONE }
}

fn never_reopened() -> Faults {
    Faults { lose: 1, contract: Contract { reopens: false, ..Contract::MENDED }, ..Faults::NONE }
}

fn crash_for_good() -> Faults {
    Faults { crash: 1, contract: Contract { restarts: false, ..Contract::MENDED }, ..Faults::NONE }
}

fn search<P: SimProtocol<Claim = (), Quorums = Arc<dyn QuorumSystem>>>(
    options: P::Options,
    requests: [u32; 3],
    faults: Faults,
    shortest: bool,
) -> Report {
    let majority = build(Kind::Majority, 3).unwrap();
    let space = Space::new::<P>(majority, options, Claims::all(vec![()]), &requests);
    let space = Space { faults: Some(faults), ..space };
    check(&space, &Limits { shortest, ..Limits::default() })
}

fn assert_clean(requests: [u32; 3], faults: Faults) {
    for options in [Options::basic(), Options::default()] {
        search::<Mutex>(options, requests, faults, true).assert_clean();
    }
}

#[test]
fn one_lost_session_is_clean() {
    assert_clean([1, 1, 1], one_lost());
}

#[test]
fn one_silent_session_is_clean() {
    assert_clean([1, 1, 1], one_silent());
}

#[test]
fn a_session_that_is_never_reopened_is_clean() {
    assert_clean([1, 1, 1], never_reopened());
}

#[test]
fn a_site_that_crashes_for_good_is_clean() {
    assert_clean([1, 1, 1], crash_for_good());
}

#[test]
fn a_site_that_crashes_and_returns_is_clean() {
    assert_clean([1, 1, 0], Faults { crash: 1, ..Faults::NONE });
}

/// The same where a holder asks for spare permissions at any moment: its timer may run out early.
fn assert_clean_with_spares(requests: [u32; 3], faults: Option<Faults>, early: u32) -> usize {
    let options = Options { spares: Some(Duration::ZERO), ..Options::default() };
    let majority = build(Kind::Majority, 3).unwrap();
    let space = Space::new::<Mutex>(majority, options, Claims::all(vec![()]), &requests);
    let sessionless = SessionlessFaults { early, ..SessionlessFaults::default() };
    let report = check(&Space { faults, sessionless, ..space }, &Limits::default());
    report.assert_clean();
    report.states
}

#[test]
fn spare_permissions_are_clean_without_faults() {
    let without = assert_clean_with_spares([1, 1, 1], None, 0);
    let with = assert_clean_with_spares([1, 1, 1], None, 2);
    assert!(with > 2 * without, "{with} and {without} states");
}

#[test]
fn spare_permissions_are_clean_with_one_fault() {
    for faults in [one_lost(), one_silent(), crash_for_good()] {
        let without = assert_clean_with_spares([1, 1, 0], Some(faults), 0);
        let with = assert_clean_with_spares([1, 1, 0], Some(faults), 1);
        assert!(with > 2 * without, "{with} and {without} states with {faults:?}");
    }
}

/// Undoes one repair, and expects a shortest schedule of this length that breaks this property.
fn assert_breaks(undone: Mutation, faults: Faults, (property, steps): (&str, usize)) {
    let options = (Options::basic(), undone);
    let report = search::<Mutant>(options, [1, 1, 1], faults, true);
    let (breach, trace) = report.violation.expect("the repair is needed");
    assert_eq!((breach.property, trace.actions.len()), (property, steps), "{:#?}", trace.lines);
}

/// The same with any schedule, because the shortest would take long to find.
fn assert_breaks_somehow(
    undone: Mutation,
    options: Options,
    requests: [u32; 3],
    faults: Faults,
    property: &str,
) {
    let report = search::<Mutant>((options, undone), requests, faults, false);
    let (breach, trace) = report.violation.expect("the repair is needed");
    assert_eq!(breach.property, property, "{:#?}", trace.lines);
}

/// Site 1 is inside with the permissions of 1 and 2; 2 loses its session at 1 and forgets 1 in both
/// roles.
#[test]
fn one_loss_for_both_halves_lets_two_in() {
    assert_breaks(Mutation::BothHalves, one_lost(), ("exclusion", 9));
}

#[test]
fn a_pass_counted_in_any_session_breaks_the_contract() {
    assert_breaks(Mutation::AnySession, one_lost(), ("contract", 11));
}

#[test]
fn the_arbiter_must_learn_of_a_pass_lost_with_its_session() {
    assert_breaks(Mutation::NoDirect, one_lost(), ("progress", 13));
    assert_breaks(Mutation::NoRepeat, one_lost(), ("progress", 14));
}

#[test]
fn a_site_from_which_passes_were_lost_gets_no_more_passes() {
    let faults = Faults { lose: 2, ..Faults::NONE };
    assert_breaks_somehow(Mutation::DirectGrows, Options::basic(), [1, 1, 0], faults, "progress");
}

#[test]
fn a_lost_holder_may_have_passed_the_permission_on() {
    let faults = Faults { lose: 1, silent: 1, ..Faults::NONE };
    assert_breaks_somehow(Mutation::NoAsking, Options::basic(), [1, 1, 1], faults, "exclusion");
}

#[test]
fn an_early_release_whose_passer_is_lost_is_used() {
    assert_breaks(Mutation::EarlyUnused, one_lost(), ("vacancy", 15));
}

#[test]
fn fences_exceed_those_of_a_holder_that_was_given_up() {
    assert_breaks(Mutation::FloorKept, one_lost(), ("fences grow", 8));
}

#[test]
fn fences_exceed_those_of_a_holder_that_is_gone() {
    let faults = Faults { lose: 1, silent: 1, ..Faults::NONE };
    let undone = Mutation::FloorKeptAtGone;
    assert_breaks_somehow(undone, Options::basic(), [1, 1, 1], faults, "fences grow");
}

/// With the refinement of §5.3 of the paper, a chain of passes can continue past a request that
/// lacked the permission when asked.
#[test]
fn a_site_that_denied_having_a_permission_refuses_it_later() {
    let undone = Mutation::LackNotBinding;
    assert_breaks_somehow(undone, Options::default(), [1, 1, 1], crash_for_good(), "contract");
}

#[test]
fn a_restarted_arbiter_lends_nothing_in_its_quarantine() {
    let (undone, faults) = (Mutation::NoQuarantine, Faults { crash: 1, ..Faults::NONE });
    assert_breaks_somehow(undone, Options::basic(), [1, 1, 0], faults, "exclusion");
}
