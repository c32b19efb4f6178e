//! T1: how long a site waits before it takes the token for lost.

use quorate_sim::random::{Plan, Span, T};

use super::{Claimed, GROUPS, Settings, Sink, seeds, served, token};
use crate::experiment::measure::{ConcurrencyMeter, share};

/// How long a message takes.
const WAY: u64 = T;

/// How long callers stay, in tenths of that.
const STAYS: [u64; 3] = [1, 10, 100];

/// Nothing is lost, every message takes `t_m`, and no stay is longer than `t_c`: a request that
/// waits longer than T1 takes the token for lost without reason.
pub(super) fn run(settings: Settings, sink: Sink<'_>) {
    let runs = if settings.quick { 20 } else { 200 };
    for n in [3, 4, 6] {
        for tenths in STAYS {
            let stay = tenths * WAY / 10;
            let mut meter = ConcurrencyMeter::default();
            for think in [1, 4, 20] {
                let plan = token(n, Span::UpTo(think * (WAY + stay)));
                let plan = Plan { inside: Span::UpTo(stay), ..plan };
                for seed in seeds(settings.seed, runs) {
                    served(&plan, seed, &mut meter);
                }
            }
            rows(n, (tenths, stay), runs, &meter, sink);
        }
    }
}

fn rows(n: usize, (tenths, stay): (u64, u64), runs: u64, meter: &ConcurrencyMeter, sink: Sink<'_>) {
    let sites = n as u64;
    let printed = (sites + 1) * WAY + (sites - 1) * stay;
    let ours = 2 * WAY + (n.min(GROUPS) as u64 + 1) * (3 * WAY + 2 * stay);
    let condition = format!(
        "nothing is lost, 3 groups, constant delays t_m, inside up to t_c = {}t_m, think up to 1, \
         4, 20(t_m + t_c), each site asks 12 times, {runs} runs of each",
        tenths as f64 / 10.0
    );
    let of = format!("N={n}, t_c = {}t_m", tenths as f64 / 10.0);
    let mut row = |what: &str, claim: Claimed, measured: (f64, &'static str), note: &str| {
        sink(claim.beside(format!("{of}: {what}"), condition.clone(), measured, note));
    };
    let late = |limit: u64| {
        let late = meter.waits.iter().filter(|&&wait| wait > limit).count() as u64;
        100.0 * share(late, meter.waits.len() as u64)
    };
    let never = || Claimed::at_most("", 0.0);
    let why = "a late follower makes an occupancy longer than t_c";
    row("waits beyond T_req as printed", never(), (late(printed), "%"), why);
    let longest = meter.longest_wait() as f64;
    let bound = Claimed::at_most("", 1.0);
    row("the longest wait", bound, (longest / printed as f64, "T_req"), why);
    row("waits beyond our T1", never(), (late(ours), "%"), "");
}
