//! Manabe & Tajima: quorums for h of k units, and what they save.

use std::collections::BTreeMap;
use std::sync::Arc;

use quorate_protocol::pool::{Claim, Grant, Options, Pool, Units};
use quorate_protocol::{ClaimId, SiteId, Tick};
use quorate_quorum::{ArbiterKind, Arbiters};
use quorate_sim::random::{Delay, Plan, Span, T, TimedObserver};
use quorate_sim::{Caller, Claims, Event};

use super::measure::{seeds, served, share};
use super::{Axis, Claim as Claimed, Finding, Plot, Settings, Sink};

/// A family, sites, units, and the sizes of its quorums for 1, 2, … units.
type Sizes = (ArbiterKind, usize, usize, &'static [usize], &'static str);

const FORMULA: &str = "kn div (k + h) + 1";

/// The sizes that the paper and its catalogue give.
const SIZES: [Sizes; 11] = [
    (ArbiterKind::Uniform, 9, 3, &[7, 6, 5], FORMULA),
    (ArbiterKind::Uniform, 64, 3, &[49, 39, 33], FORMULA),
    (ArbiterKind::Uniform, 100, 5, &[84, 72, 63, 56, 51], FORMULA),
    (ArbiterKind::Improved, 9, 3, &[7, 5, 5], ""),
    (ArbiterKind::Improved, 100, 5, &[84, 72, 57, 51, 51], ""),
    (ArbiterKind::Cube, 27, 2, &[19, 19], ""),
    (ArbiterKind::Cube, 16, 3, &[15, 15, 8], ""),
    (ArbiterKind::Cube, 81, 3, &[65, 65, 21], ""),
    (ArbiterKind::Space, 15, 2, &[7, 7], ""),
    (ArbiterKind::Space, 31, 3, &[15, 7, 7], ""),
    (ArbiterKind::Cyclic, 13, 2, &[7, 4], ""),
];

/// Sites and units of the clusters in which messages are counted.
const CLUSTERS: [(usize, usize); 5] = [(9, 3), (16, 3), (16, 4), (31, 3), (64, 3)];

/// Sizes, then messages and units in use of a mix of requests.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let mut plots = plots(settings);
    for sizes in SIZES {
        of_size(sizes, sink, &mut plots[0]);
    }
    optimal(sink);
    let clusters = if settings.quick { &CLUSTERS[..2] } else { &CLUSTERS[..] };
    for &(n, k) in clusters {
        messages(settings, (n, k), sink, &mut plots[1]);
    }
    for think in [0, 5, 20, 80, 320] {
        in_use(settings, think, sink, &mut plots[2]);
    }
    for plot in plots {
        sink(Finding::Plot(plot));
    }
}

fn plots(settings: Settings) -> [Plot; 3] {
    let mix = condition(settings, 200);
    let busy = condition(settings, 0).replace("think up to 0T, ", "");
    let (units, sites) = (Axis::even("units asked for"), Axis::even("sites N"));
    [
        Plot::new("Size of quorums", "100 sites, 5 units", units, Axis::even("sites")),
        Plot::new("Messages, 3 units", &mix, sites, Axis::even("messages for a grant")),
        Plot::new(
            "Units in use, 9 sites, 3 units",
            &busy,
            Axis::even("think up to, in T"),
            Axis::even("units"),
        ),
    ]
}

pub(super) fn runs(settings: Settings) -> u64 {
    if settings.quick { 20 } else { 100 }
}

pub(super) fn condition(settings: Settings, think: u64) -> String {
    format!(
        "each site asks twice, for 1, 2, … units in turn, think up to {think}T, inside up to 3T, \
         exponential delays, {} runs",
        runs(settings)
    )
}

fn of_size((kind, n, k, sizes, text): Sizes, sink: Sink<'_>, plot: &mut Plot) {
    let arbiters = kind.build(n, k).expect("the catalogue has it");
    for (h, &size) in (1..).zip(sizes) {
        let measured = arbiters.of(h).expect("up to k units").max_size() as f64;
        let name = format!("{kind} n={n} k={k} h={h}: size");
        let condition = "the largest quorum in minimal form".to_owned();
        sink(Claimed::exact(text, size as f64).beside(name, condition, (measured, "sites"), ""));
        if (n, k) == (100, 5) {
            plot.measured(kind.name(), h as f64, measured);
        }
    }
}

/// The paper calls its thresholds an optimal generalization.
fn optimal(sink: Sink<'_>) {
    for (n, k, h) in [(9, 3, 2), (64, 3, 2), (100, 5, 3), (100, 5, 4), (100, 4, 2)] {
        let [uniform, improved] = [ArbiterKind::Uniform, ArbiterKind::Improved]
            .map(|kind| kind.build(n, k).and_then(|found| Ok(found.of(h)?.min_size() as f64)))
            .map(|size| size.expect("thresholds exist for all"));
        let name = format!("smallest threshold n={n} k={k} h={h}");
        let condition = "no other threshold is larger for it".to_owned();
        let note = if k % h == 0 { "" } else { "h does not divide k" };
        let optimal = Claimed::at_least("uniform", uniform);
        sink(optimal.beside(name, condition, (improved, "sites"), note));
    }
}

/// Messages for a grant, beside a plain arbiter of the same kind.
fn messages(settings: Settings, (n, k): (usize, usize), sink: Sink<'_>, plot: &mut Plot) {
    let kinds = [
        (ArbiterKind::Uniform, ArbiterKind::Plain),
        (ArbiterKind::Improved, ArbiterKind::Plain),
        (ArbiterKind::Cube, ArbiterKind::PlainCube),
        (ArbiterKind::ImprovedCube, ArbiterKind::PlainCube),
        (ArbiterKind::Space, ArbiterKind::Plain),
    ];
    let cost = |kind: ArbiterKind| {
        let arbiters = kind.build(n, k).expect("the family takes any number of sites");
        let bound = (1..=k).map(|h| {
            let size = arbiters.of(h).map_or(0, |of| of.max_size());
            ((3 * h + 3) * size) as f64
        });
        let bound = bound.sum::<f64>() / k as f64;
        (mixed(settings, arbiters, 200, &mut InUse::default()), bound)
    };
    for (kind, plain) in kinds {
        let ((messages, bound), (of_plain, _)) = (cost(kind), cost(plain));
        let claim = Claimed::at_most(plain.name(), of_plain);
        let name = format!("{kind} n={n} k={k}: messages");
        sink(claim.beside(name, condition(settings, 200), (messages, "messages"), ""));
        let claim = Claimed::at_most("(3h + 3)s in the mean", bound);
        let name = format!("{kind} n={n} k={k}: messages at most");
        sink(claim.beside(name, condition(settings, 200), (messages, "messages"), ""));
        if k == 3 {
            plot.measured(kind.name(), n as f64, messages);
            if matches!(kind, ArbiterKind::Uniform | ArbiterKind::Cube) {
                plot.measured(plain.name(), n as f64, of_plain);
            }
        }
    }
}

/// How many units are out on average while any is, as the load falls.
fn in_use(settings: Settings, think: u64, sink: Sink<'_>, plot: &mut Plot) {
    let (n, k) = (9, 3);
    for kind in [ArbiterKind::Improved, ArbiterKind::Space] {
        let arbiters = kind.build(n, k).expect("nine sites, three units");
        let mut in_use = InUse::default();
        mixed(settings, arbiters, think, &mut in_use);
        let units = in_use.mean();
        let all = Claimed::at_most("k", k as f64);
        let name = format!("{kind} n={n} k={k} think {think}T: units in use");
        sink(all.beside(name, condition(settings, think), (units, "units"), ""));
        plot.measured(kind.name(), think as f64, units);
    }
}

/// Messages for a grant when site after site asks for 1, 2, … k units, and from 1 on again.
fn mixed(settings: Settings, arbiters: Arbiters, think: u64, in_use: &mut InUse) -> f64 {
    let (n, k) = (arbiters.n(), u32::try_from(arbiters.k()).expect("few units"));
    let claim = |count| Claim { units: Units { count, of: k }, numbered: false, no_wait: false };
    let claims = Claims::each((1..=k).map(|h| vec![claim(h)]).collect());
    let plan = Plan {
        requests: vec![2; n],
        think: Span::UpTo(think * T),
        inside: Span::UpTo(3 * T),
        delay: Delay::Exponential,
        ..Plan::calm::<Pool>(Arc::new(arbiters), Options::default(), claims)
    };
    let (mut messages, mut entries) = (0, 0);
    for seed in seeds(settings.seed, runs(settings)) {
        let tally = served(&plan, seed, in_use);
        (messages, entries) = (messages + tally.messages, entries + tally.entries);
        in_use.next_run();
    }
    share(messages, entries)
}

/// Units that are out, over time.
#[derive(Debug, Default)]
pub(super) struct InUse {
    units: u64,
    since: Tick,
    holders: BTreeMap<(SiteId, ClaimId), u64>,
    /// Time while any unit was out, and the same counted for each.
    busy: u64,
    filled: u64,
}

impl InUse {
    /// The mean number of units that are out, while any is.
    pub(super) fn mean(&self) -> f64 {
        share(self.filled, self.busy)
    }

    /// The run is over, and the next one begins at the first tick again.
    pub(super) fn next_run(&mut self) {
        self.since = Tick::ZERO;
    }
}

impl TimedObserver for InUse {
    fn see(&mut self, now: Tick, _: usize, event: &Event<'_>) {
        let (came, left) = match *event {
            Event::Enters(Caller { site, claim, .. }, grant) => {
                let units = u64::from(grant.downcast::<Grant>().units.count);
                self.holders.insert((site, claim), units);
                (units, 0)
            }
            Event::Releases(Caller { site, claim, .. }) => {
                (0, self.holders.remove(&(site, claim)).unwrap_or_default())
            }
            _ => return,
        };
        let ticks = now.0 - self.since.0;
        self.busy += if self.units > 0 { ticks } else { 0 };
        self.filled += self.units * ticks;
        (self.units, self.since) = (self.units + came - left, now);
    }
}
