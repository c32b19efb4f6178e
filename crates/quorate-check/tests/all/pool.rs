//! Complete searches of the pool, and what breaks when a repair is undone or an error is made.
//! Both are listed in `docs/protocols/pool.md`.

use std::sync::Arc;

use quorate_check::{Claims, Faults, Limits, Order, Report, Space, check};
use quorate_protocol::pool::mutations::{Mutant, Mutation};
use quorate_protocol::pool::{Claim, Options, Pool};
use quorate_quorum::{Arbiters, SiteId, SiteSet};
use quorate_sim::{Contract, SimProtocol};

const ANY: Order = Order::Any { duplicates: 0 };
const UNORDERED: Options = Options { unordered: true, bypass: false, spares: None };

type Pools = Space;

/// Requesters, and other sites that are all arbiters of each of them.
fn apart(requests: &[u32], arbiters: usize, text: &str) -> Pools {
    let n = requests.len() + arbiters;
    let all: SiteSet = SiteId::all(n).skip(requests.len()).collect();
    let claims = Claims::parse::<Pool>(text).unwrap();
    let k = claims.iter().next().unwrap().downcast::<Claim>().units.of as usize;
    let mut requests = requests.to_vec();
    requests.resize(n, 0);
    let arbiters = Arc::new(Arbiters::listed(n, &vec![vec![all]; k]).unwrap());
    Space::new::<Pool>(arbiters, Options::default(), claims, &requests)
}

/// Every site is a requester and an arbiter, with the paper's thresholds.
fn together(requests: &[u32], text: &str) -> Pools {
    let claims = Claims::parse::<Pool>(text).unwrap();
    let k = claims.iter().next().unwrap().downcast::<Claim>().units.of as usize;
    let arbiters = Arc::new(Arbiters::uniform(requests.len(), k).unwrap());
    Space::new::<Pool>(arbiters, Options::default(), claims, requests)
}

fn search<P>(pools: &Pools, options: P::Options) -> Report
where
    P: SimProtocol<Claim = Claim, Quorums = Arc<Arbiters>>,
{
    check(&pools.of::<P>(options), &Limits::default())
}

fn assert_clean(pools: &Pools, options: Options) {
    search::<Pool>(pools, options).assert_clean();
}

/// Undoes one repair, and expects a shortest schedule of this length that breaks this property.
fn assert_breaks(
    undone: Mutation,
    pools: &Pools,
    options: Options,
    (property, steps): (&str, usize),
) {
    assert_clean(pools, options);
    let report = search::<Mutant>(pools, (options, undone));
    let (breach, trace) = report.violation.expect("the repair is needed");
    assert_eq!((breach.property, trace.actions.len()), (property, steps), "{:#?}", trace.lines);
}

#[test]
fn sites_apart_from_their_arbiters_are_clean() {
    for options in [Options::default(), Options { bypass: true, ..Options::default() }] {
        assert_clean(&apart(&[2, 1, 1], 2, "1 of 2, 2 of 2; 2 of 2; 1 of 2"), options);
        assert_clean(&apart(&[1, 1, 1], 2, "1 of 3; 2 of 3; 3 of 3"), options);
        assert_clean(&apart(&[2, 2], 3, "1 of 2, 2 of 2; 2 of 2, 1 of 2"), options);
    }
}

#[test]
fn sites_that_are_all_of_it_are_clean() {
    for text in ["1 of 2; 2 of 2", "1 of 3; 2 of 3; 3 of 3", "1 of 1"] {
        assert_clean(&together(&[1, 1, 1], text), Options::default());
    }
    let two = together(&[2, 1, 1], "1 of 2; 2 of 2");
    assert_clean(&Pools { claims: two.claims.clone().at_once(2), ..two }, Options::default());
}

#[test]
fn giving_up_is_clean() {
    let pools = apart(&[1, 1, 1], 2, "1 of 2; 2 of 2; 1 of 2");
    assert_clean(&Pools { gives_up: 1, ..pools }, Options::default());
}

#[test]
fn messages_may_overtake_each_other_and_come_twice() {
    let pools = Pools { order: ANY, gives_up: 1, ..together(&[1, 1, 1], "1 of 2; 2 of 2") };
    assert_clean(&pools, UNORDERED);
    let order = Order::Any { duplicates: 1 };
    assert_clean(&Pools { order, ..together(&[1, 1, 0], "2 of 2; 1 of 2") }, UNORDERED);
}

#[test]
fn sessions_that_end_are_clean() {
    let pools = together(&[1, 1, 0], "2 of 2; 1 of 2");
    for faults in [
        Faults { lose: 1, ..Faults::NONE },
        Faults { silent: 1, ..Faults::NONE },
        Faults { lose: 1, silent: 1, ..Faults::NONE },
    ] {
        assert_clean(&Pools { faults: Some(faults), ..pools.clone() }, Options::default());
    }
}

/// Never the same unit twice, and every round of names can end.
#[test]
fn units_with_numbers_are_clean() {
    let text = "1 of 2 numbered; 1 of 2 numbered; 2 of 2 numbered";
    assert_clean(&together(&[1, 1, 1], text), Options::default());
    let text = "1 of 3 numbered; 2 of 3 numbered; 1 of 3 numbered";
    assert_clean(&apart(&[1, 1, 1], 2, text), Options::default());
    let faults = Some(Faults { lose: 1, ..Faults::NONE });
    let pools = together(&[1, 1, 0], "2 of 3 numbered; 1 of 3 numbered");
    assert_clean(&Pools { faults, ..pools }, Options::default());
}

#[test]
fn numbers_need_a_round_of_names() {
    let pools = apart(&[1, 1], 2, "1 of 2 numbered");
    assert_breaks(Mutation::Unnamed, &pools, Options::default(), ("exclusion", 10));
}

/// The arbiter is left with more units than it has, and lends them.
#[test]
fn e1_a_cancel_that_crosses_the_release_is_answered() {
    let pools = apart(&[1, 2], 1, "1 of 1");
    assert_breaks(Mutation::E1, &pools, Options::default(), ("units", 13));
}

#[test]
fn e3_two_requests_have_one_ticket() {
    let pools = Pools { gives_up: 1, ..apart(&[2, 1], 1, "1 of 1") };
    assert_breaks(Mutation::E3, &pools, Options::default(), ("units", 9));
}

#[test]
fn e4_a_cancel_overtakes_its_ok() {
    let pools = Pools { order: ANY, ..apart(&[1, 1], 2, "1 of 1") };
    assert_breaks(Mutation::E4, &pools, UNORDERED, ("progress", 9));
}

#[test]
fn e5_units_are_returned_that_were_never_lent() {
    let pools = Pools { gives_up: 1, ..apart(&[1, 1, 1], 1, "1 of 1") };
    assert_breaks(Mutation::E5, &pools, Options::default(), ("units", 10));
}

#[test]
fn n1_a_request_that_does_not_fit_is_passed_by() {
    let pools = apart(&[1, 1, 1], 2, "1 of 2; 2 of 2; 1 of 2");
    assert_breaks(Mutation::N1, &pools, Options::default(), ("progress", 19));
}

#[test]
fn n2_a_restarted_arbiter_lends_at_once() {
    let faults = Some(Faults { crash: 1, ..Faults::NONE });
    let pools = Pools { faults, ..together(&[1, 1, 0], "2 of 2") };
    assert_breaks(Mutation::N2, &pools, Options::default(), ("units", 13));
}

/// Slow, as the scenario `pool/n3_undone` shows, but safe and live.
#[test]
fn n3_giving_up_without_a_new_chance_only_delays() {
    let pools = Pools { gives_up: 1, ..apart(&[1, 1, 1], 2, "1 of 2; 2 of 2; 1 of 2") };
    let report = search::<Mutant>(&pools, (Options::default(), Mutation::N3));
    assert!(report.complete && report.violation.is_none());
}

/// Wasteful, but correct: it sends ok and cancel together.
#[test]
fn n4_lending_without_room_for_all_before_only_wastes() {
    let pools = apart(&[2, 1, 1], 2, "1 of 2, 2 of 2; 2 of 2; 1 of 2");
    let report = search::<Mutant>(&pools, (Options::default(), Mutation::N4));
    assert!(report.complete && report.violation.is_none());
    assert!(report.states > search::<Pool>(&pools, Options::default()).states);
}

#[test]
fn the_repairs_for_sessions_are_needed() {
    let lost = Some(Faults { lose: 1, ..Faults::NONE });
    for (undone, text, breaks) in [
        (Mutation::BothHalves, "2 of 2", ("units", 9)),
        (Mutation::FloorKept, "2 of 2", ("fences grow", 8)),
        (Mutation::DoneKept, "2 of 2; 1 of 2", ("progress", 12)),
    ] {
        let pools = Pools { faults: lost, ..together(&[1, 1, 0], text) };
        assert_breaks(undone, &pools, Options::default(), breaks);
    }
}

/// A claim whose quorum cannot be completed keeps nobody from being served.
#[test]
fn a_claim_without_a_quorum_must_withdraw() {
    let contract = Contract { reopens: false, ..Contract::MENDED };
    let faults = Some(Faults { lose: 1, contract, ..Faults::NONE });
    let pools = Pools { faults, ..together(&[1, 1, 0], "1 of 2; 2 of 2") };
    assert_clean(&pools, Options::default());
    let report = search::<Mutant>(&pools, (Options::default(), Mutation::NoWithdrawal));
    assert_eq!(report.violation.map(|(breach, _)| breach.property), Some("progress"));
}

/// It asks again, and answers to its former try do not count.
#[test]
fn answers_to_a_former_try_must_not_count() {
    let faults = Some(Faults { lose: 1, ..Faults::NONE });
    let pools = Pools { faults, ..together(&[1, 1, 0], "1 of 2 numbered; 2 of 2") };
    assert_breaks(Mutation::TryIgnored, &pools, Options::default(), ("progress", 20));
}
