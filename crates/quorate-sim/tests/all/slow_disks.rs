//! A crash while disks are slow: no grant waits for a disk.

use std::time::Duration;

use quorate_protocol::FENCE_BLOCK;
use quorate_quorum::{Kind, SiteId, build};
use quorate_sim::Unwatched;
use quorate_sim::cluster::{ClaimKind, Fault, Faults, Load, Plan, Tally, run};
use quorate_sim::{Setting, site_settings};

const SECOND: u64 = 1_000_000_000;

/// Five sites; so many of them have slow disks from the start, on which a write takes up to two
/// leases. The site of a holder crashes, or of any other caller.
fn plan(claims: ClaimKind, lease: u64, slow: usize, crash: Fault) -> Plan {
    let second = SECOND * lease;
    let slow_disks = (0..slow).map(|site| Fault::SlowDisk(SiteId::new(site), 60 * second));
    let listed = slow_disks.map(|fault| (4 * second, fault));
    Plan {
        load: Load::Drawn { callers: 6, names: 8 },
        claims,
        faults: Faults::None,
        fence_block: Some(FENCE_BLOCK),
        listed: listed.chain([(8 * second, crash)]).collect(),
        lease: Duration::from_secs(lease),
        lasts: Duration::from_secs(14 * lease),
        ..Plan::new(build(Kind::Majority, 5).unwrap())
    }
}

/// The longest time without a holder in 40 runs, in hundredths of a lease.
fn longest_gap(claims: ClaimKind, lease: u64, slow: usize, crash: &Fault) -> u64 {
    let plan = plan(claims, lease, slow, crash.clone());
    let gap = |seed| {
        let outcome = run(&plan, seed, &mut Unwatched);
        assert_eq!(outcome.breach, None, "seed {seed}");
        outcome.tally.gap_ns_max * 100 / (SECOND * lease)
    };
    (0..40).map(gap).max().unwrap_or_default()
}

/// One crash ends the sessions of one site, which held several locks: all of them together take one
/// block of fences, and there are more in hand.
#[test]
fn after_a_crash_no_lock_waits_for_a_slow_disk() {
    let kinds = [ClaimKind::Mutex, ClaimKind::Pool, ClaimKind::Group, ClaimKind::Role];
    let other = Fault::Crash { site: SiteId::new(4), reboot: true, lasts: 60 * SECOND };
    for claims in kinds {
        for (lease, crash) in
            [(1, Fault::CrashHolder(60 * SECOND)), (1, other.clone()), (3, other.clone())]
        {
            let usual = longest_gap(claims, lease, 0, &crash);
            for slow in [1, 3, 5] {
                let gap = longest_gap(claims, lease, slow, &crash);
                println!("{claims:?}, {lease} s, {crash}: {slow} slow disks: {gap}, {usual}");
                assert!(gap <= usual.max(200), "{claims:?}, {slow} slow disks: {gap}, {usual}");
            }
        }
    }
}

/// The counters of a few runs in which sites crash that hold many locks, all disks being slow.
fn after_busy_sites_crash(undone: Option<&str>) -> Tally {
    let undo = |value: &str| Setting { name: "undo".to_owned(), value: value.to_owned() };
    let undone: Vec<Setting> = undone.map(undo).into_iter().collect();
    let (claims, settings) = site_settings("mutex", &undone).unwrap();
    let slow_disks = SiteId::all(5).map(|site| (SECOND, Fault::SlowDisk(site, 60 * SECOND)));
    let plan = Plan {
        claims,
        settings,
        load: Load::Drawn { callers: 50, names: 250 },
        faults: Faults::Minority,
        fence_block: Some(FENCE_BLOCK),
        listed: slow_disks.collect(),
        lasts: Duration::from_secs(12),
        tolerates: Some("survival"), // it does not count on slow disks
        ..Plan::new(build(Kind::Majority, 5).unwrap())
    };
    let mut sum = Tally::default();
    for seed in 0..6 {
        let outcome = run(&plan, seed, &mut Unwatched);
        assert_eq!(outcome.breach, None, "seed {seed}");
        sum.add(&outcome.tally);
    }
    sum
}

/// If each of the locks took a block of its own, the blocks in hand would not last, and grants
/// would wait for the disks: `ended_ceil` in `quorate-protocol`.
#[test]
fn all_locks_of_a_lost_site_take_one_block_of_fences() {
    let [with, without] = [None, Some("own-blocks")].map(after_busy_sites_crash);
    for tally in [&with, &without] {
        println!("{} writes, gap {}", tally.disk_writes, tally.gap_ns_max * 100 / SECOND);
        println!("{} lost of {}", tally.lost, tally.grants);
    }
    assert!(without.gap_ns_max > 2 * with.gap_ns_max, "{without:?}");
    assert!(without.disk_writes > with.disk_writes, "{without:?}");
}
