//! Requests of several groups, section VII: whether the holder always hears of them.

use quorate_protocol::group::{Claim, Group};
use quorate_protocol::token::Options;
use quorate_protocol::token::mutations::{Mutant, Mutation};
use quorate_quorum::{Kind, build};
use quorate_sim::random::{self, Delay, Plan, Span, T};
use quorate_sim::{Claims, Unwatched};

use super::{ASKS, Claimed, Settings, Sink, seeds};
use crate::experiment::measure::Chance;

/// Which sites are asked by a site that passed the token on; T1 never expires.
const RULES: [(&str, Mutation, &str); 2] = [
    ("all who may be next", Mutation::NoT1, ""),
    (
        "the first of each entry",
        Mutation::Firsts,
        "another may become the first, and no site asks it",
    ),
];

/// How many requests wait forever without T1, although nothing is lost.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let runs = if settings.quick { 20 } else { 200 };
    for n in [3, 4, 9] {
        for some in [1, 2] {
            for (rule, undone, note) in RULES {
                let condition = format!(
                    "nothing is lost, no T1, claims of {some} of 3 groups, each site asks {ASKS} \
                     times, think up to 2T, inside up to 6T, exponential delays, {runs} runs"
                );
                let plan = plan(n, some, undone, settings.seed);
                let unserved = |seed| random::run(&plan, seed, &mut Unwatched).tally.unserved;
                let left: u64 = seeds(settings.seed, runs).map(unserved).sum();
                let name = format!("N={n}, {some} of 3 groups, asks {rule}: wait forever");
                let note = if left > 0 { note } else { "" };
                let never = Claimed::at_most("", 0.0);
                sink(never.beside(name, condition, (left as f64, "requests"), note));
            }
        }
    }
}

fn plan(n: usize, some: usize, undone: Mutation, seed: u64) -> Plan {
    let mut chance = Chance(seed);
    let mut claim = || {
        let mut names = vec!["a", "b", "c"];
        while names.len() > some {
            names.swap_remove(chance.below(names.len()));
        }
        Claim { groups: names.into_iter().map(Group::new).collect(), no_wait: false }
    };
    let each = (0..n).map(|_| (0..ASKS).map(|_| claim()).collect());
    let claims = Claims::each(each.collect());
    let quorums = build(Kind::Majority, n).expect("there are sites");
    Plan {
        requests: vec![ASKS; n],
        think: Span::UpTo(2 * T),
        inside: Span::UpTo(6 * T),
        delay: Delay::Exponential,
        ..Plan::calm::<Mutant>(quorums, (Options::default(), undone), claims)
    }
}
