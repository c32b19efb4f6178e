//! Group locks side by side: Manabe & Park 2004, Swaroop & Singh 2008, and the algorithm that the
//! former start from.

mod needless;
mod policy;

use std::sync::Arc;

use quorate_protocol::group::{Choice, Claim, Group, GroupLock, Options};
use quorate_protocol::token::{self, TokenLock};
use quorate_quorum::{Kind, QuorumSystem, build};
use quorate_sim::random::{Delay, Plan, Span, T, Tally};
use quorate_sim::{Claims, SimProtocol};

use super::claim::Claim as Claimed;
use super::measure::{Chance, ConcurrencyMeter, in_t, seeds, served, share};
use super::{Axis, Finding, Plot, Settings, Sink};
use crate::baselines::joung::{Joung, MGroup, Options as JoungOptions};

/// How many sites ask, in a grid.
const SITES: usize = 9;
/// How many of them are in a quorum.
const QUORUM: f64 = 5.0;
/// How often each of them asks.
const ASKS: u32 = 12;
/// Numbers of groups, and how many of them a claim names.
const GROUPS: [(usize, usize); 8] =
    [(1, 1), (2, 1), (4, 1), (8, 1), (3, 2), (6, 2), (8, 2), (8, 3)];

/// The sizes with `--quick`.
const QUICK: [(usize, usize); 5] = [(1, 1), (4, 1), (8, 1), (3, 2), (8, 3)];

/// Concurrency, waiting and messages; then needless waits; then the choice of a group.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let mut plots = plots(settings);
    for of in GROUPS.into_iter().filter(|of| !settings.quick || QUICK.contains(of)) {
        let found = Found::of(settings, of);
        found.report(settings, of, sink);
        found.draw(of, &mut plots);
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

/// As the number of groups grows, with one to a claim; and as claims name more of eight.
fn plots(settings: Settings) -> [Plot; 4] {
    let condition = condition(settings);
    let plot =
        |title: &str, x: &str, y: &str| Plot::new(title, &condition, Axis::even(x), Axis::even(y));
    let (groups, some) = ("groups, one to a claim", "groups to a claim, of eight");
    [
        plot("Inside together, while anybody is", groups, "callers"),
        plot("Messages", groups, "messages for an entry"),
        plot("Inside together, if any of several groups will do", some, "callers"),
        plot("Waiting, if any of several groups will do", some, "T"),
    ]
}

/// The figures of a group lock.
#[derive(Clone, Copy, Debug)]
struct Worth {
    concurrency: f64,
    wait: f64,
    messages: f64,
    occupancies: f64,
    joined: f64,
}

/// Four ways to lock the same groups.
struct Found {
    arbitrary: Worth,
    most_waiting: Worth,
    token: Worth,
    joung: Worth,
}

impl Found {
    fn of(settings: Settings, of: (usize, usize)) -> Self {
        let grid: Arc<dyn QuorumSystem> = build(Kind::Grid, SITES).expect("a grid of nine");
        let group = |choice| {
            let options = Options { choice, ..Options::default() };
            worth::<GroupLock>(settings, &grid, &options, of)
        };
        let coterie = MGroup::Coterie(Arc::clone(&grid));
        Self {
            arbitrary: group(Choice::Arbitrary),
            most_waiting: group(Choice::MostWaiting),
            token: worth::<TokenLock>(settings, &grid, &token::Options::default(), of),
            joung: worth::<Joung>(settings, &coterie, &JoungOptions::default(), of),
        }
    }

    fn report(&self, settings: Settings, (groups, some): (usize, usize), sink: Sink<'_>) {
        let older = self.joung;
        let mut row = |name: &str, what: &str, claim: Claimed, measured: (f64, &'static str)| {
            let name = format!("{name}, {some} of {groups} groups: {what}");
            sink(claim.beside(name, condition(settings), measured, ""));
        };
        let (many, soon) = ("inside together", "waiting");
        let more = || Claimed::at_least("joung", older.concurrency);
        let sooner = || Claimed::at_most("joung", older.wait);
        // A claim of one group has no choice.
        let ours = [("group", self.arbitrary), ("group, most waiting", self.most_waiting)];
        for (name, ours) in ours.into_iter().take(some.min(2)) {
            row(name, many, more(), (ours.concurrency, "callers"));
            row(name, soon, sooner(), (ours.wait, "T"));
            let bound = Claimed::at_most("9|Q|", 9.0 * QUORUM);
            row(name, "messages", bound, (ours.messages, "messages"));
            let fewer = Claimed::at_most("joung", older.occupancies);
            row(name, "occupancies in 1000 T", fewer, (ours.occupancies, "occupancies"));
            let joined = Claimed::at_least("joung", older.joined);
            row(name, "join others", joined, (ours.joined, "%"));
        }
        let bound = Claimed::at_most("n + 1", SITES as f64 + 1.0);
        row("token", "messages", bound, (self.token.messages, "messages"));
        row("token", many, more(), (self.token.concurrency, "callers"));
        row("token", soon, sooner(), (self.token.wait, "T"));
    }

    fn draw(&self, (groups, some): (usize, usize), plots: &mut [Plot; 4]) {
        let [inside, messages, inside_any, waiting_any] = plots;
        let lines = [
            ("group", self.arbitrary),
            ("group, most waiting", self.most_waiting),
            ("token", self.token),
            ("joung", self.joung),
        ];
        for (name, worth) in lines {
            if some == 1 && name != "group, most waiting" {
                inside.measured(name, groups as f64, worth.concurrency);
                messages.measured(name, groups as f64, worth.messages);
            }
            if groups == 8 {
                inside_any.measured(name, some as f64, worth.concurrency);
                waiting_any.measured(name, some as f64, worth.wait);
            }
        }
    }
}

fn worth<P: SimProtocol<Claim = Claim>>(
    settings: Settings,
    quorums: &P::Quorums,
    options: &P::Options,
    of: (usize, usize),
) -> Worth {
    let (mut sum, mut meter) = (Tally::default(), ConcurrencyMeter::default());
    for seed in seeds(settings.seed, runs(settings)) {
        let claims = claims(SITES, of, ASKS, seed);
        let plan = Plan {
            requests: vec![ASKS; SITES],
            think: Span::UpTo(2 * T),
            inside: Span::UpTo(6 * T),
            delay: Delay::Exponential,
            ..Plan::calm::<P>(quorums.clone(), options.clone(), claims)
        };
        sum.add(&served(&plan, seed, &mut meter));
        meter.rest();
    }
    Worth {
        concurrency: meter.concurrency(),
        wait: meter.wait(),
        messages: share(sum.messages, sum.entries),
        occupancies: 1000.0 * meter.occupancies() as f64 / in_t(sum.elapsed_ticks),
        joined: 100.0 * meter.joined(),
    }
}

/// Claims of `sites` sites without a pattern, each of `some` of the first so many letters.
fn claims(sites: usize, (groups, some): (usize, usize), asks: u32, seed: u64) -> Claims {
    let mut chance = Chance(seed);
    let mut claim = || {
        let mut letters: Vec<u8> = (b'a'..=b'z').take(groups).collect();
        while letters.len() > some {
            letters.swap_remove(chance.below(letters.len()));
        }
        let group = |letter: &u8| Group::new(&char::from(*letter).to_string());
        Claim { groups: letters.iter().map(group).collect(), no_wait: false }
    };
    Claims::each((0..sites).map(|_| (0..asks).map(|_| claim()).collect()).collect())
}
