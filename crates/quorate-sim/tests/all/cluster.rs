//! Clusters of whole sites under faults: no property breaks, and holders keep what they should.

use std::time::Duration;

use quorate_protocol::role::Overrun;
use quorate_quorum::{Kind, SiteId, build};
use quorate_session::CallId;
use quorate_sim::cluster::{
    Chronicle, ClaimKind, Event, Fault, Faults, Load, Observer, Outcome, Plan, Tally, run,
};
use quorate_sim::{Setting, Unwatched, site_settings};

const SECOND: u64 = 1_000_000_000;

fn plan(kind: Kind, n: usize) -> Plan {
    Plan::new(build(kind, n).unwrap())
}

fn outcome(plan: &Plan, seed: u64) -> Outcome {
    run(plan, seed, &mut Unwatched)
}

fn assert_clean(plan: &Plan, seeds: impl IntoIterator<Item = u64>) -> Tally {
    let mut sum = Tally::default();
    for seed in seeds {
        let outcome = outcome(plan, seed);
        assert_eq!(outcome.breach, None, "seed {seed}");
        sum.add(&outcome.tally);
    }
    sum
}

#[test]
fn runs_with_all_faults_are_clean() {
    for (kind, n, seeds) in [
        (Kind::Majority, 3, 80),
        (Kind::Majority, 5, 80),
        (Kind::Grid, 9, 20),
        (Kind::Plane, 7, 40),
        (Kind::Tree, 7, 40),
        (Kind::Cyclic, 8, 40),
    ] {
        let sum = assert_clean(&plan(kind, n), 1_000..1_000 + seeds);
        assert!(sum.faults[..15].iter().all(|&count| count > 0), "every fault came: {sum:?}");
        assert!(sum.lost > 0, "some grants were lost: {sum:?}");
        assert!(sum.late_refused > 0, "some callers came too late: {sum:?}");
    }
}

#[test]
fn without_faults_no_grant_is_lost() {
    let plan = Plan { faults: Faults::None, ..plan(Kind::Majority, 5) };
    let sum = assert_clean(&plan, 0..50);
    assert_eq!((sum.lost, sum.lapsed), (0, 0));
    assert!(sum.grants > 10_000);
}

/// Seeds that once broke a property.
#[test]
fn what_seeds_have_found_stays_mended() {
    for (kind, n, seed) in [
        // Several sessions ended in one step; a request entered with expired permissions.
        (Kind::Majority, 3, 30),
        (Kind::Plane, 7, 69),
        // A grant was restored, and got a common deadline that was later than its leases.
        (Kind::Majority, 3, 572),
        // The head of a queue was not asked to wait while the arbiter looked for the permission.
        (Kind::Majority, 9, 100_891),
        // A client that stopped released a broken grant whose holder could still be inside.
        (Kind::Majority, 3, 95),
        (Kind::Majority, 5, 57),
    ] {
        assert_clean(&plan(kind, n), [seed]);
    }
}

#[test]
fn one_seed_gives_one_history_byte_for_byte() {
    let plan = plan(Kind::Majority, 5);
    let history = |seed| {
        let mut chronicle = Chronicle::default();
        let outcome = run(&plan, seed, &mut chronicle);
        (chronicle.0, outcome)
    };
    let first = history(11);
    assert_eq!(first, history(11));
    assert_ne!(first, history(12));
    assert_eq!(first.1, outcome(&plan, 11), "an observer changes nothing");
}

/// All sets of `size` sites that exclude the first.
fn others(n: usize, size: usize) -> Vec<Vec<usize>> {
    let sets = (0_usize..1 << (n - 1)).filter(|set| set.count_ones() as usize == size);
    sets.map(|set| (1..n).filter(|site| set >> (site - 1) & 1 == 1).collect()).collect()
}

/// With majorities of 3, 5 or 7 sites, a holder survives the crash of 1, 2 or 3 others.
#[test]
fn a_holder_survives_every_minority_of_crashes() {
    for (n, size) in [(3, 1), (5, 2), (7, 3)] {
        for dead in others(n, size) {
            let crash = |&site: &usize| {
                let site = SiteId::new(site);
                (5 * SECOND, Fault::Crash { site, reboot: false, lasts: 60 * SECOND })
            };
            let plan = Plan {
                load: Load::OneHolder,
                faults: Faults::None,
                listed: dead.iter().map(crash).collect(),
                // The usual lease, so that no chain of slow packets uses up the time for repair.
                lease: Duration::from_secs(3),
                lasts: Duration::from_secs(20),
                ..plan(Kind::Majority, n)
            };
            let tally = assert_clean(&plan, 0..3);
            assert_eq!((tally.grants, tally.lost, tally.lapsed), (3, 0, 0), "{n}: {dead:?}");
            assert_eq!(tally.faults.iter().sum::<u64>(), 3 * size as u64);
        }
    }
}

/// Measures the time from the crash of a holder's site to the next entry.
#[derive(Default)]
struct Gap {
    crashed: Option<u64>,
    gap: Option<u64>,
}

impl Observer for Gap {
    fn see(&mut self, now: u64, event: &Event<'_>) {
        match event {
            Event::Suffers(Fault::CrashHolder(_)) => self.crashed = Some(now),
            Event::Enters(..) if self.gap.is_none() => {
                self.gap = self.crashed.map(|crashed| now - crashed);
            }
            _ => {}
        }
    }
}

/// The arbiters free their loans a lease after the last renewal, which may be in transit at the
/// crash. Asking the sites to which a permission may have been passed takes at most one more lease,
/// if one of them is the crashed site. The packets' delays come on top.
#[test]
fn a_lock_is_free_again_two_leases_after_its_holders_site_crashed() {
    let plan = Plan {
        load: Load::Drawn { callers: 2, names: 1 },
        faults: Faults::None,
        listed: vec![(8 * SECOND, Fault::CrashHolder(60 * SECOND))],
        lasts: Duration::from_secs(14),
        ..plan(Kind::Majority, 5)
    };
    let mut gaps = Vec::new();
    for seed in 0..300 {
        let mut gap = Gap::default();
        assert_eq!(run(&plan, seed, &mut gap).breach, None, "seed {seed}");
        gaps.extend(gap.gap);
    }
    gaps.sort_unstable();
    assert!(gaps.len() > 150, "a holder's site crashed in {} runs", gaps.len());
    let (median, longest) = (gaps[gaps.len() / 2], gaps[gaps.len() - 1]);
    println!("{} runs: median {median} ns, longest {longest} ns", gaps.len());
    assert!(longest <= 2 * SECOND + SECOND / 2, "{longest}");
}

#[test]
fn callers_that_wait_for_nobody_leave_nothing_behind() {
    let plan = Plan { no_wait: true, ..plan(Kind::Majority, 5) };
    let sum = assert_clean(&plan, 0..60);
    assert!(sum.denied.get("busy").is_some_and(|&count| count > 100), "{sum:?}");
}

/// The protocols of pools, by name.
const POOLS: [&str; 2] = ["ledger", "pool"];

/// The same plan, with locks of this protocol.
fn with_protocol(plan: Plan, protocol: &str) -> Plan {
    let (claims, settings) = site_settings(protocol, &[]).unwrap();
    Plan { claims, settings, ..plan }
}

#[test]
fn pools_are_never_overdrawn_whatever_happens() {
    for (pool, (sites, seeds)) in POOLS
        .into_iter()
        .flat_map(|pool| [(1, 0..10), (3, 0..60), (5, 0..60), (7, 0..20)].map(|of| (pool, of)))
    {
        let plan = with_protocol(Plan::new(build(Kind::Majority, sites).unwrap()), pool);
        for seed in seeds {
            let outcome = run(&plan, seed, &mut Unwatched);
            assert_eq!(outcome.breach, None, "{pool}, {sites} sites, seed {seed}");
            assert!(outcome.tally.grants > 0, "{pool}, {sites} sites, seed {seed}");
        }
    }
}

/// Whole sites send the ledgers of small pools in changes too, and on other quorums.
#[test]
fn ledger_pools_are_never_overdrawn_on_any_quorums() {
    let whole = [Setting { name: "whole".to_owned(), value: "0".to_owned() }];
    let (claims, settings) = site_settings("ledger", &whole).unwrap();
    for (kind, n) in [(Kind::Majority, 3), (Kind::Grid, 4), (Kind::Plane, 7), (Kind::Tree, 7)] {
        let plan = Plan { claims, settings, ..plan(kind, n) };
        let sum = assert_clean(&plan, 0..15);
        assert!(sum.grants > 500, "{kind:?}: {sum:?}");
    }
}

/// They learn that the pool is busy by an arbiter's *wait*, when asked to give units back, or at
/// the door.
#[test]
fn callers_of_a_pool_that_wait_for_nobody_leave_nothing_behind() {
    for pool in POOLS {
        let plan = Plan { no_wait: true, ..plan(Kind::Majority, 5) };
        let sum = assert_clean(&with_protocol(plan, pool), 0..60);
        let denied = sum.denied.get("busy").is_some_and(|&count| count > 100);
        assert!(denied, "{pool}: {sum:?}");
    }
}

/// Followers are inside by the delegation of one site; none relies on it after its end.
#[test]
fn groups_are_never_mixed_whatever_happens() {
    for (sites, seeds) in [(1, 0..10), (3, 0..60), (5, 0..60), (7, 0..20)] {
        let quorums = build(Kind::Majority, sites).unwrap();
        let plan = Plan { claims: ClaimKind::Group, ..Plan::new(quorums) };
        for seed in seeds {
            let outcome = run(&plan, seed, &mut Unwatched);
            assert_eq!(outcome.breach, None, "{sites} sites, seed {seed}");
            assert!(outcome.tally.grants > 0, "{sites} sites, seed {seed}");
        }
    }
}

/// Members are inside by the delegation of the site that hosts their stage. Some stay longer than
/// declared, and are told to leave or tolerated.
#[test]
fn roles_are_never_mixed_whatever_happens() {
    for overrun in [Overrun::Tolerate, Overrun::Revoke] {
        for (sites, seeds) in [(1, 0..10), (3, 0..60), (5, 0..60), (7, 0..20)] {
            let quorums = build(Kind::Majority, sites).unwrap();
            let mut plan = Plan { claims: ClaimKind::Role, ..Plan::new(quorums) };
            plan.settings.role.overrun = overrun;
            for seed in seeds {
                let outcome = run(&plan, seed, &mut Unwatched);
                assert_eq!(outcome.breach, None, "{overrun:?}, {sites} sites, seed {seed}");
                assert!(outcome.tally.grants > 0, "{sites} sites, seed {seed}");
            }
        }
    }
}

#[test]
fn nobody_loses_a_role_while_nothing_goes_wrong() {
    for sites in [3, 5, 9] {
        let claims = ClaimKind::Role;
        let plan = Plan { faults: Faults::None, claims, ..plan(Kind::Majority, sites) };
        let sum = assert_clean(&plan, 0..20);
        assert_eq!(sum.lost, 0, "{sites} sites");
        assert!(sum.grants > 1_000, "{sum:?}");
    }
}

#[test]
fn callers_of_a_role_that_wait_for_nobody_leave_nothing_behind() {
    let plan = Plan { no_wait: true, claims: ClaimKind::Role, ..plan(Kind::Majority, 5) };
    let sum = assert_clean(&plan, 0..60);
    assert!(sum.denied.get("busy").is_some_and(|&count| count > 100), "{sum:?}");
}

/// A validity that is delegated over three hops has not expired when it arrives, if no packet takes
/// longer than a fortieth of a lease (`docs/guarantees.md`).
#[test]
fn nobody_loses_a_group_while_nothing_goes_wrong() {
    for sites in [3, 5, 9] {
        let claims = ClaimKind::Group;
        let plan = Plan { faults: Faults::None, claims, ..plan(Kind::Majority, sites) };
        let (mut in_time, mut slow) = (Tally::default(), Tally::default());
        for seed in 0..60 {
            let tally = assert_clean(&plan, [seed]);
            // Timers are late by less than that in every run.
            let is_slow = u128::from(tally.packet_ns_max) > plan.lease.as_nanos() / 40;
            if is_slow { slow.add(&tally) } else { in_time.add(&tally) }
        }
        assert_eq!(in_time.lost, 0, "{sites} sites");
        assert!(in_time.grants > 10_000, "{in_time:?}");
        assert!(slow.lost * 1_000 < slow.grants, "{sites} sites: {} lost", slow.lost);
    }
}

#[test]
fn callers_of_a_group_that_wait_for_nobody_leave_nothing_behind() {
    let plan = Plan { no_wait: true, claims: ClaimKind::Group, ..plan(Kind::Majority, 5) };
    let sum = assert_clean(&plan, 0..60);
    assert!(sum.denied.get("busy").is_some_and(|&count| count > 100), "{sum:?}");
}

/// Tokens are lost and regenerated; followers, and sites that receive a token, stop in time.
#[test]
fn groups_by_token_are_never_mixed_whatever_happens() {
    for (sites, seeds) in [(1, 0..20), (2, 0..20), (3, 0..100), (5, 0..100), (7, 0..20)] {
        let plan = Plan { claims: ClaimKind::Token, ..plan(Kind::Majority, sites) };
        let sum = assert_clean(&plan, seeds);
        assert!(sum.grants > 500 && sum.regenerated > 20, "{sites} sites: {sum:?}");
    }
}

/// The promise of an epoch needs only intersecting quorums, of any system.
#[test]
fn tokens_are_promised_by_any_quorums() {
    for (kind, n) in [(Kind::Grid, 9), (Kind::Plane, 7), (Kind::Tree, 7)] {
        let sum = assert_clean(&Plan { claims: ClaimKind::Token, ..plan(kind, n) }, 0..20);
        assert!(sum.regenerated > 20, "{kind:?}: {sum:?}");
    }
}

#[test]
fn nobody_loses_a_group_by_token_while_nothing_goes_wrong() {
    for sites in [3, 5, 9] {
        let claims = ClaimKind::Token;
        let plan = Plan { faults: Faults::None, claims, ..plan(Kind::Majority, sites) };
        let sum = assert_clean(&plan, 0..20);
        assert_eq!(sum.lost, 0, "{sites} sites");
        assert!(sum.grants > 1_000, "{sum:?}");
    }
}

#[test]
fn callers_of_a_group_by_token_that_wait_for_nobody_leave_nothing_behind() {
    let plan = Plan { no_wait: true, claims: ClaimKind::Token, ..plan(Kind::Majority, 5) };
    let sum = assert_clean(&plan, 0..60);
    assert!(sum.denied.get("busy").is_some_and(|&count| count > 100), "{sum:?}");
}

/// A follower had declined a question, and was admitted by the next one when the epoch that it had
/// promised in between was taken back.
#[test]
fn what_seeds_have_found_of_tokens_stays_mended() {
    let plan = Plan { claims: ClaimKind::Token, ..plan(Kind::Majority, 7) };
    assert_clean(&plan, [885, 1550]);
    // A follower got an end after that of its session at its captain, and stopped before.
    let three = build(Kind::Majority, 3).unwrap();
    assert_clean(&Plan { claims: ClaimKind::Token, ..Plan::new(three) }, [14, 30_844]);
    // Two sites were refused for good, and the others failed each other's attempts.
    let disks = Plan { faults: Faults::Disks, ..self::plan(Kind::Majority, 5) };
    assert_clean(&Plan { claims: ClaimKind::Token, ..disks }, [1_301]);
}

/// Three of five sites, all of which must promise a token, make one in a lasting partition.
#[test]
fn a_token_is_made_while_a_minority_is_cut_off() {
    let cut_off = Fault::Partition {
        from: vec![SiteId::new(3), SiteId::new(4)],
        both_ways: true,
        lasts: 25 * SECOND,
    };
    let plan = Plan {
        claims: ClaimKind::Token,
        faults: Faults::None,
        listed: vec![(2 * SECOND, cut_off)],
        ..plan(Kind::Majority, 5)
    };
    let grants = assert_clean(&plan, 0..40).grants;
    let group = assert_clean(&Plan { claims: ClaimKind::Group, ..plan }, 0..40).grants;
    println!("grants: {grants}, group locks {group}");
    assert!(grants > group * 9 / 10, "{grants}, {group}");
}

/// Remote clients outlive the only site. When it restarts it must wait for their callers, though it
/// never promised a lease to a peer.
#[test]
fn a_site_that_is_alone_waits_for_what_it_has_forgotten() {
    for seed in 0..100 {
        let outcome = outcome(&plan(Kind::Majority, 1), seed);
        assert_eq!(outcome.breach, None, "seed {seed}");
    }
}

/// Whichever sites answer, at any time, they do not call a lock free that a caller holds.
#[test]
fn no_answers_call_a_held_lock_free_whatever_happens() {
    let protocols = ["mutex", "ledger", "pool", "group", "role", "token"];
    for (protocol, (kind, n)) in protocols.into_iter().flat_map(|protocol| {
        [(Kind::Majority, 3), (Kind::Majority, 5), (Kind::Grid, 4)].map(|of| (protocol, of))
    }) {
        let plan = Plan { views: true, ..plan(kind, n) };
        let sum = assert_clean(&with_protocol(plan, protocol), 0..12);
        assert!(sum.grants > 500, "{protocol}: {sum:?}");
    }
}

/// Whether the first caller has lost its grant.
#[derive(Default)]
struct FirstLost(bool);

impl Observer for FirstLost {
    fn see(&mut self, _: u64, event: &Event<'_>) {
        self.0 |= matches!(event, Event::Loses(_, CallId(0), _));
    }
}

/// In how many runs the holder is lost when the sites of a minority crash five seconds after the
/// start, and how many runs there are: three for each such set of sites. Callers wait at every
/// other site.
fn lost_to_crashes(kind: &str, n: usize, size: usize, undone: &[Setting]) -> (u64, u64) {
    let (claims, settings) = site_settings(kind, undone).unwrap();
    let (mut lost, mut runs) = (0, 0);
    for dead in others(n, size) {
        let crash = |&site: &usize| {
            let site = SiteId::new(site);
            (5 * SECOND, Fault::Crash { site, reboot: false, lasts: 60 * SECOND })
        };
        let plan = Plan {
            load: Load::HolderAndWaiters,
            faults: Faults::None,
            listed: dead.iter().map(crash).collect(),
            lease: Duration::from_secs(3),
            lasts: Duration::from_secs(20),
            claims,
            settings,
            ..plan(Kind::Majority, n)
        };
        for seed in 0..3 {
            let mut first = FirstLost::default();
            assert_eq!(run(&plan, seed, &mut first).breach, None, "seed {seed}");
            (lost, runs) = (lost + u64::from(first.0), runs + 1);
        }
    }
    (lost, runs)
}

/// Callers everywhere, holders that stay, and a minority that crashes at any time.
#[test]
fn no_settled_holder_is_lost_to_a_minority_of_crashes() {
    for protocol in ["mutex", "group", "ledger", "pool", "role"] {
        for n in [3, 5, 7] {
            let plan = Plan { faults: Faults::Minority, ..plan(Kind::Majority, n) };
            let sum = assert_clean(&with_protocol(plan, protocol), 0..100);
            assert!(sum.faults[5] + sum.faults[6] >= 100, "sites crashed: {sum:?}");
        }
    }
}

#[test]
fn a_holder_survives_every_minority_of_crashes_while_others_wait_at_every_site() {
    let undone = [Setting { name: "undo".to_owned(), value: "no-spares".to_owned() }];
    for kind in ["mutex", "group", "ledger"] {
        for (n, size) in [(3, 1), (5, 1), (5, 2), (7, 3)] {
            let (lost, runs) = lost_to_crashes(kind, n, size, &[]);
            let (without, _) = lost_to_crashes(kind, n, size, &undone);
            println!("{kind}: {n} sites, {size} crash: {lost} of {runs} lost, {without} without");
            assert_eq!(lost, 0, "{kind}: {n} sites, {size} crash");
            assert!(without > 0 || (kind, n) == ("group", 3), "{kind}: {n} sites, {size} crash");
        }
    }
}
