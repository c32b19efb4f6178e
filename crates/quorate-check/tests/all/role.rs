//! Complete searches of the role lock, and what breaks when a repair is undone. The mutations are
//! listed in `docs/protocols/role.md`.

use std::sync::Arc;

use quorate_check::{Claims, Faults, Limits, Order, Report, SessionlessFaults, Space, check};
use quorate_protocol::role::mutations::{Mutant, Mutation};
use quorate_protocol::role::{Claim, Options, Overrun, RoleLock};
use quorate_quorum::{Kind, Listed, QuorumSystem, build};
use quorate_sim::{Contract, SimProtocol};

/// Two hosts (1 of group a, 2 of f) and two arbiters.
const PAIR: &str = "quorum 1: 3 4\nquorum 2: 3 4";
/// Three hosts (1 of group b, 2 of f, 3 of a) and two arbiters.
const THREE: &str = "quorum 1: 4 5\nquorum 2: 4 5\nquorum 3: 4 5";
/// A claim for each of these three groups.
const GROUPS: &str = "shared b for 4ms; shared f for 4ms; shared a for 4ms";

type Locks = Space;

fn locks(quorums: Arc<dyn QuorumSystem>, requests: &[u32], text: &str) -> Locks {
    let claims = Claims::parse::<RoleLock>(text).unwrap();
    Space::new::<RoleLock>(quorums, Options::default(), claims, requests)
}

/// Hosts and arbiters at different sites.
fn apart(quorums: &str, requests: &[u32], text: &str) -> Locks {
    locks(Arc::new(quorums.parse::<Listed>().unwrap()), requests, text)
}

/// Every site is a host and an arbiter, as in the paper.
fn cyclic(n: usize, requests: &[u32], text: &str) -> Locks {
    locks(build(Kind::Cyclic, n).unwrap(), requests, text)
}

/// Three sites with sessions. Site 2 hosts f, and site 1 hosts b.
fn together(requests: &[u32], faults: Faults) -> Locks {
    let text = "exclusive f for 4ms; shared b for 4ms; exclusive b for 2ms";
    let locks = locks(build(Kind::Majority, 3).unwrap(), requests, text);
    Locks { faults: Some(faults), ..locks }
}

fn any(locks: Locks, duplicates: u32) -> Locks {
    Locks { order: Order::Any { duplicates }, ..locks }
}

fn options(locks: &Locks) -> Options {
    Options { unordered: locks.order != Order::Fifo, ..Options::default() }
}

fn search<P>(locks: &Locks, options: P::Options) -> Report
where
    P: SimProtocol<Claim = Claim, Quorums = Arc<dyn QuorumSystem>>,
{
    check(&locks.of::<P>(options), &Limits::default())
}

fn assert_clean(locks: &Locks, options: Options) {
    search::<RoleLock>(locks, options).assert_clean();
}

/// Undoes one repair, and expects a shortest schedule of this length that breaks this property.
fn assert_breaks(undone: Mutation, locks: &Locks, (property, steps): (&str, usize)) {
    let options = options(locks);
    assert_clean(locks, options);
    let report = search::<Mutant>(locks, (options, undone));
    let (breach, trace) = report.violation.expect("the repair is needed");
    let found = (breach.property, trace.actions.len());
    assert_eq!(found, (property, steps), "{undone}: {:#?}", trace.lines);
}

#[test]
fn groups_that_compete_are_clean() {
    assert_clean(&cyclic(3, &[2, 1, 1], GROUPS), Options::default());
    let remote = "shared f for 4ms; exclusive a for 1ms; shared b for 2ms";
    assert_clean(&cyclic(3, &[1, 1, 1], remote), Options::default());
}

#[test]
fn messages_out_of_order_are_clean() {
    let roles = "exclusive f for 4ms; shared b for 4ms; exclusive b for 2ms";
    let locks = any(cyclic(3, &[1, 1, 1], roles), 0);
    assert_clean(&Locks { gives_up: 1, ..locks.clone() }, options(&locks));
    let twice = any(cyclic(3, &[1, 0, 1], roles), 1);
    assert_clean(&twice, options(&twice));
}

#[test]
fn roles_of_one_group_are_clean() {
    let text = "exclusive b for 1ms; exclusive b for 1ms, shared b for 2ms; shared b for 5ms";
    let locks = cyclic(3, &[1, 2, 1], text);
    assert_clean(&Locks { gives_up: 1, ..locks.clone() }, Options::default());
    let cap = Some(std::time::Duration::from_millis(2));
    assert_clean(&locks, Options { cap, ..Options::default() });
    assert_clean(&locks, Options { extend: true, ..Options::default() });
}

#[test]
fn requests_of_several_groups_are_clean() {
    let text = "exclusive f shared b for 4ms; shared f for 4ms; exclusive b for 2ms";
    assert_clean(&cyclic(3, &[1, 1, 1], text), Options::default());
    let unordered = any(cyclic(3, &[1, 1, 0], text), 0);
    assert_clean(&unordered, options(&unordered));
}

#[test]
fn an_extended_stage_is_clean() {
    let extend = Options { extend: true, ..Options::default() };
    let late = "shared a for 1ms; shared f for 4ms, shared a for 9ms";
    assert_clean(&apart(PAIR, &[2, 2, 0, 0], late), extend);
}

/// Timers may expire at any time: safety does not depend on declared times.
#[test]
fn revoking_is_clean_whatever_the_time() {
    let revoke = Options { overrun: Overrun::Revoke, ..Options::default() };
    let locks = cyclic(3, &[1, 1, 1], "exclusive f for 1ms; exclusive f for 1ms; shared b for 5ms");
    let sessionless = SessionlessFaults { early: 2, ..SessionlessFaults::default() };
    assert_clean(&Locks { sessionless, ..locks }, revoke);
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
        assert_clean(&together(&[1, 0, 1], faults), Options::default());
        assert_clean(&together(&[1, 1, 0], faults), Options::default());
    }
    assert_clean(&together(&[1, 0, 0], Faults { crash: 1, ..Faults::NONE }), Options::default());
}

#[test]
fn the_rules_of_lending_are_needed() {
    let pair = apart(PAIR, &[1, 1, 0, 0], "shared a for 4ms; shared f for 4ms");
    assert_breaks(Mutation::A1, &pair, ("progress", 15));
    assert_breaks(Mutation::A2, &pair, ("progress", 8));
    assert_breaks(Mutation::A19, &cyclic(3, &[1, 1, 1], GROUPS), ("progress", 6));
    let unordered = any(pair, 0);
    assert_breaks(Mutation::A8Ignored, &unordered, ("progress", 9));
    assert_breaks(Mutation::A8Blind, &unordered, ("exclusion", 14));
}

#[test]
fn loans_need_numbers() {
    let three = apart(THREE, &[1, 1, 1, 0, 0], GROUPS);
    assert_breaks(Mutation::A4, &three, ("exclusion", 22));
    assert_breaks(Mutation::A5, &three, ("exclusion", 23));
}

#[test]
fn the_rules_of_exclusive_members_are_needed() {
    let roles = "exclusive b for 1ms; exclusive b for 1ms; shared b for 5ms";
    let locks = cyclic(3, &[1, 1, 1], roles);
    assert_breaks(Mutation::A6, &locks, ("exclusion", 8));
    assert_breaks(Mutation::A7, &locks, ("exclusion", 11));
}

#[test]
fn the_rules_of_processes_are_needed() {
    let claims = "shared f for 4ms; shared a for 4ms";
    let twice = any(apart(PAIR, &[2, 1, 0, 0], claims), 0);
    assert_breaks(Mutation::A8Process, &twice, ("exclusion", 21));
    let gone = Locks { gives_up: 1, ..any(cyclic(3, &[1, 0, 0], "shared f for 4ms"), 0) };
    assert_breaks(Mutation::NoRefusal, &gone, ("vacancy", 7));
    let repeated = any(cyclic(3, &[1, 1, 0], "shared f for 4ms; shared b for 4ms"), 1);
    assert_breaks(Mutation::RepeatRefused, &repeated, ("exclusion", 13));
}

#[test]
fn the_repairs_for_sessions_that_end_are_needed() {
    let locks = together(&[1, 0, 1], Faults { lose: 1, ..Faults::NONE });
    assert_breaks(Mutation::HolderKept, &locks, ("vacancy", 10));
    assert_breaks(Mutation::BothHalves, &locks, ("exclusion", 13));
    assert_breaks(Mutation::StageKept, &locks, ("exclusion", 16));
    assert_breaks(Mutation::FloorKept, &locks, ("fences grow", 14));
    assert_breaks(Mutation::SharedFence, &locks, ("fences grow", 11));
}
