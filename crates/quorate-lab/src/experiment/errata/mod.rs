//! The algorithms as printed: the shortest schedule that breaks what their papers claim.

mod group;
mod mutex;
mod pool;
mod role;
mod token;

use quorate_check::{Claims, Limits, Space, check};
use quorate_sim::{AnyProtocol, Configured, Faults, Shape, SimProtocol};

use super::{Axis, Claim, Finding, Plot, Settings, Sink};

/// Where one repair is undone, and how that shows.
struct Case {
    /// The erratum, by its name in `docs/protocols/`.
    name: &'static str,
    /// The printed rule.
    printed: &'static str,
    /// The space, as the command line spells it.
    command: &'static str,
    space: Space,
    /// Whether the search takes more than a second.
    long: bool,
}

/// Every erratum that a search finds, protocol by protocol.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let condition = "breadth first; each delivery, claim, exit or fault is an action";
    let number = Axis::even("errata of a paper, the shortest first");
    let mut plot = Plot::new("How soon each breaks", condition, number, Axis::even("actions"));
    let mut lengths = Vec::new();
    let mut add = |protocol: &str, mut steps: Vec<u32>| {
        steps.sort_unstable();
        for (number, steps) in (1..).zip(&steps) {
            plot.measured(protocol, f64::from(number), f64::from(*steps));
        }
        lengths.append(&mut steps);
    };
    add("mutex", search(settings, "mutex", mutex::cases(), sink));
    add("group", search(settings, "group", group::cases(), sink));
    add("pool", search(settings, "pool", pool::cases(), sink));
    add("role", search(settings, "role", role::cases(), sink));
    add("token", search(settings, "token", token::cases(), sink));
    sink(Finding::Plot(plot));
    let (actions, errata) = (Axis::even("actions"), Axis::even("errata"));
    let mut plot = Plot::new("How many break within so many actions", condition, actions, errata);
    lengths.sort_unstable();
    for (at, steps) in lengths.iter().enumerate() {
        if lengths.get(at + 1) != Some(steps) {
            plot.measured("all papers", f64::from(*steps), (at + 1) as f64);
        }
    }
    sink(Finding::Plot(plot));
}

/// Searches each space for the length of the shortest schedule that breaks it.
fn search(settings: Settings, protocol: &str, cases: Vec<Case>, sink: Sink<'_>) -> Vec<u32> {
    let mut lengths = Vec::new();
    for case in cases.into_iter().filter(|case| !(settings.quick && case.long)) {
        let report = check(&case.space, &Limits { threads: 1, ..Limits::default() });
        let (property, steps) = match &report.violation {
            Some((breach, trace)) => (breach.property, trace.actions.len()),
            None => ("nothing", 0),
        };
        let steps = u32::try_from(steps).expect("a short schedule");
        let name = format!("{protocol} {}: {property} breaks", case.name);
        let condition =
            format!("quorate check {protocol} --option undo={} {}", case.name, case.command);
        let measured = (f64::from(steps), "actions");
        sink(claim(property).beside(name, condition, measured, case.printed));
        lengths.push(steps);
    }
    lengths
}

/// The claim of the paper that a property stands for.
fn claim(property: &str) -> Claim {
    Claim::never(match property {
        "exclusion" | "units" => "exclusion",
        "progress" | "vacancy" => "every request enters",
        "one token" | "fences grow" => "one valid token",
        _ => "its invariants hold",
    })
}

/// The papers' world: nothing goes wrong, and channels keep the order.
fn calm<P: SimProtocol>(
    shape: &Shape,
    options: P::Options,
    requests: &[u32],
    claims: &str,
) -> Space {
    let claims = Claims::parse::<P>(claims).expect("claims");
    let all: Vec<_> = claims.iter().cloned().collect();
    let setup = Configured::<P> { options }.setup(shape, &all).expect("such quorums exist");
    Space::without_faults(setup, claims, requests)
}

/// A construction by its name.
fn kind(name: &str, n: usize) -> Shape {
    Shape::Kind(name.to_owned(), n)
}

/// A quorum for each site, counted from 1; none for sites that are only arbiters.
fn listed(own: &[&[usize]]) -> Shape {
    let quorum = |sites: &&[usize]| {
        let set = sites.iter().map(|site| quorate_quorum::SiteId::new(site - 1)).collect();
        (!sites.is_empty()).then_some(set)
    };
    Shape::Listed(own.iter().map(quorum).collect())
}

/// So many sessions may be lost and sites may crash; sessions reopen and sites restart.
fn faults(lose: u32, crash: u32) -> Faults {
    Faults { lose, crash, ..Faults::NONE }
}
