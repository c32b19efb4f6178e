//! Requests of several groups, section VII: whether the holder always hears of them.

use std::time::Duration;

use quorate_protocol::group::{Claim, Group};
use quorate_protocol::token::{Options, TokenLock};
use quorate_quorum::{Kind, build};
use quorate_sim::Claims;
use quorate_sim::random::{Delay, Plan, Span, T};

use super::{ASKS, Claimed, Settings, Sink, seeds, served};
use crate::experiment::measure::{Chance, Crowd, calm};

/// So long that nobody waits for T1 who is not forgotten.
const T1: Duration = Duration::from_hours(1);

/// How many wait until T1 runs out, though nothing is lost.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let runs = if settings.quick { 20 } else { 200 };
    for n in [3, 4, 9] {
        for some in [1, 2] {
            let condition = format!(
                "nothing is lost, claims of {some} of 3 groups, each site asks {ASKS} times, think \
                 up to 2T, inside up to 6T, exponential delays, {runs} runs"
            );
            let plan = plan(n, some, settings.seed);
            let mut crowd = Crowd::default();
            for seed in seeds(settings.seed, runs) {
                served(&plan, seed, &mut crowd);
            }
            let patience = u64::try_from(T1.as_nanos()).expect("an hour");
            let found = crowd.waits.iter().filter(|&&wait| wait >= patience).count();
            let name = format!("N={n}, {some} of 3 groups: found by T1 alone");
            let note = "a request set has the first of each entry; with sets of groups another may \
                        become the first, and then nobody asks it";
            let never = Claimed::at_most("", 0.0);
            sink(never.beside(
                name,
                condition,
                (found as f64, "requests"),
                if some > 1 { note } else { "" },
            ));
        }
    }
}

fn plan(n: usize, some: usize, seed: u64) -> Plan<TokenLock> {
    let mut chance = Chance(seed);
    let mut claim = || {
        let mut names = vec!["a", "b", "c"];
        while names.len() > some {
            names.swap_remove(chance.below(names.len()));
        }
        Claim { groups: names.into_iter().map(Group::new).collect(), hasty: false }
    };
    let each = (0..n).map(|_| (0..ASKS).map(|_| claim()).collect());
    let claims = Claims::each(each.collect());
    let quorums = build(Kind::Majority, n).expect("there are sites");
    let options = Options { t1: T1, ..Options::default() };
    Plan {
        requests: vec![ASKS; n],
        think: Span::UpTo(2 * T),
        inside: Span::UpTo(6 * T),
        delay: Delay::Exponential,
        ..calm::<TokenLock>(quorums, options, claims)
    }
}
