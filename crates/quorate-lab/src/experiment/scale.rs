//! How the mutex grows: up to ten thousand sites.

use std::sync::Arc;
use std::time::Instant;

use quorate_protocol::mutex::{Mutex, Options};
use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::random::{Plan, Span, T};
use quorate_sim::{Claims, Unwatched};

use super::measure::{in_t, light_of, served, share};
use super::{Axis, Claim, Finding, Plot, Settings, Sink};

/// A construction, numbers of sites that fit it, and how many of them are heavily loaded.
type Growth = (&'static str, &'static [usize], usize);

const GROWTHS: [Growth; 4] = [
    ("grid", &[100, 400, 900, 2_500, 10_000], 5),
    ("plane", &[133, 307, 993, 2_863, 9_507], 5),
    ("tree", &[127, 511, 2_047, 8_191], 4),
    ("majority", &[101, 301, 1_001], 1),
];

/// How many entries are counted under light load.
const ENTRIES: usize = 50;

/// Messages and delay as the number of sites grows, and the law of growth.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let mut plots = plots();
    for (name, sizes, heavy) in GROWTHS {
        let (sizes, heavy) = if settings.quick {
            (&sizes[1..sizes.len().min(4)], heavy.min(2))
        } else {
            (sizes, heavy)
        };
        let points: Vec<_> =
            sizes.iter().map(|&n| (n as f64, one_by_one(settings, name, n, sink))).collect();
        for &(n, messages) in &points {
            plots[0].measured(name, n, messages);
        }
        law((name, "light"), &points, sink);
        let points = sizes.iter().take(heavy);
        let points: Vec<_> =
            points.map(|&n| (n as f64, crowded(settings, name, n, sink))).collect();
        for &(n, messages) in &points {
            plots[1].measured(name, n, messages);
        }
        if points.len() > 1 {
            law((name, "heavy"), &points, sink);
        }
    }
    for plot in plots {
        sink(Finding::Plot(plot));
    }
}

fn plots() -> [Plot; 2] {
    let messages = || Axis::powers("messages for an entry");
    let sites = || Axis::powers("sites N");
    [
        Plot::new("Messages, one caller at a time", "sites in no order", sites(), messages()),
        Plot::new("Messages, all sites ask", "twice each, E = 2T", sites(), messages()),
    ]
}

fn system(name: &str, n: usize) -> Arc<dyn QuorumSystem> {
    build(name.parse::<Kind>().expect("the catalogue has it"), n).expect("it takes so many sites")
}

/// One caller at a time.
fn one_by_one(settings: Settings, name: &str, n: usize, sink: Sink<'_>) -> f64 {
    let quorums = system(name, n);
    let options = Options::default();
    let messages = light_of::<Mutex>(&quorums, &options, settings.seed, (0, ENTRIES));
    let k = quorums.min_size() as f64;
    let claim = Claim::exact("3(K-1)", 3.0 * (k - 1.0));
    let condition = format!("one caller at a time, {ENTRIES} entries at sites in no order");
    let row = format!("{name} N={n}: light");
    sink(claim.beside(row, condition, (messages, "messages"), ""));
    messages
}

/// Every site asks twice, all starting at the same time.
fn crowded(settings: Settings, name: &str, n: usize, sink: Sink<'_>) -> f64 {
    let quorums = system(name, n);
    let k = quorums.min_size() as f64;
    let plan = Plan::calm::<Mutex>(quorums, Options::default(), Claims::all(vec![()]));
    let plan = Plan { requests: vec![2; n], inside: Span::Fixed(2 * T), ..plan };
    let start = Instant::now();
    let tally = served(&plan, settings.seed, &mut Unwatched);
    let seconds = start.elapsed().as_secs_f64();
    let messages = share(tally.messages, tally.entries);
    let delay = in_t(tally.handover_ticks) / tally.handovers as f64;
    let condition = "all sites ask twice, E = 2T, constant delays".to_owned();
    let mut row = |what: &str, claim: Claim, measured| {
        sink(claim.beside(format!("{name} N={n}: {what}"), condition.clone(), measured, ""));
    };
    row("heavy", Claim::at_most("6(K-1)", 6.0 * (k - 1.0)), (messages, "messages"));
    row("delay", Claim::average("T", 1.0), (delay, "T"));
    if settings.clock {
        let speed = tally.messages as f64 / seconds / 1e6;
        row("simulated", Claim::at_least("", 0.1), (speed, "million messages a second"));
    }
    messages
}

/// The law of growth, fitted to the logarithms: a power of N, or so much for each doubling.
fn law((name, load): (&str, &str), points: &[(f64, f64)], sink: Sink<'_>) {
    let condition = format!("least squares over the sizes above, {load} load");
    let row = format!("{name}: growth, {load}");
    let power = |&(n, messages): &(f64, f64)| (n.ln(), messages.ln());
    let doubling = |&(n, messages): &(f64, f64)| (n.log2(), messages);
    let (claim, measured) = match (name, load) {
        ("tree", "light") => {
            let claim = Claim::average("3 for each doubling of N", 3.0);
            (claim, (slope(points.iter().map(doubling)), "messages"))
        }
        ("tree", _) => {
            let claim = Claim::at_most("6 for each doubling of N", 6.0);
            (claim, (slope(points.iter().map(doubling)), "messages"))
        }
        ("majority", _) => {
            (Claim::average("N", 1.0), (slope(points.iter().map(power)), "power of N"))
        }
        _ => (Claim::average("sqrt N", 0.5), (slope(points.iter().map(power)), "power of N")),
    };
    sink(claim.beside(row, condition, measured, ""));
}

/// The slope of the line that fits best.
fn slope(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let points: Vec<_> = points.collect();
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
    let (x, y) = (x / count, y / count);
    let rise: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let run: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    rise / run
}
