//! The figures of Cao & Singhal 2001, section 5, measured.
//!
//! Delays are constant here, so that the figures are exact. K is the size of a quorum, T the delay
//! of a message, E the time inside. `docs/protocols/mutex.md` sets claim and measurement side by
//! side.

use std::sync::Arc;

use quorate_protocol::mutex::{Mutex, Options};
use quorate_quorum::{Kind, Listed, QuorumSystem, build};
use quorate_sim::random::{Plan, Span, T, Tally, run};
use quorate_sim::{Claims, Unwatched};

/// The paper's figure 3.
fn figure_3() -> Arc<dyn QuorumSystem> {
    let text = include_str!("../../../../quorums/plane-13.txt");
    Arc::new(text.parse::<Listed>().unwrap())
}

fn grid_9() -> Arc<dyn QuorumSystem> {
    build(Kind::Grid, 9).unwrap()
}

fn plan(quorums: &Arc<dyn QuorumSystem>, options: Options, inside: u64) -> Plan {
    let plan = Plan::calm::<Mutex>(Arc::clone(quorums), options, Claims::all(vec![()]));
    Plan { inside: Span::Fixed(inside), ..plan }
}

fn measure(plan: &Plan) -> Tally {
    let outcome = run(plan, 1, &mut Unwatched);
    assert_eq!(outcome.breach, None);
    assert_eq!(outcome.tally.unserved, 0);
    outcome.tally
}

/// What a stretch of heavy load costs: everybody asks again at once. Beginning and end of a run
/// are the same whatever its length, so two runs of different length differ by the middle alone.
struct Heavy {
    entries: u64,
    messages: u64,
    handovers: u64,
    handover_ticks: u64,
    ticks: u64,
}

fn heavy(quorums: &Arc<dyn QuorumSystem>, options: Options, inside: u64) -> Heavy {
    let mut plan = plan(quorums, options, inside);
    plan.requests = vec![20; quorums.n()];
    let short = measure(&plan);
    plan.requests = vec![40; quorums.n()];
    let long = measure(&plan);
    Heavy {
        entries: long.entries - short.entries,
        messages: long.messages - short.messages,
        handovers: long.handovers - short.handovers,
        handover_ticks: long.handover_ticks - short.handover_ticks,
        ticks: long.elapsed_ticks - short.elapsed_ticks,
    }
}

/// The mean hand-over as a fraction of T, exactly.
fn assert_handover(heavy: &Heavy, numerator: u64, denominator: u64) {
    let claimed = heavy.handovers * T * numerator;
    let measured = heavy.handover_ticks * denominator;
    assert_eq!(measured, claimed, "{} T", heavy.handover_ticks as f64 / heavy.handovers as f64);
}

fn without_ahead() -> Options {
    Options { ahead: false, lists: false, ..Options::default() }
}

fn without_passing() -> Options {
    Options { passing: false, ..Options::default() }
}

#[test]
fn alone_a_claim_costs_3_k_minus_1_messages_and_waits_2_t() {
    for (kind, n) in [(Kind::Plane, 7), (Kind::Plane, 13), (Kind::Grid, 16), (Kind::Majority, 5)] {
        let quorums = build(kind, n).unwrap();
        for site in 0..n {
            let mut plan = plan(&quorums, Options::default(), T);
            plan.requests[site] = 10;
            let tally = measure(&plan);
            assert_eq!(tally.messages, 10 * 3 * (quorums.min_size() as u64 - 1));
            assert_eq!(tally.wait_ticks, 10 * 2 * T);
        }
    }
}

/// The paper counts 5(K-1); the site's own permission comes by a pass, and is one message more.
#[test]
fn in_turn_under_heavy_load_a_claim_costs_5_k_minus_1_and_1_messages() {
    for (kind, n) in [(Kind::Plane, 7), (Kind::Plane, 13), (Kind::Plane, 21), (Kind::Grid, 9)] {
        let quorums = build(kind, n).unwrap();
        for inside in [3 * T, T * 101 / 100] {
            let heavy = heavy(&quorums, Options::default(), inside);
            let k = quorums.min_size() as u64;
            assert_eq!(heavy.messages, heavy.entries * (5 * (k - 1) + 1), "{}", quorums.name());
        }
    }
}

#[test]
fn a_hand_over_takes_t_if_the_holder_stays_longer_than_t() {
    for quorums in [figure_3(), grid_9(), build(Kind::Plane, 7).unwrap()] {
        for options in [Options::basic(), Options::default()] {
            for inside in [T * 101 / 100, 2 * T, 10 * T] {
                assert_handover(&heavy(&quorums, options, inside), 1, 1);
            }
        }
    }
}

/// Section 5.2.2: 1 + p/2, p the chance that the late arbiter is in the next quorum: 4/13 and 2/3.
#[test]
fn without_5_3_a_short_stay_costs_half_p_more() {
    for inside in [T / 2, T / 4, T / 100] {
        assert_handover(&heavy(&figure_3(), without_ahead(), inside), 15, 13);
        assert_handover(&heavy(&grid_9(), without_ahead(), inside), 4, 3);
    }
}

#[test]
fn with_5_3_a_hand_over_takes_t_however_short_the_stay() {
    for quorums in [figure_3(), grid_9()] {
        for inside in [T, T / 2, T / 4, T / 100] {
            assert_handover(&heavy(&quorums, Options::default(), inside), 1, 1);
        }
    }
}

/// The permission goes back to its arbiter first, as with Maekawa. In the plane the arbiter that
/// two quorums share is sometimes one of the two sites, and a message to oneself is free.
#[test]
fn without_passing_a_hand_over_takes_2_t() {
    assert_handover(&heavy(&grid_9(), without_passing(), 2 * T), 2, 1);
    assert_handover(&heavy(&figure_3(), without_passing(), 2 * T), 24, 13);
    let heavy = heavy(&grid_9(), without_passing(), 2 * T);
    assert_eq!(heavy.messages, heavy.entries * 4 * 4, "4(K-1), K = 5");
}

/// The throughput is 1/(D + E): with a very short stay, almost doubled.
#[test]
fn throughput_is_one_over_handover_and_stay() {
    let stay = T / 100;
    let per_entry = |options| {
        let heavy = heavy(&figure_3(), options, stay);
        heavy.ticks / heavy.entries
    };
    assert_eq!(per_entry(Options::default()), T + stay);
    assert_eq!(per_entry(without_ahead()), T * 15 / 13 + stay);
    assert_eq!(per_entry(without_passing()), T * 24 / 13 + stay);
}

/// Section 5.2.1 saves a T where a conflict is resolved just when the holder leaves.
#[test]
fn a_yield_by_direct_pass_shortens_the_hand_over_on_average() {
    let mean = |options| {
        let mut plan = plan(&figure_3(), options, T * 3 / 2);
        plan.requests = vec![200; 13];
        plan.think = Span::UpTo(40 * T);
        let tally = measure(&plan);
        tally.handover_ticks / tally.handovers
    };
    let direct = mean(Options { yield_pass: true, ..Options::basic() });
    let detour = mean(Options::basic());
    assert!(direct < detour, "{direct} {detour}");
    assert!(direct > T, "conflicts cost something: {direct}");
}
