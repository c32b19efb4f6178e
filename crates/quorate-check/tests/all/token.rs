//! Complete searches of the token lock, and what breaks when a repair is undone. The errata are
//! listed in `docs/protocols/token.md`.

use std::time::Duration;

use quorate_check::{Claims, Faults, Limits, Order, Report, SessionlessFaults, Space, check};
use quorate_protocol::token::mutations::{Mutant, Mutation};
use quorate_protocol::token::{Options, TokenLock};
use quorate_quorum::{Kind, build};

const NOTHING: SessionlessFaults =
    SessionlessFaults { drop: 0, early: 0, crash: 0, loss_percent: 0, cut: 0 };

type Locks = Space;

fn locks(requests: [u32; 3], text: &str, sessionless: SessionlessFaults) -> Locks {
    let claims = Claims::parse::<TokenLock>(text).unwrap();
    let quorums = build(Kind::Majority, 3).unwrap();
    Space { sessionless, ..Space::new::<TokenLock>(quorums, Options::default(), claims, &requests) }
}

/// Options with leases of this length.
fn leased(millis: u64) -> Options {
    Options { lease: Some(Duration::from_millis(millis)), ..Options::default() }
}

fn assert_clean(locks: &Locks) {
    check(locks, &Limits::default()).assert_clean();
}

fn search(undone: Mutation, locks: &Locks, limits: &Limits) -> Report {
    check(&locks.of::<Mutant>((Options::default(), undone)), limits)
}

/// Undoes one repair, and expects a shortest schedule of this length that breaks this property.
fn assert_breaks(undone: Mutation, locks: &Locks, (property, steps): (&str, usize)) {
    assert_breaks_with(Options::default(), undone, locks, (property, steps));
}

fn assert_breaks_with(
    options: Options,
    undone: Mutation,
    locks: &Locks,
    (property, steps): (&str, usize),
) {
    assert_clean(&locks.of::<TokenLock>(options));
    let report = check(&locks.of::<Mutant>((options, undone)), &Limits::default());
    let (breach, trace) = report.violation.expect("the repair is needed");
    assert_eq!((breach.property, trace.actions.len()), (property, steps), "{:#?}", trace.lines);
    assert!(trace.is_shortest);
}

/// Undoes one repair, and expects any schedule that breaks one of these properties. Which one is
/// found first depends on the threads.
fn assert_breaks_one_of(undone: Mutation, locks: &Locks, properties: &[&str]) {
    let limits = Limits { shortest: false, max_states: 3_000_000, ..Limits::default() };
    let report = search(undone, locks, &limits);
    let (breach, trace) = report.violation.expect("the repair is needed");
    assert!(properties.contains(&breach.property), "{breach}\n{:#?}", trace.lines);
}

#[test]
fn runs_without_faults_are_clean() {
    for text in ["a; b; a", "a; b; a b", "a, b; b, a; a b"] {
        assert_clean(&locks([2, 2, 1], text, NOTHING));
    }
    let any = Space { order: Order::Any { duplicates: 0 }, ..locks([2, 1, 1], "a; b", NOTHING) };
    assert_clean(&any);
}

#[test]
fn giving_up_is_clean() {
    for text in ["a; b; a", "a; b; a b"] {
        assert_clean(&Space { gives_up: 2, ..locks([1, 2, 1], text, NOTHING) });
    }
}

#[test]
fn one_lost_message_early_timer_or_crash_is_clean() {
    for sessionless in [
        SessionlessFaults { drop: 1, ..NOTHING },
        SessionlessFaults { early: 1, ..NOTHING },
        SessionlessFaults { crash: 1, ..NOTHING },
    ] {
        assert_clean(&locks([1, 1, 1], "a; b; a", sessionless));
        assert_clean(&locks([1, 1, 1], "a; b; a b", sessionless));
    }
    let drop = SessionlessFaults { drop: 1, ..NOTHING };
    let options = Options { resend: true, ..Options::default() };
    assert_clean(&locks([1, 1, 1], "a; b; a", drop).of::<TokenLock>(options));
}

#[test]
fn leases_separate_epochs() {
    for (requests, sessionless) in [
        ([1, 1, 1], SessionlessFaults { early: 1, ..NOTHING }),
        ([1, 1, 0], SessionlessFaults { early: 2, ..NOTHING }),
        ([1, 1, 1], SessionlessFaults { crash: 1, ..NOTHING }),
    ] {
        assert_clean(&locks(requests, "a; b; a", sessionless).of::<TokenLock>(leased(150)));
    }
}

#[test]
fn one_lost_session_is_clean() {
    let faults = Some(Faults { lose: 1, ..Faults::NONE });
    assert_clean(&Space { faults, ..locks([1, 1, 1], "a; b; a b", NOTHING) });
}

/// Without faults, nobody needs the timer T1.
#[test]
fn without_faults_no_timer_is_needed() {
    let locks = locks([2, 2, 1], "a; b; a", NOTHING);
    search(Mutation::NoT1, &locks, &Limits::default()).assert_clean();
}

#[test]
fn undone_repairs_are_found() {
    assert_breaks(Mutation::E1, &locks([2, 1, 1], "a; b", NOTHING), ("fences grow", 5));
    assert_breaks(Mutation::E4, &locks([2, 1, 1], "a; b", NOTHING), ("progress", 8));
    assert_breaks(Mutation::E5, &locks([1, 2, 2], "a; b", NOTHING), ("progress", 21));
    assert_breaks(Mutation::E7, &locks([2, 1, 0], "a, b; a", NOTHING), ("progress", 10));
    let drop = SessionlessFaults { drop: 1, ..NOTHING };
    assert_breaks(Mutation::E9, &locks([1, 1, 0], "a; b", drop), ("one token", 5));
    let early = SessionlessFaults { early: 1, ..NOTHING };
    assert_breaks(Mutation::E14, &locks([1, 1, 1], "a; b; b", early), ("one token", 4));
    let crash = SessionlessFaults { crash: 1, ..NOTHING };
    assert_breaks(Mutation::E16, &locks([0, 1, 0], "a", crash), ("progress", 6));
}

#[test]
fn undone_repairs_against_faults_are_found() {
    let early = SessionlessFaults { early: 1, ..NOTHING };
    let two_groups = ["contract", "exclusion", "fences grow", "one token"];
    assert_breaks_one_of(Mutation::E12, &locks([1, 2, 1], "a; a; b", early), &two_groups);
    let both = SessionlessFaults { drop: 1, ..early };
    assert_breaks_one_of(Mutation::E10, &locks([2, 1, 1], "a, b; a; a", both), &two_groups);
    assert_breaks_one_of(Mutation::E11, &locks([1, 1, 2], "a; b; a", both), &two_groups);
    // A site may also notice that it was sent what no correct site sends.
    let stuck = ["contract", "progress", "vacancy"];
    assert_breaks_one_of(Mutation::OldNumber, &locks([1, 1, 1], "a; b", early), &stuck);
    let drop = SessionlessFaults { drop: 2, ..NOTHING };
    assert_breaks_one_of(Mutation::E13, &locks([1, 1, 1], "a; a; b", drop), &stuck);
    assert_breaks_one_of(Mutation::E8, &locks([1, 2, 1], "a; a; b", drop), &stuck);
}

/// A captain that waits forever makes others retry forever, so there are infinitely many states.
#[test]
fn a_schedule_is_reported_if_the_shortest_is_out_of_reach() {
    let locks = locks([1, 2, 1], "a; a; b", SessionlessFaults { drop: 2, ..NOTHING });
    let limits = Limits { max_states: 200_000, ..Limits::default() };
    let report = search(Mutation::E8, &locks, &limits);
    let (_, trace) = report.violation.expect("the repair is needed");
    assert!(!trace.is_shortest && !trace.lines.is_empty());
}

/// A lease counted from the arrival of the last promise outlasts the first promises.
#[test]
fn a_late_token_overlaps_with_another() {
    let locks = locks([1, 1, 0], "a; b; a", SessionlessFaults { early: 2, ..NOTHING });
    assert_breaks_with(leased(60), Mutation::LateToken, &locks, ("exclusion", 10));
}
