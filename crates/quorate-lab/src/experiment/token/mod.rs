//! Swaroop & Singh 2008: the cost of a group lock by token, and when the token counts as lost.

mod entry_cost;
mod new_token;
mod sets;
mod timeout;

use std::time::Duration;

use quorate_protocol::group::Claim;
use quorate_protocol::token::{Options, TokenLock};
use quorate_quorum::{Kind, build};
use quorate_sim::random::{Delay, Plan, Span, T};
use quorate_sim::{Claims, Shape, SimProtocol, Unwatched};

use self::entry_cost::EntryCost;
use super::measure::{seeds, served, share};
use super::{Axis, Claim as Claimed, Finding, Plot, Settings, Sink};
use crate::baseline::Baseline;
use crate::baselines::SuzukiKasami;

/// How many groups there are; each claim names one, each site all in turn.
const GROUPS: usize = 3;
/// How often each site asks.
const ASKS: u32 = 12;
/// How many runs make an average.
const RUNS: u64 = 10;
/// Numbers of sites.
const SIZES: [usize; 4] = [4, 8, 16, 32];
/// How long sites think at most, in T and for each site.
const THINKS: [u64; 6] = [0, 1, 4, 20, 100, 400];

/// Messages as load and number of sites grow; new tokens; tokens that are not lost.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let mut plots = plots();
    let sizes = if settings.quick { &SIZES[..3] } else { &SIZES[..] };
    for &n in sizes {
        worst(settings, n, sink);
        loads(settings, n, sink, &mut plots);
        idle(n, sink);
        new_token::run(n, sink);
    }
    timeout::run(settings, sink);
    sets::run(settings, sink);
    for plot in plots {
        sink(Finding::Plot(plot));
    }
}

fn plots() -> [Plot; 2] {
    let condition = "3 groups, each site asks 12 times, inside for T, constant delays, 10 runs";
    let think = Axis::powers("think up to so many T for each site");
    let messages = || Axis::even("messages for an entry");
    [
        Plot::new("Messages as load falls, 16 sites", condition, think, messages()),
        Plot::new("Messages as N grows", condition, Axis::even("sites N"), messages()),
    ]
}

/// Every site asks for one group after the other, and is inside for T. No timer runs out.
fn plan<P: SimProtocol<Claim = Claim>>(
    n: usize,
    think: Span,
    quorums: P::Quorums,
    options: P::Options,
) -> Plan {
    let names: Vec<String> = (0..GROUPS).map(|group| format!("g{group}")).collect();
    let claim = |group: usize| P::parse_claim(&[names[group % GROUPS].as_str()]).expect("a group");
    let each = (0..n).map(|site| (0..GROUPS).map(|at| claim(site + at)).collect());
    let claims = Claims::each(each.collect());
    Plan { requests: vec![ASKS; n], think, ..Plan::calm::<P>(quorums, options, claims) }
}

fn token(n: usize, think: Span) -> Plan {
    let quorums = build(Kind::Majority, n).expect("there are sites");
    let options = Options { t1: Duration::from_hours(1), ..Options::default() };
    plan::<TokenLock>(n, think, quorums, options)
}

/// The most expensive entry, as the paper counts, and the longest queue.
fn worst(settings: Settings, n: usize, sink: Sink<'_>) {
    let mut cost = EntryCost::default();
    for think in [T, 4 * T, 20 * T] {
        let plan = Plan { delay: Delay::Uniform, ..token(n, Span::UpTo(think)) };
        for seed in seeds(settings.seed, 3) {
            served(&plan, seed, &mut cost.observe_run());
        }
    }
    let condition = "3 groups, each site asks 12 times, think up to 1, 4, 20T, inside for T, \
                     uniform delays, 3 runs of each";
    let most = Claimed::exact("n + 1", n as f64 + 1.0);
    let name = format!("N={n}: the dearest entry");
    sink(most.beside(name, condition.to_owned(), (cost.most() as f64, "messages"), ""));
    let entries = Claimed::at_most("min(n, m)", n.min(GROUPS) as f64);
    let name = format!("N={n}: entries of the queue");
    sink(entries.beside(name, condition.to_owned(), (cost.entries_most as f64, "entries"), ""));
}

/// Messages for longer pauses, beside an algorithm that asks all sites for its token.
fn loads(settings: Settings, n: usize, sink: Sink<'_>, plots: &mut [Plot; 2]) {
    for think in THINKS {
        let light = think == THINKS[THINKS.len() - 1];
        let span = Span::UpTo(if think == 0 { T } else { think * n as u64 * T });
        let dynamic = per_entry(&token(n, span), settings.seed);
        let broadcast = broadcast(n, span, settings.seed);
        if n == 16 {
            let x = if think == 0 { 1.0 / n as f64 } else { think as f64 };
            plots[0].measured("token", x, dynamic);
            plots[0].measured("suzuki-kasami", x, broadcast);
        }
        if !light && think != 0 {
            continue;
        }
        let load = if light { "light" } else { "heavy" };
        plots[1].measured(&format!("token, {load}"), n as f64, dynamic);
        plots[1].measured(&format!("suzuki-kasami, {load}"), n as f64, broadcast);
        let bound = if light {
            Claimed::at_most("n - 1", n as f64 - 1.0)
        } else {
            Claimed::at_most("n + 1", n as f64 + 1.0)
        };
        let most = if light { format!("{think} N") } else { "1".to_owned() };
        let condition = format!(
            "3 groups, each site asks 12 times, think up to {most} T, inside for T, constant \
             delays, {RUNS} runs"
        );
        let name = format!("N={n}: {load} load");
        sink(bound.beside(name, condition.clone(), (dynamic, "messages"), ""));
        if light {
            let name = format!("N={n}: light load, request sets beside asking all");
            let less = Claimed::at_most("suzuki-kasami", broadcast);
            sink(less.beside(name, condition, (dynamic, "messages"), ""));
        }
    }
}

/// Messages for an entry, in some runs.
fn per_entry(plan: &Plan, seed: u64) -> f64 {
    let (mut messages, mut entries) = (0, 0);
    for seed in seeds(seed, RUNS) {
        let tally = served(plan, seed, &mut Unwatched);
        (messages, entries) = (messages + tally.messages, entries + tally.entries);
    }
    share(messages, entries)
}

/// The same for an algorithm that asks all sites and has no groups.
fn broadcast(n: usize, think: Span, seed: u64) -> f64 {
    let shape = Shape::Kind("all".to_owned(), n);
    let quorums = Baseline::<SuzukiKasami>::quorums(&shape, &[()]).expect("all sites");
    let claims = Claims::all(vec![()]);
    let plan = Plan::calm::<Baseline<SuzukiKasami>>(quorums, None, claims);
    per_entry(&Plan { requests: vec![ASKS; n], think, ..plan }, seed)
}

/// A holder of the token that asks alone.
fn idle(n: usize, sink: Sink<'_>) {
    let mut plan = token(n, Span::UpTo(T));
    plan.requests = vec![0; n];
    plan.requests[0] = ASKS;
    let nothing = Claimed::exact("", 0.0);
    let condition = "only the site that has the token asks, 12 times".to_owned();
    let messages = per_entry(&plan, 1);
    sink(nothing.beside(format!("N={n}: idle holder"), condition, (messages, "messages"), ""));
}
