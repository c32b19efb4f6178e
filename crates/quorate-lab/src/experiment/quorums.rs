//! The catalogue of quorum systems: size, load and availability of every construction.

use std::sync::Arc;

use quorate_quorum::analysis::quick_load;
use quorate_quorum::{Kind, QuorumSystem, SiteId, SiteSet, build};

use super::{Axis, Claim, Finding, Plot, Settings, Sink};

/// The literature on a construction for so many sites: the sizes of its smallest and
/// largest quorums, failures survived, load, and how often no quorum is up if a site is down one
/// time in ten.
struct Entry(&'static str, usize, (usize, usize), usize, f64, f64);

const CATALOGUE: [Entry; 26] = [
    Entry("majority", 3, (2, 2), 1, 2.0 / 3.0, 0.02800),
    Entry("majority", 5, (3, 3), 2, 3.0 / 5.0, 0.00856),
    Entry("majority", 7, (4, 4), 3, 4.0 / 7.0, 0.00273),
    Entry("majority", 9, (5, 5), 4, 5.0 / 9.0, 0.00089),
    Entry("majority", 4, (3, 3), 1, 3.0 / 4.0, 0.05230),
    Entry("majority", 8, (5, 5), 3, 5.0 / 8.0, 0.00502),
    Entry("weighted", 4, (2, 3), 1, 3.0 / 5.0, 0.02800),
    Entry("grid", 9, (5, 5), 2, 5.0 / 9.0, 0.03331),
    Entry("grid", 16, (7, 7), 3, 7.0 / 16.0, 0.02489),
    Entry("cover", 9, (5, 5), 2, 5.0 / 9.0, 0.02268),
    Entry("plane", 7, (3, 3), 2, 3.0 / 7.0, 0.00681),
    Entry("plane", 13, (4, 4), 3, 4.0 / 13.0, 0.00142),
    Entry("tree", 3, (2, 2), 1, 2.0 / 3.0, 0.02800),
    Entry("tree", 7, (3, 4), 2, 1.0 / 2.0, 0.00623),
    Entry("tree", 15, (4, 8), 3, 2.0 / 5.0, 0.00128),
    Entry("hqc", 9, (4, 4), 3, 4.0 / 9.0, 0.00231),
    Entry("triangle", 6, (3, 3), 2, 1.0 / 2.0, 0.00856),
    Entry("triangle", 10, (4, 4), 3, 2.0 / 5.0, 0.00304),
    Entry("wall:1,2,3,3", 9, (3, 4), 2, 3.0 / 7.0, 0.00331),
    Entry("wall:3,3,3", 9, (3, 5), 2, 9.0 / 19.0, 0.02103),
    Entry("wheel", 7, (2, 6), 1, 6.0 / 11.0, 0.04686),
    Entry("grid-set", 12, (6, 6), 3, 1.0 / 2.0, 0.00792),
    Entry("rst", 12, (6, 6), 3, 1.0 / 2.0, 0.00453),
    Entry("cyclic", 7, (3, 3), 2, 3.0 / 7.0, 0.00681),
    Entry("cyclic", 13, (4, 4), 3, 4.0 / 13.0, 0.00142),
    Entry("hqc", 27, (8, 8), 7, 8.0 / 27.0, 0.000_016),
];

/// How often a site is down.
const DOWN: f64 = 0.1;

/// Numbers of sites for the plots.
const SIZES: [usize; 9] = [4, 7, 9, 13, 16, 25, 36, 64, 100];

/// Every entry of the catalogue, then every construction as the number of sites grows.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    for entry in &CATALOGUE {
        rows(entry, sink);
    }
    let mut plots = plots();
    let sizes = if settings.quick { &SIZES[..6] } else { &SIZES[..] };
    for kind in Kind::all() {
        for &n in sizes {
            let system = build(*kind, n).expect("it takes any number of sites");
            let at = (kind.name(), n as f64);
            plots[0].measured(at.0, at.1, own_size(&*system));
            plots[1].measured(at.0, at.1, quick_load(&*system).upper);
            // Exact or not at all.
            if let Ok(up) = system.availability(&vec![1.0 - DOWN; n]) {
                plots[2].measured(at.0, at.1, (1.0 - up).max(1e-12));
            }
        }
    }
    for plot in plots {
        sink(Finding::Plot(plot));
    }
}

fn plots() -> [Plot; 3] {
    let sites = || Axis::even("sites N");
    [
        Plot::new("Sites asked", "all are up", sites(), Axis::powers("sites")),
        Plot::new("Load of the busiest site", "the best strategy", sites(), Axis::powers("load")),
        Plot::new(
            "No quorum is up",
            "a site is down one time in ten, whatever others do",
            sites(),
            Axis::powers("probability"),
        ),
    ]
}

/// How many sites a site asks on average, itself included.
fn own_size(system: &dyn QuorumSystem) -> f64 {
    let all = SiteSet::full(system.n());
    let own = SiteId::all(system.n()).filter_map(|site| system.pick_for(site, &all));
    let sizes: Vec<_> = own.map(|quorum| quorum.len()).collect();
    sizes.iter().sum::<usize>() as f64 / sizes.len() as f64
}

fn rows(Entry(name, n, sizes, resilience, load, fails): &Entry, sink: Sink<'_>) {
    let kind: Kind = name.parse().expect("the catalogue spells it so");
    let system: Arc<dyn QuorumSystem> = build(kind, *n).expect("it takes so many sites");
    let mut row = |what: &str, claim: Claim, measured: f64, unit: &'static str, condition: &str| {
        let name = format!("{name} N={n}: {what}");
        sink(claim.beside(name, condition.to_owned(), (measured, unit), ""));
    };
    let (least, most) = (system.min_size() as f64, system.max_size() as f64);
    let minimal = "minimal form";
    row("smallest quorum", Claim::exact("", sizes.0 as f64), least, "sites", minimal);
    row("largest quorum", Claim::exact("", sizes.1 as f64), most, "sites", minimal);
    let survived = system.resilience().expect("few sites") as f64;
    let claim = Claim::exact("", *resilience as f64);
    row("survives any", claim, survived, "failures", "a quorum is left");
    let busiest = quick_load(&*system).upper;
    row("load", Claim::average("", *load), busiest, "of all", "the best strategy");
    let up = system.availability(&vec![1.0 - DOWN; *n]).expect("few sites");
    let down = "a site is down one time in ten, whatever others do";
    row("no quorum is up", Claim::average("", *fails), 1.0 - up, "of time", down);
}
