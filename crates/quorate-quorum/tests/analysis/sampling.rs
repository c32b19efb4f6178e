//! Failure probabilities: sampled where they cannot be computed, and never without an interval.

use quorate_quorum::analysis::{
    Draws, Failure, failure, sampled_failure, smallest_stop, survived_at_least,
};
use quorate_quorum::{Kind, QuorumError, QuorumSystem, build};

fn interval(found: Failure) -> (f64, f64) {
    let Failure::Sampled { low, high, .. } = found else { panic!("sampled: {found:?}") };
    (low, high)
}

fn draws(system: &dyn QuorumSystem, samples: u32, seed: u64) -> Draws {
    Draws { samples, seed, survived: system.resilience().unwrap() }
}

#[test]
fn intervals_hold_the_exact_value() {
    // 95 of 100 hold it; with these seeds all but a few of the sixty do.
    let mut misses = 0;
    for (kind, n) in [(Kind::Majority, 7), (Kind::Plane, 13), (Kind::Grid, 9), (Kind::Tree, 15)] {
        let system = build(kind, n).unwrap();
        for down in [0.01, 0.1, 0.3] {
            let up = vec![1.0 - down; n];
            let exact = 1.0 - system.availability(&up).unwrap();
            for seed in 0..5 {
                let (low, high) =
                    interval(sampled_failure(&*system, &up, draws(&*system, 4_000, seed)).unwrap());
                misses += usize::from(!(low..=high).contains(&exact));
                assert!(low <= high && high < 3.0 * exact + 1e-9, "{kind} {down}: {low} {high}");
            }
        }
    }
    assert!(misses <= 6, "{misses} of 60 intervals miss");
}

#[test]
fn rare_failures_are_reached_with_few_samples() {
    // One in 10^9: plain sampling would see nothing in a thousand draws.
    let system = build(Kind::Plane, 13).unwrap();
    let up = [0.995; 13];
    let exact = 1.0 - system.availability(&up).unwrap();
    assert!((1e-9..1e-7).contains(&exact), "{exact}");
    let (low, high) = interval(sampled_failure(&*system, &up, draws(&*system, 4_000, 1)).unwrap());
    assert!(low > exact / 2.0 && high < 2.0 * exact, "{low} {exact} {high}");
    // Which is what happens without knowing what is survived.
    let blind = Draws { survived: 0, ..draws(&*system, 4_000, 1) };
    let (low, high) = interval(sampled_failure(&*system, &up, blind).unwrap());
    assert!(low < exact / 2.0 && high > 2.0 * exact, "{low} {exact} {high}");
}

#[test]
fn a_seed_is_an_answer() {
    let system = build(Kind::Plane, 31).unwrap();
    let up = [0.8; 31];
    let ask = |seed| sampled_failure(&*system, &up, draws(&*system, 2_000, seed)).unwrap();
    assert_eq!(ask(3), ask(3));
    assert_ne!(ask(3), ask(4));
}

#[test]
fn what_is_exact_and_what_is_not_is_told() {
    let at = |kind, n, down: f64| failure(&*build(kind, n).unwrap(), &vec![1.0 - down; n]).unwrap();
    assert!(matches!(at(Kind::Plane, 13, 0.1), Failure::Exact(_)));
    assert!(matches!(at(Kind::Plane, 31, 0.1), Failure::Sampled { samples: 20_000, .. }));
    assert!(matches!(at(Kind::Majority, 101, 0.01), Failure::Below(_)));
    assert!((at(Kind::Plane, 31, 0.0).about()).abs() < 1e-15);
    assert!((at(Kind::Plane, 31, 1.0).about() - 1.0).abs() < 1e-15);
    let refused = failure(&*build(Kind::Grid, 4).unwrap(), &[0.5; 3]);
    assert_eq!(refused, Err(QuorumError::UpLength { given: 3, n: 4 }));
}

#[test]
fn no_more_failures_are_called_survived_than_are() {
    let system = build(Kind::Cyclic, 100).unwrap();
    assert!(system.resilience().is_err(), "the search would take too long");
    let sure = survived_at_least(&*system);
    assert!(sure >= 8, "{sure}");
    let few = build(Kind::Cyclic, 31).unwrap();
    let quorums: Vec<_> = few.quorums().collect();
    assert_eq!(survived_at_least(&*few) + 1, smallest_stop(31, &quorums).unwrap().len());
}
