//! Cenci & Ardenghi 2012: messages, the length of stages, and estimated admission times.

mod expect;
mod totals;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quorate_protocol::SiteId;
use quorate_protocol::group::Group;
use quorate_protocol::role::mutations::{Mutant, Mutation};
use quorate_protocol::role::{Claim, Options, Role, RoleLock};
use quorate_quorum::{Kind, Listed, QuorumSystem, SiteSet, build};
use quorate_sim::random::{Delay, Plan, Span, T};
use quorate_sim::{Claims, Quorums, SimProtocol};

use self::expect::Expectations;
use self::totals::Totals;
use super::measure::{in_t, seeds, served};
use super::{Axis, Claim as Claimed, Finding, Plot, Settings, Sink};

/// Numbers of groups, which are also the arbiters, each with a number of runs.
const SIZES: [(usize, u64); 4] = [(3, 40), (7, 20), (13, 10), (21, 6)];
/// Processes for each group.
const PROCESSES_PER_GROUP: usize = 3;
/// How often each of them asks.
const ASKS: u32 = 6;

/// As the number of groups grows: constant delays, then exponential ones.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let mut plots = plots();
    let sizes = if settings.quick { &SIZES[..2] } else { &SIZES[..] };
    for &(m, runs) in sizes {
        even(settings, m, runs, sink, &mut plots);
        uneven(settings, m, sink, &mut plots);
    }
    printed(settings, sink);
    for plot in plots {
        sink(Finding::Plot(plot));
    }
}

fn plots() -> [Plot; 3] {
    let condition = "m groups, 3m processes ask 6 times each, a third of it exclusive, for 1 to 8T";
    let plot = |title, y| Plot::new(title, condition, Axis::even("groups m"), Axis::even(y));
    [
        plot("Messages for an admission", "messages"),
        plot("Stages of other groups before one's own, at most", "stages"),
        plot("How far the expected time was off, on average", "T"),
    ]
}

fn condition(m: usize, q: u64, rest: &str) -> String {
    format!(
        "{m} groups that are also arbiters, cyclic quorums of {q}, {} processes apart from them, \
         {ASKS} claims each, a third of them exclusive, for 1 to 8T, {rest}",
        PROCESSES_PER_GROUP * m
    )
}

/// Every message takes exactly the assumed delay.
fn even(settings: Settings, m: usize, runs: u64, sink: Sink<'_>, plots: &mut [Plot; 3]) {
    let (plan, q) = plan::<RoleLock>(m, fair());
    let (mut totals, mut expectations) = (Totals::default(), Expectations::default());
    for seed in seeds(settings.seed, runs) {
        served(&plan, seed, &mut totals.observe_run());
        served(&plan, seed, &mut expectations.observe_run());
    }
    let condition = condition(m, q, &format!("think up to 60T, constant delays, {runs} runs"));
    let mut row = |what: &str, claim: Claimed, measured: (f64, &'static str), note: &str| {
        sink(claim.beside(format!("m={m}: {what}"), condition.clone(), measured, note));
    };
    let sum = &totals;
    let (locks, messages) = (3 * sum.admissions + 3 * (q - 1) * sum.stages, sum.messages as f64);
    let paper = (locks + 2 * sum.yields) as f64;
    let claim = Claimed::exact("3L + 3(q-1)S + 2Y", paper);
    row("messages by the paper", claim, (messages, "messages"), "without I questions");
    let claim = Claimed::exact("3L + 3(q-1)S + 2Y + I", paper + sum.inquiries as f64);
    row("messages", claim, (messages, "messages"), "");
    let overrun = (in_t(sum.overrun_most), "T");
    row("a stage beyond its budget", Claimed::at_most("", 0.0), overrun, "");
    let claim = Claimed::at_most("2(m-1)", 2.0 * (m as f64 - 1.0));
    let passed = sum.foreign_most as f64;
    row("stages of others before one's own", claim, (passed, "stages"), "measured, not proven");
    let seen = &expectations;
    let note = format!(
        "of the {:.1} % of waiting requests that got an estimate; {:.0} % came later: a host \
         does not know the stages of other groups",
        seen.estimated(),
        seen.later()
    );
    row("expected time off by", Claimed::exact("", 0.0), (seen.error(), "T"), &note);
    let claim = Claimed::at_most("", 0.0);
    row("admitted before the expected time", claim, (seen.earlier(), "%"), "");
    plots[0].measured("role", m as f64, messages / sum.admissions as f64);
    plots[1].measured("constant delays", m as f64, passed);
    plots[1].claimed("2(m-1)", m as f64, 2.0 * (m as f64 - 1.0));
    plots[2].measured("role", m as f64, seen.error());
}

/// Unequal delays, and longer pauses.
fn uneven(settings: Settings, m: usize, sink: Sink<'_>, plots: &mut [Plot; 3]) {
    let (plan, q) = plan::<RoleLock>(m, fair());
    let plan = Plan { delay: Delay::Exponential, think: Span::UpTo(400 * T), ..plan };
    let mut totals = Totals::default();
    for seed in seeds(settings.seed, 4) {
        served(&plan, seed, &mut totals.observe_run());
    }
    let claim = Claimed::at_most("2(m-1)", 2.0 * (m as f64 - 1.0));
    let name = format!("m={m}: stages of others before one's own, exponential");
    let condition = condition(m, q, "think up to 400T, exponential delays, 4 runs");
    let passed = totals.foreign_most as f64;
    sink(claim.beside(name, condition, (passed, "stages"), "measured, not proven"));
    plots[1].measured("exponential delays", m as f64, passed);
}

/// As printed, without time for the round trip.
fn printed(settings: Settings, sink: Sink<'_>) {
    let (m, runs) = (3, 10);
    let (plan, q) = plan::<Mutant>(m, (fair(), Mutation::A14));
    let mut totals = Totals::default();
    for seed in seeds(settings.seed, runs) {
        served(&plan, seed, &mut totals.observe_run());
    }
    let claim = Claimed::at_most("", 0.0);
    let name = format!("m={m}: a stage beyond its budget, as printed");
    let condition = condition(m, q, &format!("think up to 60T, constant delays, {runs} runs"));
    let note = "A14: the way there and back takes time too";
    sink(claim.beside(name, condition, (in_t(totals.overrun_most), "T"), note));
}

/// The options with the delay of a message here.
fn fair() -> Options {
    Options { tc: Duration::from_nanos(T), ..Options::default() }
}

/// The plan, and how many sites are in a quorum.
fn plan<P>(m: usize, options: P::Options) -> (Plan, u64)
where
    P: SimProtocol<Claim = Claim, Quorums = Arc<dyn QuorumSystem>>,
{
    let processes = PROCESSES_PER_GROUP * m;
    let (quorums, q) = cluster(m, processes);
    let groups = groups(m, &quorums);
    // Hosts make no claims.
    let idle = vec![vec![claim(&groups, 0, 0)]; m];
    let asking = (0..processes)
        .map(|process| (0..ASKS as usize).map(|round| claim(&groups, process, round)).collect());
    let claims = Claims::each(idle.into_iter().chain(asking).collect());
    let plan = Plan {
        requests: [vec![0; m], vec![ASKS; processes]].concat(),
        think: Span::UpTo(60 * T),
        // A member leaves when its declared time is over.
        inside: Span::Fixed(1000 * T),
        ..Plan::calm::<P>(quorums, options, claims)
    };
    (plan, q)
}

/// Groups and arbiters at the first `m` sites, and so many processes, each at its own.
fn cluster(m: usize, processes: usize) -> (Arc<dyn QuorumSystem>, u64) {
    let cyclic = build(Kind::Cyclic, m).expect("there are covers for every number");
    let own: Vec<_> = SiteId::all(m).map(|site| cyclic.pick_for(site, &SiteSet::full(m))).collect();
    let q = own[0].as_ref().expect("all are up").len() as u64;
    let listed = Listed::new([own, vec![None; processes]].concat()).expect("covers meet");
    (Arc::new(listed), q)
}

/// A group for each of the first `m` sites, which hosts it.
fn groups(m: usize, quorums: &Arc<dyn QuorumSystem>) -> Vec<Group> {
    let shared = quorums.shared(SiteId::new(0));
    let mut found: BTreeMap<SiteId, Group> = BTreeMap::new();
    let mut number = 0;
    while found.len() < m {
        let group = Group::new(&format!("g{number}"));
        let host = RoleLock::host_of(&group, &shared).expect("all are up");
        found.entry(host).or_insert(group);
        number += 1;
    }
    found.into_values().collect()
}

/// Every process asks for other groups in turn, each third time as an exclusive member.
fn claim(groups: &[Group], process: usize, round: usize) -> Claim {
    let exclusive = (process + round).is_multiple_of(3);
    let role = if exclusive { Role::Exclusive } else { Role::Shared };
    let group = groups[(process * 5 + round * 7) % groups.len()].clone();
    let time = Duration::from_millis((1 + (process * 3 + round * 5) % 8) as u64);
    Claim { groups: [(group, role)].into(), time, no_wait: false }
}
