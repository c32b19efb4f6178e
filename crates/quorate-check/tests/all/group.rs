//! Complete searches of the group lock, and what breaks when a repair is undone. The errata are
//! listed in `docs/protocols/group.md`.

use std::sync::Arc;

use quorate_check::{Claims, Faults, Limits, Order, Report, Space, check};
use quorate_protocol::group::mutations::{Mutant, Mutation};
use quorate_protocol::group::{Choice, Claim, GroupLock, Options};
use quorate_quorum::{Kind, Listed, QuorumSystem, build};
use quorate_sim::{Contract, SimProtocol};

const ONE_MANAGER: &str = "quorum 2: 1\nquorum 3: 1\nquorum 4: 1";
const TWO_OF_THREE: &str = "quorum 4: 1 2\nquorum 5: 2 3\nquorum 6: 1 3";

type Locks = Space;

fn locks(quorums: Arc<dyn QuorumSystem>, requests: &[u32], text: &str) -> Locks {
    let claims = Claims::parse::<GroupLock>(text).unwrap();
    Space::new::<GroupLock>(quorums, Options::default(), claims, requests)
}

/// Requesters and managers at different sites. Sites without requests are managers.
fn apart(quorums: &str, requests: &[u32], text: &str) -> Locks {
    locks(Arc::new(quorums.parse::<Listed>().unwrap()), requests, text)
}

/// Three sites, each a requester and a manager.
fn together(requests: &[u32], text: &str, faults: Faults) -> Locks {
    let locks = locks(build(Kind::Majority, 3).unwrap(), requests, text);
    Locks { faults: Some(faults), ..locks }
}

fn search<P>(locks: &Locks, options: P::Options) -> Report
where
    P: SimProtocol<Claim = Claim, Quorums = Arc<dyn QuorumSystem>>,
{
    check(&locks.of::<P>(options), &Limits::default())
}

fn assert_clean(locks: &Locks, options: Options) {
    search::<GroupLock>(locks, options).assert_clean();
}

/// Undoes one repair, and expects a shortest schedule of this length that breaks this property.
fn assert_breaks(undone: Mutation, locks: &Locks, (property, steps): (&str, usize)) {
    assert_clean(locks, Options::default());
    let report = search::<Mutant>(locks, (Options::default(), undone));
    let (breach, trace) = report.violation.expect("the repair is needed");
    assert_eq!((breach.property, trace.actions.len()), (property, steps), "{:#?}", trace.lines);
}

/// All assignments of four sets of groups to three requesters, and so all orders of priority.
fn all_claims() -> impl Iterator<Item = [&'static str; 3]> {
    const SETS: [&str; 4] = ["a", "b", "a b", "b c"];
    SETS.into_iter().flat_map(|one| {
        SETS.into_iter().flat_map(move |two| SETS.into_iter().map(move |three| [one, two, three]))
    })
}

#[test]
fn one_manager_is_clean() {
    for [one, two, three] in all_claims() {
        let text = format!("a; {one}; {two}; {three}");
        let locks = apart(ONE_MANAGER, &[0, 1, 1, 1], &text);
        assert_clean(&Locks { gives_up: 1, ..locks }, Options::default());
    }
    let twice = apart(ONE_MANAGER, &[0, 2, 2, 2], "a; a; b; a b");
    assert_clean(&twice, Options::default());
}

#[test]
fn two_of_three_managers_are_clean() {
    for text in ["a; a; a; a; b; a b", "a; a; a; b c; a b; a"] {
        let locks = apart(TWO_OF_THREE, &[0, 0, 0, 1, 1, 1], text);
        assert_clean(&locks, Options::default());
        let choice = Choice::MostWaiting;
        assert_clean(&locks, Options { choice, ..Options::default() });
    }
}

/// A limit makes compatible callers wait; all properties hold with it.
#[test]
fn a_limit_is_clean() {
    let limit = Some(std::time::Duration::ZERO);
    let locks = apart(ONE_MANAGER, &[0, 2, 1, 1], "a; a; b; a b");
    assert_clean(&locks, Options { limit, ..Options::default() });
}

#[test]
fn several_claims_of_a_site_are_clean() {
    let locks = apart(ONE_MANAGER, &[0, 3, 1, 0], "a; a, a b, b; b");
    let claims = locks.claims.clone().at_once(3);
    assert_clean(&Locks { claims, gives_up: 1, ..locks }, Options::default());
}

#[test]
fn sessions_that_end_are_clean() {
    for faults in [
        Faults { lose: 1, ..Faults::NONE },
        Faults { silent: 1, ..Faults::NONE },
        Faults {
            lose: 1,
            contract: Contract { reopens: false, ..Contract::MENDED },
            ..Faults::NONE
        },
        Faults {
            crash: 1,
            contract: Contract { restarts: false, ..Contract::MENDED },
            ..Faults::NONE
        },
    ] {
        assert_clean(&together(&[1, 1, 0], "a; a b", faults), Options::default());
        assert_clean(&together(&[1, 1, 0], "a; b", faults), Options::default());
    }
}

#[test]
fn e1_a_finished_request_counts_as_old() {
    let locks = apart("quorum 2: 1", &[0, 2], "a");
    assert_breaks(Mutation::E1, &locks, ("progress", 9));
}

#[test]
fn e3_a_manager_compares_sites() {
    let locks = apart(ONE_MANAGER, &[0, 2, 1, 1], "a; a; a; b");
    assert_breaks(Mutation::E3, &Locks { gives_up: 1, ..locks }, ("vacancy", 15));
}

#[test]
fn e4_an_answer_names_no_request() {
    let locks = apart(TWO_OF_THREE, &[0, 0, 0, 2, 1, 1], "a; a; a; a; a; b");
    assert_breaks(Mutation::E4, &locks, ("exclusion", 30));
}

#[test]
fn e5_messages_overtake_each_other() {
    let locks = apart("quorum 3: 1 2\nquorum 4: 2", &[0, 0, 1, 1], "a; a; a; b");
    assert_clean(&locks, Options::default());
    let any = Locks { order: Order::Any { duplicates: 0 }, ..locks };
    let report = search::<GroupLock>(&any, Options::default());
    let (breach, trace) = report.violation.expect("the order is needed");
    assert_eq!((breach.property, trace.actions.len()), ("contract", 7), "{:#?}", trace.lines);
}

#[test]
fn e6_a_manager_frees_its_vote_at_once() {
    let locks = apart(TWO_OF_THREE, &[0, 0, 0, 1, 1, 1], "a; a; a; a; b; a");
    assert_breaks(Mutation::E6, &locks, ("exclusion", 17));
}

#[test]
fn e10_a_lost_holder_is_ignored() {
    let locks = together(&[1, 1, 0], "a; b", Faults { lose: 1, ..Faults::NONE });
    assert_breaks(Mutation::E10, &locks, ("vacancy", 7));
}

#[test]
fn the_repairs_for_sessions_are_needed() {
    let lose = Faults { lose: 1, ..Faults::NONE };
    let crash = Faults { crash: 1, ..Faults::NONE };
    for (undone, locks, breaks) in [
        (Mutation::BothHalves, together(&[1, 1, 0], "a; b", lose), ("contract", 5)),
        (Mutation::FloorKept, together(&[1, 1, 0], "a; b", lose), ("fences grow", 8)),
        (Mutation::OldRight, together(&[1, 1, 1], "a; a; b", lose), ("exclusion", 13)),
        (Mutation::NoQuarantine, together(&[1, 1, 0], "a; b", crash), ("exclusion", 13)),
    ] {
        assert_breaks(undone, &locks, breaks);
    }
}
