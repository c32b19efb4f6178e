//! Complete searches of the ledger pool, and what breaks when a rule is undone. Both are listed in
//! `docs/protocols/ledger.md`.

use std::sync::Arc;

use quorate_check::{Claims, Faults, Limits, Report, Space, check};
use quorate_protocol::ledger::mutations::{Mutant, Mutation};
use quorate_protocol::ledger::{LedgerPool, Options};
use quorate_quorum::{Kind, Listed, SiteId, SiteSet, build};
use quorate_sim::{Contract, LedgerQuorums, SimProtocol};

/// A ledger of any length is sent in changes.
const CHANGES: Options = Options { whole: 0, spares: None };

/// Sites on majorities, and claims like `1 of 2; 2 of 2`.
fn majority(requests: &[u32], text: &str) -> Space {
    let claims = Claims::parse::<LedgerPool>(text).unwrap();
    let first = claims.iter().next().unwrap();
    let units = first.downcast::<quorate_protocol::ledger::Claim>().units.of;
    let quorums = build(Kind::Majority, requests.len()).unwrap();
    let quorums = LedgerQuorums { units, quorums };
    Space::new::<LedgerPool>(quorums, Options::default(), claims, requests)
}

fn with(space: Space, faults: Faults) -> Space {
    Space { faults: Some(faults), ..space }
}

fn search<P: SimProtocol<Quorums = LedgerQuorums>>(space: &Space, options: P::Options) -> Report {
    check(&space.of::<P>(options), &Limits::default())
}

fn assert_clean(space: &Space) {
    for options in [Options::default(), CHANGES] {
        search::<LedgerPool>(space, options).assert_clean();
    }
}

/// Undoes each of these rules, and expects a shortest schedule of this length that breaks this
/// property.
fn assert_break(space: &Space, rules: &[(Mutation, &str, usize)]) {
    search::<LedgerPool>(space, Options::default()).assert_clean();
    for &(undone, property, steps) in rules {
        let report = search::<Mutant>(space, (Options::default(), undone));
        let (breach, trace) = report.violation.unwrap_or_else(|| panic!("{undone} is needed"));
        let found = (breach.property, trace.actions.len());
        assert_eq!(found, (property, steps), "{undone}: {:#?}", trace.lines);
    }
}

const FOR_GOOD: Contract = Contract { reopens: false, restarts: false, ..Contract::MENDED };
const LOSE: Faults = Faults { lose: 1, ..Faults::NONE };
const SILENT: Faults = Faults { silent: 1, ..Faults::NONE };
const BOTH: Faults = Faults { lose: 1, silent: 1, ..Faults::NONE };
const CRASH: Faults = Faults { crash: 1, ..Faults::NONE };

#[test]
fn sites_without_faults_are_clean() {
    for text in ["1 of 1", "1 of 2; 2 of 2", "1 of 3; 2 of 3; 3 of 3 numbered"] {
        assert_clean(&majority(&[2, 1, 1], text));
    }
    let two = majority(&[2, 2, 1], "1 of 2 numbered; 2 of 2");
    assert_clean(&Space { claims: two.claims.clone().at_once(2), ..two });
}

#[test]
fn giving_up_is_clean() {
    assert_clean(&Space { gives_up: 2, ..majority(&[1, 1, 1], "1 of 2 numbered; 2 of 2") });
    let two = majority(&[2, 1, 0], "1 of 2 numbered; 2 of 2");
    assert_clean(&Space { gives_up: 2, claims: two.claims.clone().at_once(2), ..two });
}

#[test]
fn sessions_that_end_are_clean() {
    assert_clean(&with(majority(&[1, 1, 1], "1 of 1"), LOSE));
    for faults in [LOSE, SILENT, BOTH, CRASH] {
        assert_clean(&with(majority(&[1, 1, 0], "1 of 2 numbered; 2 of 2"), faults));
    }
    let faults = Faults { contract: FOR_GOOD, ..CRASH };
    assert_clean(&with(majority(&[1, 1, 0], "1 of 2 numbered; 2 of 2"), faults));
}

/// Two sites ask for the only unit.
fn two() -> Space {
    majority(&[1, 1, 0], "1 of 1")
}

#[test]
fn a_permission_carries_the_ledger_and_entering_is_one_message() {
    let rules = [
        (Mutation::NoLedger, "units", 6),
        (Mutation::SplitEnter, "units", 6),
        (Mutation::LeftUntold, "progress", 9),
    ];
    assert_break(&two(), &rules);
}

#[test]
fn every_caller_passes_the_door() {
    let pool = majority(&[2, 1, 0], "1 of 2");
    let pool = Space { claims: pool.claims.clone().at_once(2), ..pool };
    assert_break(&pool, &[(Mutation::LocalTurn, "fences grow", 9)]);
}

#[test]
fn a_session_that_ends_takes_its_registrations_along() {
    let rules = [
        (Mutation::LedgerForgotten, "units", 8),
        (Mutation::LossUnnoticed, "units", 9),
        (Mutation::FloorKept, "fences grow", 8),
        (Mutation::KnowledgeKept, "progress", 15),
        (Mutation::LedgerKept, "vacancy", 8),
    ];
    assert_break(&with(two(), LOSE), &rules);
    assert_break(&with(two(), SILENT), &[(Mutation::LeftAcked, "vacancy", 9)]);
    assert_break(&with(two(), CRASH), &[(Mutation::NoQuarantine, "units", 13)]);
}

#[test]
fn a_registration_counts_when_the_borrower_knows_of_it() {
    let rules = [
        (Mutation::EarlyCounted, "units", 10),
        (Mutation::AckUntold, "units", 12),
        (Mutation::AckAtOnce, "units", 12),
        (Mutation::MergedLedgers, "units", 10),
    ];
    assert_break(&with(two(), BOTH), &rules);
}

/// Two sites ask for the only unit, and every request needs all three sites.
fn all_of_three() -> Space {
    let all: SiteSet = SiteId::all(3).collect();
    let own = [Some(all.clone()), Some(all), None];
    let quorums = Arc::new(Listed::new(own.to_vec()).unwrap());
    let claims = Claims::parse::<LedgerPool>("1 of 1").unwrap();
    let quorums = LedgerQuorums { units: 1, quorums };
    Space::new::<LedgerPool>(quorums, Options::default(), claims, &[1, 1, 0])
}

/// One session is enough to be without a quorum. An arbiter refuses to let in a request that does
/// not have its permission.
#[test]
fn a_request_that_withdrew_says_which_try_it_is() {
    assert_break(&with(all_of_three(), LOSE), &[(Mutation::NoTry, "contract", 13)]);
}

/// The session is not opened again, so the one request waits for ever, and must not keep the other.
#[test]
fn a_request_without_a_quorum_keeps_nothing_from_others() {
    let contract = Contract { reopens: false, ..Contract::MENDED };
    let space = with(all_of_three(), Faults { contract, ..LOSE });
    assert_break(&space, &[(Mutation::NoWithdrawal, "progress", 9)]);
}

/// Site 1 is inside, and its next request is at the door when it loses arbiter 2. It has to ask
/// arbiter 3, which has lent to a request that goes before it.
#[test]
fn an_inquire_stays_open_when_the_quorum_is_complete() {
    let pool = majority(&[2, 0, 1], "1 of 1");
    let pool = Space { claims: pool.claims.clone().at_once(2), ..pool };
    assert_break(&with(pool, LOSE), &[(Mutation::InquiriesCleared, "progress", 15)]);
}

/// Site 1 alone loses sessions: twice at most, and one more falls silent. The search with the rule
/// is in the program `xtask`, and the shortest schedule of 20 steps is not looked for here.
#[test]
fn the_borrower_names_the_registration_that_it_knows() {
    let space = with(two(), Faults { lose: 2, silent: 1, ..Faults::NONE });
    assert_breaks_somehow(&Space { fragile: Some(site(0)), ..space }, Mutation::AckUnnamed);
}

fn site(index: usize) -> SiteSet {
    [SiteId::new(index)].into_iter().collect()
}

/// Undoes a rule, and expects that too many units are out in some schedule.
fn assert_breaks_somehow(space: &Space, undone: Mutation) {
    let space = space.of::<Mutant>((Options::default(), undone));
    let report = check(&space, &Limits { shortest: false, ..Limits::default() });
    let (breach, _) = report.violation.unwrap_or_else(|| panic!("{undone} is needed"));
    assert_eq!(breach.property, "units", "{undone}");
}
