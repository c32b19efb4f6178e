//! Random runs of the mutex in which sessions end and sites crash: the session layer is replaced by
//! its contract, everything above it is the production code.

use crate::chronicle::Chronicle;
use crate::plans::plan;
use quorate_protocol::mutex::{Mutex, Options};
use quorate_quorum::Kind;
use quorate_sim::random::{Plan, run};
use quorate_sim::{Contract, Faults, setup};

fn claims(plan: &Plan) -> u64 {
    plan.requests.iter().map(|&requests| u64::from(requests)).sum()
}

fn mixed() -> Faults {
    Faults { lose: 5, silent: 3, crash: 2, ..Faults::NONE }
}

#[test]
fn three_sites_are_clean_whatever_ends() {
    for options in [Options::basic(), Options::default()] {
        let plan = Plan { requests: vec![3; 3], gives_up: 2, ..plan::<Mutex>(3, options, mixed()) };
        let sum = plan.assert_clean(2_000);
        assert_eq!(sum.entries + sum.given_up + sum.crashed, claims(&plan) * 2_000);
        assert!(sum.lost > 500, "too few grants were lost to show anything: {}", sum.lost);
    }
}

#[test]
fn five_sites_are_clean_whatever_ends() {
    let faults = Faults { lose: 6, silent: 4, ..mixed() };
    let plan = Plan { gives_up: 2, ..plan::<Mutex>(5, Options::default(), faults) };
    let sum = plan.assert_clean(3_000);
    assert_eq!(sum.entries + sum.given_up + sum.crashed, claims(&plan) * 3_000);
}

#[test]
fn a_plane_is_clean_whatever_ends() {
    let quorums = quorate_quorum::build(Kind::Plane, 7).unwrap();
    let setup = setup::<Mutex>(quorums, Options::default());
    let plan = Plan { skew: true, setup, ..plan::<Mutex>(7, Options::default(), mixed()) };
    plan.assert_clean(1_000);
}

/// Two of five sites crash for ever: the others are served.
#[test]
fn sites_that_crash_for_ever_hold_nobody_up() {
    let contract = Contract { restarts: false, ..Contract::MENDED };
    let faults = Faults { crash: 2, contract, ..Faults::NONE };
    let sum = plan::<Mutex>(5, Options::default(), faults).assert_clean(3_000);
    assert_eq!(sum.faults["crash"], 6_000);
    assert!(!sum.faults.contains_key("restart"));
}

/// One lost session, of whatever client, leaves it a quorum of five.
#[test]
fn a_session_that_is_never_reopened_holds_nobody_up() {
    let contract = Contract { reopens: false, ..Contract::MENDED };
    let faults = Faults { lose: 1, contract, ..Faults::NONE };
    let sum = plan::<Mutex>(5, Options::default(), faults).assert_clean(2_000);
    assert_eq!((sum.faults["lose"], sum.faults["close"]), (2_000, 2_000));
    assert!(!sum.faults.contains_key("open"));
}

/// Where nothing goes wrong, sessions change nothing but the fences' ceilings.
#[test]
fn faults_that_happened_are_counted() {
    let sum = plan::<Mutex>(3, Options::default(), Faults::NONE).assert_clean(100);
    assert!(sum.faults.is_empty(), "{:?}", sum.faults);
    let sum = plan::<Mutex>(3, Options::default(), mixed()).assert_clean(100);
    assert_eq!((sum.faults["crash"], sum.faults["restart"]), (200, 200));
    assert!(sum.faults["silent"] <= 300, "{:?}", sum.faults);
    assert!(sum.faults["open"] <= sum.faults["reopen"], "{:?}", sum.faults);
}

#[test]
fn one_seed_gives_one_history_byte_for_byte() {
    let plan = Plan { skew: true, gives_up: 2, ..plan::<Mutex>(5, Options::default(), mixed()) };
    let history = |seed| {
        let mut chronicle = Chronicle::default();
        run(&plan, seed, &mut chronicle);
        chronicle.0
    };
    let first = history(11);
    assert!(first.contains("crashes") && first.contains("loses its session"), "{first}");
    assert_eq!(first, history(11));
    assert_ne!(first, history(12));
}
