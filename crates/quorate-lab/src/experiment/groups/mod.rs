//! Group locks side by side: Manabe & Park 2004, Swaroop & Singh 2008, and the algorithm that the
//! former start from.

mod needless;
mod policy;

use std::sync::Arc;

use quorate_protocol::group::{Choice, Claim, Group, GroupLock, Options};
use quorate_protocol::token::{self, TokenLock};
use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::random::{Delay, Plan, Span, T, Tally};
use quorate_sim::{Claims, Subject};

use super::claim::Claim as Claimed;
use super::measure::{Chance, Crowd, calm, in_t, seeds, served, share};
use super::{Axis, Finding, Plot, Settings, Sink};
use crate::baselines::joung::{Joung, MGroup, Options as JoungOptions};

/// How many sites ask, in a grid.
const SITES: usize = 9;
/// How often each of them asks.
const ASKS: u32 = 12;
/// Numbers of groups, and how many of them a claim names.
const GROUPS: [(usize, usize); 8] =
    [(1, 1), (2, 1), (4, 1), (8, 1), (3, 2), (6, 2), (8, 2), (8, 3)];

/// Concurrency, waiting and messages; then needless waits; then the choice of a group.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let mut plots = plots(settings);
    for (groups, some) in GROUPS {
        if !settings.quick || [(1, 1), (4, 1), (3, 2), (8, 3)].contains(&(groups, some)) {
            compare(settings, (groups, some), sink, &mut plots);
        }
    }
    needless::run(settings, sink);
    policy::run(settings, sink);
    for plot in plots {
        sink(Finding::Plot(plot));
    }
}

fn runs(settings: Settings) -> u64 {
    if settings.quick { 10 } else { 60 }
}

fn condition(settings: Settings) -> String {
    format!(
        "9 sites ask {ASKS} times each, think up to 2T, inside up to 6T, exponential delays, grid, \
         {} runs",
        runs(settings)
    )
}

/// As the number of groups grows, with one group to a claim.
fn plots(settings: Settings) -> [Plot; 4] {
    let condition = condition(settings);
    let plot = |title: &str, y: &str| {
        let title = format!("{title}, one group to a claim");
        Plot::new(&title, &condition, Axis::even("groups"), Axis::even(y))
    };
    [
        plot("Inside together, while anybody is", "callers"),
        plot("Waiting", "T"),
        plot("Messages", "messages for an entry"),
        plot("Sessions", "sessions in 1000 T"),
    ]
}

/// What a group lock is worth.
#[derive(Clone, Copy, Debug)]
struct Worth {
    concurrency: f64,
    wait: f64,
    messages: f64,
    sessions: f64,
    joined: f64,
}

fn compare(
    settings: Settings,
    (groups, some): (usize, usize),
    sink: Sink<'_>,
    plots: &mut [Plot; 4],
) {
    let grid: Arc<dyn QuorumSystem> = build(Kind::Grid, SITES).expect("a grid of nine");
    let size = grid.max_size() as f64;
    let coterie = MGroup::Coterie(Arc::clone(&grid));
    let older = worth::<Joung<false>>(settings, &coterie, &JoungOptions::default(), (groups, some));
    let [arbitrary, most_waiting] = [Choice::Arbitrary, Choice::MostWaiting]
        .map(|choice| Options { choice, ..Options::default() })
        .map(|options| worth::<GroupLock>(settings, &grid, &options, (groups, some)));
    let by_token = worth::<TokenLock>(settings, &grid, &token::Options::default(), (groups, some));
    let of = format!("{some} of {groups} groups");
    let mut row = |name: &str, what: &str, claim: Claimed, measured: (f64, &'static str)| {
        sink(claim.beside(format!("{name}, {of}: {what}"), condition(settings), measured, ""));
    };
    // Who names one group has no choice.
    let ours = [("group", arbitrary), ("group, most waiting", most_waiting)];
    for (name, ours) in ours.into_iter().take(some.min(2)) {
        let more = Claimed::at_least("joung", older.concurrency);
        row(name, "inside together", more, (ours.concurrency, "callers"));
        row(name, "waiting", Claimed::at_most("joung", older.wait), (ours.wait, "T"));
        let bound = Claimed::at_most("9|Q|", 9.0 * size);
        row(name, "messages", bound, (ours.messages, "messages"));
        let fewer = Claimed::at_most("joung", older.sessions);
        row(name, "sessions in 1000 T", fewer, (ours.sessions, "sessions"));
        row(name, "join others", Claimed::at_least("joung", older.joined), (ours.joined, "%"));
    }
    let bound = Claimed::at_most("n + 1", SITES as f64 + 1.0);
    row("token", "messages", bound, (by_token.messages, "messages"));
    let more = Claimed::at_least("joung", older.concurrency);
    row("token", "inside together", more, (by_token.concurrency, "callers"));
    row("token", "waiting", Claimed::at_most("joung", older.wait), (by_token.wait, "T"));
    if some == 1 {
        let all = [
            ("group", arbitrary),
            ("most waiting", most_waiting),
            ("token", by_token),
            ("joung", older),
        ];
        for (name, worth) in all {
            let figures = [worth.concurrency, worth.wait, worth.messages, worth.sessions];
            for (plot, figure) in plots.iter_mut().zip(figures) {
                plot.measured(name, groups as f64, figure);
            }
        }
    }
}

fn worth<P: Subject<Claim = Claim>>(
    settings: Settings,
    quorums: &P::Quorums,
    options: &P::Options,
    of: (usize, usize),
) -> Worth {
    let (mut sum, mut crowd) = (Tally::default(), Crowd::default());
    for seed in seeds(settings.seed, runs(settings)) {
        let claims = claims(SITES, of, ASKS, seed);
        let plan = Plan {
            requests: vec![ASKS; SITES],
            think: Span::UpTo(2 * T),
            inside: Span::UpTo(6 * T),
            delay: Delay::Exponential,
            ..calm::<P>(quorums.clone(), options.clone(), claims)
        };
        sum.add(&served(&plan, seed, &mut crowd));
        crowd.rest();
    }
    Worth {
        concurrency: crowd.concurrency(),
        wait: crowd.wait(),
        messages: share(sum.messages, sum.entries),
        sessions: 1000.0 * crowd.sessions() as f64 / in_t(sum.elapsed_ticks),
        joined: 100.0 * crowd.joined(),
    }
}

/// Claims of `sites` sites without a pattern, each of `some` of the first so many letters.
fn claims(sites: usize, (groups, some): (usize, usize), asks: u32, seed: u64) -> Claims<Claim> {
    let mut chance = Chance(seed);
    let mut claim = || {
        let mut letters: Vec<u8> = (b'a'..=b'z').take(groups).collect();
        while letters.len() > some {
            letters.swap_remove(chance.below(letters.len()));
        }
        let group = |letter: &u8| Group::new(&char::from(*letter).to_string());
        Claim { groups: letters.iter().map(group).collect(), hasty: false }
    };
    Claims::each((0..sites).map(|_| (0..asks).map(|_| claim()).collect()).collect())
}
