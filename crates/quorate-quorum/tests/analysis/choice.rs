//! Quorums that are near.

use proptest::prelude::*;
use quorate_quorum::analysis::{
    AnalysisError, Class, least_delay, mixed_load, nearest_by_sum, nearest_by_worst,
};
use quorate_quorum::{Kind, SiteSet, build};

use crate::tools::{all, fixed_seed};

fn worst(quorum: &SiteSet, delays: &[f64]) -> f64 {
    quorum.iter().map(|site| delays[site.index()]).fold(0.0, f64::max)
}

proptest! {
    #![proptest_config(fixed_seed(64))]

    #[test]
    fn no_quorum_is_nearer(
        delays in prop::collection::vec(0_u32..9, 9),
        kind in 0..Kind::all().len(),
    ) {
        let system = build(Kind::all()[kind], 9).unwrap();
        let delays: Vec<_> = delays.into_iter().map(f64::from).collect();
        let quorums = all(&*system);
        let (found, slowest) = nearest_by_worst(&*system, &delays).unwrap();
        prop_assert!(system.is_quorum(&found));
        let least = quorums.iter().map(|quorum| worst(quorum, &delays)).fold(99.0, f64::min);
        prop_assert!((slowest - least).abs() < 1e-12);
        let (found, sum) = nearest_by_sum(9, &quorums, &delays).unwrap();
        prop_assert!(system.is_quorum(&found));
        let total = |quorum: &SiteSet| quorum.iter().map(|site| delays[site.index()]).sum();
        prop_assert!((sum - quorums.iter().map(total).fold(99.0, f64::min)).abs() < 1e-12);
    }
}

#[test]
fn less_load_costs_delay() {
    let quorums = all(&*build(Kind::Majority, 3).unwrap());
    let (delays, speeds) = ([1.0, 2.0, 9.0], [1.0; 3]);
    let mean = |limit| least_delay(&quorums, &delays, &speeds, limit).unwrap().mean;
    assert!((mean(1.0) - 2.0).abs() < 1e-6, "always the two near sites");
    // At 2/3 each pair is used equally often: (2 + 9 + 9)/3.
    assert!((mean(2.0 / 3.0) - 20.0 / 3.0).abs() < 1e-6);
    assert!(mean(0.8) > mean(0.9));
}

#[test]
fn a_load_below_the_least_is_refused_with_the_least() {
    let quorums = all(&*build(Kind::Majority, 3).unwrap());
    let refused = least_delay(&quorums, &[1.0; 3], &[1.0; 3], 0.5).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no choice of quorums keeps the load at 0.5: the least is 0.6667"
    );
    let refused = least_delay(&quorums, &[1.0; 2], &[1.0; 3], 0.5).unwrap_err();
    assert_eq!(refused, AnalysisError::DelaysLength { given: 2, n: 3 }.into());
    let system = build(Kind::Grid, 4).unwrap();
    let refused = nearest_by_worst(&*system, &[1.0, -2.0, 1.0, 1.0]).unwrap_err();
    assert_eq!(refused.to_string(), "the delay of site 2 cannot be -2: give a positive number");
}

#[test]
fn the_least_delay_keeps_to_its_limit() {
    let system = build(Kind::Tree, 7).unwrap();
    let classes = [Class { share: 1.0, quorums: all(&*system) }];
    let least = mixed_load(&classes, &[1.0; 7]).unwrap().upper;
    let delays = [5.0, 1.0, 2.0, 8.0, 3.0, 1.0, 4.0];
    for limit in [least, 0.6, 0.8] {
        let found = least_delay(&classes[0].quorums, &delays, &[1.0; 7], limit).unwrap();
        let mut uses = [0.0; 7];
        for choice in &found.strategy {
            for site in choice.quorum.iter() {
                uses[site.index()] += choice.often;
            }
        }
        assert!(uses.iter().all(|used| *used <= limit + 1e-8), "{limit}: {uses:?}");
    }
}
