//! Whole state spaces of the token lock, and what the search finds when a repair is undone.

use std::time::Duration;

use quorate_check::{Claims, Faults, Limits, Order, Report, Slips, Space, check};
use quorate_protocol::token::errata::{Erratum, Unrepaired};
use quorate_protocol::token::{Options, TokenLock};
use quorate_quorum::{Kind, build};

const NOTHING: Slips = Slips { drop: 0, early: 0, crash: 0, loss_percent: 0, cut: 0 };

type Locks = Space;

fn locks(requests: [u32; 3], text: &str, slips: Slips) -> Locks {
    let claims = Claims::parse::<TokenLock>(text).unwrap();
    let quorums = build(Kind::Majority, 3).unwrap();
    Space { slips, ..Space::new::<TokenLock>(quorums, Options::default(), claims, &requests) }
}

/// With leases of this length.
fn leased(millis: u64) -> Options {
    Options { lease: Some(Duration::from_millis(millis)), ..Options::default() }
}

fn assert_clean(locks: &Locks) {
    check(locks, &Limits::default()).assert_clean();
}

fn search(undone: Erratum, locks: &Locks, limits: &Limits) -> Report {
    check(&locks.of::<Unrepaired>((Options::default(), undone)), limits)
}

/// Undoes one repair, and expects the shortest schedule that shows the damage.
fn assert_breaks(undone: Erratum, locks: &Locks, (property, steps): (&str, usize)) {
    assert_breaks_with(Options::default(), undone, locks, (property, steps));
}

fn assert_breaks_with(
    options: Options,
    undone: Erratum,
    locks: &Locks,
    (property, steps): (&str, usize),
) {
    assert_clean(&locks.of::<TokenLock>(options));
    let report = check(&locks.of::<Unrepaired>((options, undone)), &Limits::default());
    let (breach, trace) = report.violation.expect("the repair is needed");
    assert_eq!((breach.property, trace.actions.len()), (property, steps), "{:#?}", trace.lines);
    assert!(trace.is_shortest);
}

/// Undoes one repair, and expects some schedule that shows the damage. Which one is found first,
/// and so which property breaks first, depends on the threads.
fn assert_damages(undone: Erratum, locks: &Locks, properties: &[&str]) {
    let limits = Limits { shortest: false, max_states: 3_000_000, ..Limits::default() };
    let report = search(undone, locks, &limits);
    let (breach, trace) = report.violation.expect("the repair is needed");
    assert!(properties.contains(&breach.property), "{breach}\n{:#?}", trace.lines);
}

#[test]
fn without_faults_it_is_clean() {
    for text in ["a; b; a", "a; b; a b", "a, b; b, a; a b"] {
        assert_clean(&locks([2, 2, 1], text, NOTHING));
    }
    let any = Space { order: Order::Any { duplicates: 0 }, ..locks([2, 1, 1], "a; b", NOTHING) };
    assert_clean(&any);
}

#[test]
fn somebody_gives_up() {
    for text in ["a; b; a", "a; b; a b"] {
        assert_clean(&Space { gives_up: 2, ..locks([1, 2, 1], text, NOTHING) });
    }
}

#[test]
fn one_message_is_lost_or_one_timer_is_early_or_one_site_crashes() {
    for slips in
        [Slips { drop: 1, ..NOTHING }, Slips { early: 1, ..NOTHING }, Slips { crash: 1, ..NOTHING }]
    {
        assert_clean(&locks([1, 1, 1], "a; b; a", slips));
        assert_clean(&locks([1, 1, 1], "a; b; a b", slips));
    }
    let drop = Slips { drop: 1, ..NOTHING };
    let options = Options { resend: true, ..Options::default() };
    assert_clean(&locks([1, 1, 1], "a; b; a", drop).of::<TokenLock>(options));
}

#[test]
fn leases_keep_epochs_apart() {
    for (requests, slips) in [
        ([1, 1, 1], Slips { early: 1, ..NOTHING }),
        ([1, 1, 0], Slips { early: 2, ..NOTHING }),
        ([1, 1, 1], Slips { crash: 1, ..NOTHING }),
    ] {
        assert_clean(&locks(requests, "a; b; a", slips).of::<TokenLock>(leased(150)));
    }
}

#[test]
fn a_session_is_lost() {
    let faults = Some(Faults { lose: 1, ..Faults::NONE });
    assert_clean(&Space { faults, ..locks([1, 1, 1], "a; b; a b", NOTHING) });
}

/// In a world without faults nobody needs T1.
#[test]
fn without_faults_nobody_waits_for_a_timer() {
    let locks = locks([2, 2, 1], "a; b; a", NOTHING);
    search(Erratum::NoT1, &locks, &Limits::default()).assert_clean();
}

#[test]
fn undone_repairs_are_found() {
    assert_breaks(Erratum::E1, &locks([2, 1, 1], "a; b", NOTHING), ("fences grow", 5));
    assert_breaks(Erratum::E4, &locks([2, 1, 1], "a; b", NOTHING), ("progress", 8));
    assert_breaks(Erratum::E5, &locks([1, 2, 2], "a; b", NOTHING), ("progress", 21));
    assert_breaks(Erratum::E7, &locks([2, 1, 0], "a, b; a", NOTHING), ("progress", 10));
    let drop = Slips { drop: 1, ..NOTHING };
    assert_breaks(Erratum::E9, &locks([1, 1, 0], "a; b", drop), ("one token", 5));
    let early = Slips { early: 1, ..NOTHING };
    assert_breaks(Erratum::E14, &locks([1, 1, 1], "a; b; b", early), ("one token", 4));
    let crash = Slips { crash: 1, ..NOTHING };
    assert_breaks(Erratum::E16, &locks([0, 1, 0], "a", crash), ("progress", 6));
}

#[test]
fn undone_repairs_against_faults_are_found() {
    let early = Slips { early: 1, ..NOTHING };
    let two_groups = ["contract", "exclusion", "fences grow", "one token"];
    assert_damages(Erratum::E12, &locks([1, 2, 1], "a; a; b", early), &two_groups);
    let both = Slips { drop: 1, ..early };
    assert_damages(Erratum::E10, &locks([2, 1, 1], "a, b; a; a", both), &two_groups);
    assert_damages(Erratum::E11, &locks([1, 1, 2], "a; b; a", both), &two_groups);
    assert_damages(Erratum::OldNumber, &locks([1, 1, 1], "a; b", early), &["progress"]);
    let drop = Slips { drop: 2, ..NOTHING };
    let for_ever = ["progress", "vacancy"];
    assert_damages(Erratum::E13, &locks([1, 1, 1], "a; a; b", drop), &for_ever);
    assert_damages(Erratum::E8, &locks([1, 2, 1], "a; a; b", drop), &for_ever);
}

/// A captain that waits for ever has others try again for ever, and there is no end of states.
#[test]
fn a_schedule_is_shown_where_the_shortest_is_out_of_reach() {
    let locks = locks([1, 2, 1], "a; a; b", Slips { drop: 2, ..NOTHING });
    let limits = Limits { max_states: 200_000, ..Limits::default() };
    let report = search(Erratum::E8, &locks, &limits);
    let (_, trace) = report.violation.expect("the repair is needed");
    assert!(!trace.is_shortest && !trace.lines.is_empty());
}

/// A lease that counts from when the last promise came outlasts the first promises.
#[test]
fn a_late_token_overlaps_with_another() {
    let locks = locks([1, 1, 0], "a; b; a", Slips { early: 2, ..NOTHING });
    assert_breaks_with(leased(60), Erratum::LateToken, &locks, ("exclusion", 10));
}
