//! What faults cost: for how long nobody holds a lock that callers wait for.
//!
//! The same faults happen to real processes in torture, docs/torture.md, under the same names.

use std::time::Duration;

use quorate_protocol::FENCE_BLOCK;
use quorate_quorum::{Kind, SiteId, build};
use quorate_sim::Unwatched;
use quorate_sim::cluster::{ClaimKind, Damage, Fault, Faults, Load, Plan, run as run_sites};

use super::measure::seeds;
use super::{Axis, Claim, Finding, Plot, Settings, Sink, rounded};

/// A lease, in nanoseconds.
const LEASE: u64 = 1_000_000_000;

/// How many sites there are.
const SITES: usize = 5;

/// When the fault happens, how long it lasts, and how much longer callers go on than it lasts, in
/// leases.
const BEGINS: u64 = 4;
const LASTS: u64 = 5;
const ENDS: u64 = 10;

/// How long a lock may be free while a quorum answers, in leases: docs/guarantees.md.
const BOUND: f64 = 3.0;

/// How long faults last in the plot, in leases.
const LENGTHS: [u64; 5] = [1, 2, 4, 6, 8];

const KINDS: [(&str, ClaimKind); 5] = [
    ("mutex", ClaimKind::Mutex),
    ("pool", ClaimKind::Pool),
    ("group", ClaimKind::Group),
    ("role", ClaimKind::Role),
    ("token", ClaimKind::Token),
];

/// A kind of fault.
struct Nemesis {
    /// Its name in torture.
    name: &'static str,
    about: &'static str,
    /// Whether the sites that answer each other in time contain a quorum throughout, and their
    /// disks are quick.
    is_bounded: bool,
    /// The faults, if the first site that suffers is this one and they last so long.
    faults: fn(usize, u64) -> Vec<Fault>,
}

/// The site that is so many places after `first`.
fn site(first: usize, places: usize) -> SiteId {
    SiteId::new((first + places) % SITES)
}

fn crash(site: SiteId, lasts: u64) -> Fault {
    Fault::Crash { site, reboot: false, lasts }
}

fn partition(from: Vec<SiteId>, both_ways: bool, lasts: u64) -> Vec<Fault> {
    vec![Fault::Partition { from, both_ways, lasts }]
}

const NEMESES: [Nemesis; 15] = [
    Nemesis { name: "none", about: "no fault", is_bounded: true, faults: |_, _| Vec::new() },
    Nemesis {
        name: "kill",
        about: "a site crashes",
        is_bounded: true,
        faults: |first, lasts| vec![crash(site(first, 0), lasts)],
    },
    Nemesis {
        name: "kill-holder",
        about: "the site of the holder crashes",
        is_bounded: true,
        faults: |_, lasts| vec![Fault::CrashHolder(lasts)],
    },
    Nemesis {
        name: "kill-minority",
        about: "two sites crash",
        is_bounded: true,
        faults: |first, lasts| [0, 1].map(|places| crash(site(first, places), lasts)).to_vec(),
    },
    Nemesis {
        name: "kill-all",
        about: "all sites crash",
        is_bounded: false,
        faults: |_, lasts| SiteId::all(SITES).map(|site| crash(site, lasts)).collect(),
    },
    Nemesis {
        name: "restart",
        about: "a site is told to stop",
        is_bounded: true,
        faults: |first, lasts| {
            vec![Fault::Drain { site: site(first, 0), within: 3 * LEASE, lasts }]
        },
    },
    Nemesis {
        name: "pause",
        about: "a site is paused",
        is_bounded: true,
        faults: |first, lasts| vec![Fault::Pause(site(first, 0), lasts)],
    },
    Nemesis {
        name: "isolate",
        about: "a site is cut off from the others",
        is_bounded: true,
        faults: |first, lasts| partition(vec![site(first, 0)], true, lasts),
    },
    Nemesis {
        name: "minority",
        about: "two sites are cut off from three",
        is_bounded: true,
        faults: |first, lasts| partition(vec![site(first, 0), site(first, 1)], true, lasts),
    },
    Nemesis {
        name: "mute",
        about: "a site receives packets, and its own do not arrive",
        is_bounded: true,
        faults: |first, lasts| partition(vec![site(first, 0)], false, lasts),
    },
    Nemesis {
        name: "deaf",
        about: "a site receives no packets, and its own arrive",
        is_bounded: true,
        faults: |first, lasts| {
            partition((1..SITES).map(|places| site(first, places)).collect(), false, lasts)
        },
    },
    Nemesis {
        name: "ring",
        about: "each site reaches its two neighbours only",
        is_bounded: true,
        faults: |_, lasts| {
            let cut = |first| Fault::CutLink(site(first, 0), site(first, 2), lasts);
            (0..SITES).map(cut).collect()
        },
    },
    Nemesis {
        name: "delay",
        about: "packets take twenty times as long",
        is_bounded: false,
        faults: |_, lasts| vec![Fault::SlowPackets(lasts)],
    },
    Nemesis {
        name: "slow-disk",
        about: "the disks of three sites are slow",
        is_bounded: false,
        faults: |first, lasts| {
            [0, 1, 2].map(|places| Fault::SlowDisk(site(first, places), lasts)).to_vec()
        },
    },
    Nemesis {
        name: "wipe",
        about: "a site starts with an empty folder, and is refused",
        is_bounded: true,
        faults: |first, lasts| {
            vec![Fault::Disk { site: site(first, 0), damage: Damage::Wiped, lasts }]
        },
    },
];

/// Each fault with each kind of lock; then how the length of a fault matters.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    for nemesis in &NEMESES {
        for (name, claims) in KINDS {
            let gaps = gaps(settings, nemesis, claims, LASTS);
            let longest = gaps.last().copied().unwrap_or_default();
            let median = rounded(gaps[gaps.len() / 2]);
            let condition = format!(
                "{}, {SITES} sites, two callers each for one lock, {} runs",
                nemesis.about,
                gaps.len()
            );
            let row = format!("{}: {name}", nemesis.name);
            let note = format!("the longest of a run is {median} in the median");
            sink(bound(nemesis).beside(row, condition, (longest, "leases"), &note));
        }
    }
    sink(Finding::Plot(plot(settings)));
}

/// What is promised.
fn bound(nemesis: &Nemesis) -> Claim {
    if nemesis.is_bounded {
        Claim::at_most("3 leases", BOUND)
    } else {
        Claim::at_most("the fault and 3 leases", LASTS as f64 + BOUND)
    }
}

/// The longest gap of each run, in leases, the shortest first.
fn gaps(settings: Settings, nemesis: &Nemesis, claims: ClaimKind, lasts: u64) -> Vec<f64> {
    let runs = if settings.quick { 4 } else { 60 };
    let mut gaps: Vec<f64> =
        seeds(settings.seed, runs).map(|seed| gap(nemesis, claims, seed, lasts)).collect();
    gaps.sort_by(f64::total_cmp);
    gaps
}

/// The longest time in a run in which a caller waited and nobody was inside, in leases.
fn gap(nemesis: &Nemesis, claims: ClaimKind, seed: u64, lasts: u64) -> f64 {
    let first = usize::try_from(seed % SITES as u64).expect("it is small");
    let faults = (nemesis.faults)(first, lasts * LEASE).into_iter();
    let quorums = build(Kind::Majority, SITES).expect("there are such majorities");
    let plan = Plan {
        lease: Duration::from_nanos(LEASE),
        lasts: Duration::from_nanos((ENDS + lasts) * LEASE),
        load: Load::Drawn { callers: 2, names: 1 },
        claims,
        faults: Faults::None,
        // As at real sites. With the small blocks that a seed may draw, ceilings are used up within
        // milliseconds, and grants wait for the disk.
        fence_block: Some(FENCE_BLOCK),
        listed: faults.map(|fault| (BEGINS * LEASE, fault)).collect(),
        ..Plan::new(quorums)
    };
    let outcome = run_sites(&plan, seed, &mut Unwatched);
    assert_eq!(outcome.breach, None, "{}, seed {seed}", nemesis.name);
    outcome.tally.gap_ns_max as f64 / LEASE as f64
}

/// The gap as the site of the holder stays down for longer.
fn plot(settings: Settings) -> Plot {
    let condition = "the site of the holder crashes; the longest gap of a run, in the median";
    let [x, y] = ["leases that it is down", "leases without a holder"].map(Axis::even);
    let mut plot = Plot::new("For how long nobody holds the lock", condition, x, y);
    let nemesis = NEMESES.iter().find(|nemesis| nemesis.name == "kill-holder");
    let nemesis = nemesis.expect("it is in the list");
    for lasts in LENGTHS {
        for (name, claims) in KINDS {
            let gaps = gaps(settings, nemesis, claims, lasts);
            plot.measured(name, lasts as f64, gaps[gaps.len() / 2]);
        }
    }
    plot
}
