//! Whole state spaces of the token lock, and what the search finds when a repair is undone.

use std::time::Duration;

use quorate_check::{Claims, Faults, Limits, Order, Report, Slips, Space, check};
use quorate_protocol::group::Claim;
use quorate_protocol::token::errata::{Erratum, Unrepaired};
use quorate_protocol::token::{Options, TokenLock};
use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::{Contract, Subject};

const NOTHING: Slips = Slips { drop: 0, early: 0, crash: 0, loss_percent: 0, cut: 0 };
const MENDED: Contract = Contract { reopens: true, restarts: true, fence_block: 2 };

/// A space to search, but for the protocol's options.
#[derive(Clone)]
struct Locks {
    claims: Claims<Claim>,
    requests: Vec<u32>,
    gives_up: u32,
    slips: Slips,
    faults: Option<Faults>,
    order: Order,
}

fn locks(requests: [u32; 3], text: &str, slips: Slips) -> Locks {
    let claim = |text: &str| TokenLock::parse_claim(&text.split_whitespace().collect::<Vec<_>>());
    let site = |text: &str| text.split(',').map(|text| claim(text).unwrap()).collect();
    let claims = Claims::each(text.split(';').map(site).collect());
    let (requests, faults, order) = (requests.to_vec(), None, Order::Fifo);
    Locks { claims, requests, gives_up: 0, slips, faults, order }
}

fn leased() -> Options {
    Options { lease: Some(Duration::from_millis(150)), ..Options::default() }
}

fn search<P>(locks: &Locks, options: P::Options, shortest: bool) -> Report
where
    P: Subject<Claim = Claim, Quorums = std::sync::Arc<dyn QuorumSystem>>,
{
    search_within::<P>(locks, options, &Limits { shortest, ..Limits::default() })
}

fn search_within<P>(locks: &Locks, options: P::Options, limits: &Limits) -> Report
where
    P: Subject<Claim = Claim, Quorums = std::sync::Arc<dyn QuorumSystem>>,
{
    let Locks { claims, requests, gives_up, slips, faults, order } = locks.clone();
    let quorums = build(Kind::Majority, 3).unwrap();
    let space = Space::<P> {
        quorums,
        options,
        claims,
        requests,
        gives_up,
        slips,
        faults,
        order,
        mortal: None,
    };
    check(&space, limits)
}

fn assert_clean(locks: &Locks, options: Options) {
    let report = search::<TokenLock>(locks, options, true);
    if let Some((breach, trace)) = &report.violation {
        panic!("{breach}\n{:#?}", trace.lines);
    }
    assert!(report.complete);
}

/// Undoes one repair, and expects the shortest schedule that shows the damage.
fn assert_breaks(undone: Erratum, locks: &Locks, (property, steps): (&str, usize)) {
    assert_clean(locks, Options::default());
    let report = search::<Unrepaired>(locks, (Options::default(), undone), true);
    let (breach, trace) = report.violation.expect("the repair is needed");
    assert_eq!((breach.property, trace.actions.len()), (property, steps), "{:#?}", trace.lines);
    assert!(trace.is_shortest);
}

/// Undoes one repair where leases matter, and expects two groups inside at one time.
fn assert_overlaps(undone: Erratum, locks: &Locks, options: Options, steps: usize) {
    assert_clean(locks, options);
    let report = search::<Unrepaired>(locks, (options, undone), true);
    let (breach, trace) = report.violation.expect("the repair is needed");
    assert_eq!((breach.property, trace.actions.len()), ("exclusion", steps), "{:#?}", trace.lines);
}

/// Undoes one repair, and expects some schedule that shows the damage. Which one is found first,
/// and so which property breaks first, depends on the threads.
fn assert_damages(undone: Erratum, locks: &Locks, properties: &[&str]) {
    let report = search::<Unrepaired>(locks, (Options::default(), undone), false);
    let (breach, trace) = report.violation.expect("the repair is needed");
    assert!(properties.contains(&breach.property), "{breach}\n{:#?}", trace.lines);
}

#[test]
fn without_faults_it_is_clean() {
    for text in ["a; b; a", "a; b; a b", "a, b; b, a; a b"] {
        assert_clean(&locks([2, 2, 1], text, NOTHING), Options::default());
    }
    let any = Locks { order: Order::Any { duplicates: 0 }, ..locks([2, 1, 1], "a; b", NOTHING) };
    assert_clean(&any, Options::default());
}

#[test]
fn somebody_gives_up() {
    for text in ["a; b; a", "a; b; a b"] {
        let locks = Locks { gives_up: 2, ..locks([1, 2, 1], text, NOTHING) };
        assert_clean(&locks, Options::default());
    }
}

#[test]
fn one_message_is_lost_or_one_timer_is_early_or_one_site_crashes() {
    for slips in
        [Slips { drop: 1, ..NOTHING }, Slips { early: 1, ..NOTHING }, Slips { crash: 1, ..NOTHING }]
    {
        assert_clean(&locks([1, 1, 1], "a; b; a", slips), Options::default());
        assert_clean(&locks([1, 1, 1], "a; b; a b", slips), Options::default());
    }
    let resend = Options { resend: true, ..Options::default() };
    assert_clean(&locks([1, 1, 1], "a; b; a", Slips { drop: 1, ..NOTHING }), resend);
}

#[test]
fn leases_keep_epochs_apart() {
    assert_clean(&locks([1, 1, 1], "a; b; a", Slips { early: 1, ..NOTHING }), leased());
    assert_clean(&locks([1, 1, 0], "a; b; a", Slips { early: 2, ..NOTHING }), leased());
    assert_clean(&locks([1, 1, 1], "a; b; a", Slips { crash: 1, ..NOTHING }), leased());
}

#[test]
fn a_session_is_lost() {
    let faults = Some(Faults { lose: 1, silent: 0, crash: 0, contract: MENDED });
    let locks = Locks { faults, ..locks([1, 1, 1], "a; b; a b", NOTHING) };
    assert_clean(&locks, Options::default());
}

/// In a world without faults nobody needs T1.
#[test]
fn without_faults_nobody_waits_for_a_timer() {
    let report = search::<Unrepaired>(
        &locks([2, 2, 1], "a; b; a", NOTHING),
        (Options::default(), Erratum::NoT1),
        true,
    );
    assert!(report.complete && report.violation.is_none());
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
    let report = search_within::<Unrepaired>(&locks, (Options::default(), Erratum::E8), &limits);
    let (_, trace) = report.violation.expect("the repair is needed");
    assert!(!trace.is_shortest && !trace.lines.is_empty());
}

/// A lease that counts from when the last promise came outlasts the first promises.
#[test]
fn a_late_token_overlaps_with_another() {
    let short = Options { lease: Some(Duration::from_millis(60)), ..Options::default() };
    let locks = locks([1, 1, 0], "a; b; a", Slips { early: 2, ..NOTHING });
    assert_overlaps(Erratum::LateToken, &locks, short, 10);
}
