//! What must hold for every construction and every number of sites.

use std::sync::Arc;

use proptest::prelude::*;
use quorate_quorum::{
    Composed, Kind, QuorumError, QuorumSystem, SiteId, SiteSet, build, check_meets,
};

use crate::tools::{Numbers, from_mask, some_sets};

/// Systems with more quorums than this are checked by samples only.
const LISTED_MAX: usize = 2_000;

/// Every kind with 1 to 40 sites.
fn systems() -> impl Iterator<Item = Arc<dyn QuorumSystem>> {
    let sizes = |kind: &Kind| {
        (1..=40).map({
            let kind = *kind;
            move |n| build(kind, n).expect("every size from 1 on fits")
        })
    };
    Kind::all().iter().flat_map(sizes)
}

/// All quorums of the minimal form, unless they are very many.
fn list(system: &dyn QuorumSystem) -> Option<Vec<SiteSet>> {
    let quorums: Vec<_> = system.quorums().take(LISTED_MAX + 1).collect();
    (quorums.len() <= LISTED_MAX).then_some(quorums)
}

/// Folded planes above 40 sites too: how much a fold takes away grows with the gap to the next
/// plane.
fn larger_planes() -> impl Iterator<Item = Arc<dyn QuorumSystem>> {
    (41..=134).map(|n| build(Kind::Plane, n).expect("every size from 1 on fits"))
}

/// What a quorum costs under a preference, as the trait defines it.
fn cost(quorum: &SiteSet, prefer: &[SiteId]) -> usize {
    let place = |site| prefer.iter().position(|other| *other == site).unwrap_or(prefer.len()) + 1;
    quorum.iter().map(place).sum()
}

#[test]
fn any_two_quorums_meet() {
    for system in systems().chain(larger_planes()) {
        if let Some(quorums) = list(&*system) {
            let meet = check_meets(quorums.iter().map(|quorum| (SiteId::new(0), quorum)));
            assert_eq!(meet, Ok(()), "{}", system.name());
        }
    }
}

#[test]
fn every_site_stands_once_in_the_shape() {
    for system in systems() {
        let mut sites = system.shape().sites();
        sites.sort_unstable();
        assert!(sites.into_iter().eq(SiteId::all(system.n())), "{}", system.name());
    }
}

#[test]
fn no_quorum_contains_another() {
    for system in systems().chain(larger_planes()) {
        let Some(quorums) = list(&*system) else { continue };
        assert!(!quorums.is_empty(), "{} has quorums", system.name());
        for (at, quorum) in quorums.iter().enumerate() {
            let other = quorums[at + 1..]
                .iter()
                .find(|other| other.is_subset(quorum) || quorum.is_subset(other));
            assert_eq!(other, None, "{}: beside {quorum}", system.name());
        }
    }
}

#[test]
fn sizes_are_those_of_the_quorums() {
    for system in systems().chain(larger_planes()) {
        if let Some(quorums) = list(&*system) {
            let sizes = quorums.iter().map(SiteSet::len);
            let (least, most) = (sizes.clone().min(), sizes.max());
            let told = (Some(system.min_size()), Some(system.max_size()));
            assert_eq!(told, (least, most), "{}", system.name());
        }
        assert!(system.quorums().take(50).all(|q| q.iter().all(|s| s.index() < system.n())));
    }
}

#[test]
fn a_set_is_a_quorum_if_it_contains_one() {
    for system in systems() {
        let Some(quorums) = list(&*system) else { continue };
        for set in some_sets(system.n()) {
            let contains = quorums.iter().any(|quorum| quorum.is_subset(&set));
            assert_eq!(system.is_quorum(&set), contains, "{}: {set}", system.name());
        }
        for quorum in &quorums {
            assert!(system.is_quorum(quorum), "{}: {quorum}", system.name());
            for site in quorum.iter() {
                let mut less = quorum.clone();
                less.remove(site);
                assert!(!system.is_quorum(&less), "{}: {less}", system.name());
            }
        }
    }
}

#[test]
fn a_set_is_a_cover_if_it_meets_every_quorum() {
    for system in systems() {
        let Some(quorums) = list(&*system) else { continue };
        for set in some_sets(system.n()) {
            let meets = quorums.iter().all(|quorum| !quorum.is_disjoint(&set));
            assert_eq!(system.is_cover(&set), meets, "{}: {set}", system.name());
        }
        let covers = quorums.iter().all(|quorum| system.is_cover(quorum));
        assert!(covers, "{}: any two quorums meet", system.name());
    }
}

/// Of two halves of the sites, one is a cover: so half of the sites, rounded up, can be enough.
#[test]
fn half_of_the_sites_can_be_a_cover() {
    for system in systems() {
        let (half, n) = (system.n().div_ceil(2), system.n());
        let [first, last] =
            [0..half, n - half..n].map(|sites| sites.map(SiteId::new).collect::<SiteSet>());
        assert!(system.is_cover(&first) || system.is_cover(&last), "{}", system.name());
    }
}

#[test]
fn the_quorum_of_a_site_contains_it() {
    for system in systems() {
        let n = system.n();
        let all = SiteSet::full(n);
        for site in SiteId::all(n) {
            let own = system.pick_for(site, &all).expect("all are up");
            let name = system.name();
            assert!(own.contains(site), "{name}: {own} of {site}");
            assert!(own.is_subset(&all), "{name}: {own} of {site}");
            assert!(system.is_quorum(&own), "{name}: {own} of {site}");
            // Nobody can be spared, but for the site itself.
            for other in own.iter().filter(|other| *other != site) {
                let mut less = own.clone();
                less.remove(other);
                assert!(!system.is_quorum(&less), "{name}: {own} of {site} without {other}");
            }
        }
    }
}

#[test]
fn the_quorum_of_a_site_is_live_whenever_there_is_one() {
    for system in systems() {
        for live in some_sets(system.n()) {
            for site in SiteId::all(system.n()).step_by(1 + system.n() / 10) {
                let quorum = system.pick_for(site, &live);
                let name = system.name();
                assert_eq!(quorum.is_some(), system.is_quorum(&live), "{name}: {live}");
                if let Some(quorum) = quorum {
                    assert!(system.is_quorum(&quorum), "{name}: {quorum} for {site} in {live}");
                    assert!(quorum.is_subset(&live), "{name}: {quorum} for {site} in {live}");
                }
            }
        }
    }
}

#[test]
fn the_pick_is_the_cheapest_live_quorum() {
    let mut numbers = Numbers(7);
    // Weighted votes are picked greedily; their own test says what holds.
    for system in systems().filter(|system| !system.name().starts_with("weighted")) {
        let quorums = list(&*system);
        for live in some_sets(system.n()).into_iter().step_by(3) {
            let mut prefer = numbers.order(system.n());
            prefer.truncate(numbers.below(system.n() + 1));
            let picked = system.pick(&live, &prefer);
            let name = system.name();
            assert_eq!(picked.is_some(), system.is_quorum(&live), "{name}: {live}");
            let Some(picked) = picked else { continue };
            assert!(system.is_quorum(&picked), "{name}: {picked} in {live}");
            assert!(picked.is_subset(&live), "{name}: {picked} in {live}");
            let alive = quorums.iter().flatten().filter(|quorum| quorum.is_subset(&live));
            if let Some(least) = alive.map(|quorum| cost(quorum, &prefer)).min() {
                assert_eq!(cost(&picked, &prefer), least, "{name}: {picked} in {live}");
            }
        }
    }
}

#[test]
fn of_a_site_preferred_twice_the_first_place_counts() {
    let [a, b, c] = [0, 1, 2].map(SiteId::new);
    for kind in Kind::all() {
        let system = build(*kind, 3).unwrap();
        let picked = system.pick(&SiteSet::full(3), &[c, b, a, c, c]);
        assert_eq!(picked, Some([b, c].into_iter().collect()), "{kind}");
    }
}

#[test]
fn unknown_sites_count_for_nothing() {
    let beyond: SiteSet = (0..60).map(|at| SiteId::new(at + 50)).collect();
    for system in systems() {
        assert!(!system.is_quorum(&beyond), "{}", system.name());
        assert_eq!(system.pick(&beyond, &[SiteId::new(55)]), None, "{}", system.name());
        assert_eq!(system.pick_for(SiteId::new(55), &SiteSet::full(100)), None);
        let picked = system.pick(&SiteSet::full(100), &[SiteId::new(70), SiteId::new(0)]);
        assert!(picked.is_some_and(|quorum| quorum.iter().all(|site| site.index() < system.n())));
    }
}

#[test]
fn any_failures_up_to_the_resilience_leave_a_quorum() {
    for system in systems().filter(|system| system.n() <= 14) {
        let n = system.n();
        let survives = |failed: u32| {
            (0..1_u64 << n)
                .filter(|down| down.count_ones() == failed)
                .all(|down| system.is_quorum(&from_mask(!down & ((1 << n) - 1))))
        };
        let resilience = system.resilience().expect("small systems are searched");
        let resilience = u32::try_from(resilience).expect("below the number of sites");
        assert!(survives(resilience), "{}: {resilience}", system.name());
        assert!(!survives(resilience + 1), "{}: {resilience}", system.name());
    }
}

#[test]
fn resilience_is_found_up_to_forty_sites() {
    for system in systems() {
        let resilience = system.resilience().expect("up to 40 sites are searched");
        assert!(resilience < system.min_size(), "{}", system.name());
    }
}

#[test]
fn availability_is_the_sum_over_all_live_sets() {
    for system in systems().filter(|system| system.n() <= 12) {
        let n = system.n();
        let mut numbers = Numbers(n as u64);
        let up: Vec<f64> = (0..n).map(|_| numbers.fraction()).collect();
        let of = |live: u64| -> f64 {
            (0..n).map(|at| if live >> at & 1 == 1 { up[at] } else { 1.0 - up[at] }).product()
        };
        let live = |live: &u64| system.is_quorum(&from_mask(*live));
        let sum: f64 = (0..1_u64 << n).filter(live).map(of).sum();
        let told = system.availability(&up).expect("small systems are computed");
        assert!((told - sum).abs() < 1e-9, "{}: {told} is not {sum}", system.name());
    }
}

#[test]
fn availability_refuses_what_is_no_probability() {
    for kind in Kind::all() {
        let system = build(*kind, 7).unwrap();
        let short = system.availability(&[0.5; 6]);
        assert_eq!(short, Err(QuorumError::UpLength { given: 6, n: 7 }));
        for wrong in [-0.1, 1.5, f64::NAN] {
            let refused = system.availability(&[0.5, wrong, 0.5, 0.5, 0.5, 0.5, 0.5]);
            assert!(matches!(refused, Err(QuorumError::NotAProbability { .. })), "{kind} {wrong}");
        }
    }
}

/// Brackets the load from both sides: sites grow dearer the more they are used, and the cheapest
/// quorum is used next. What the busiest site bears is an upper bound, and the cheapest quorum
/// under the average price a lower one.
fn bracket(n: usize, quorums: &[SiteSet]) -> (f64, f64) {
    let (mut uses, mut lower) = (vec![0.0; n], 0.0_f64);
    let rounds = 3_000;
    for _ in 0..rounds {
        let most = uses.iter().copied().fold(0.0, f64::max);
        let price: Vec<f64> = uses.iter().map(|uses: &f64| ((uses - most) * 0.05).exp()).collect();
        let cost = |quorum: &SiteSet| quorum.iter().map(|site| price[site.index()]).sum::<f64>();
        let least = quorums.iter().min_by(|a, b| cost(a).total_cmp(&cost(b))).expect("a quorum");
        lower = lower.max(cost(least) / price.iter().sum::<f64>());
        for site in least.iter() {
            uses[site.index()] += 1.0;
        }
    }
    (lower, uses.into_iter().fold(0.0, f64::max) / f64::from(rounds))
}

#[test]
fn load_bounds_hold_the_load() {
    for system in systems().filter(|system| system.n() <= 16) {
        let Some(quorums) = list(&*system).filter(|quorums| quorums.len() <= 300) else { continue };
        let (lower, upper) = bracket(system.n(), &quorums);
        let told = system.load_bounds();
        let name = system.name();
        assert!(told.lower <= upper + 1e-9, "{name}: {told:?}, but {upper} is enough");
        assert!(told.upper >= lower - 1e-9, "{name}: {told:?}, but {lower} is needed");
        assert!(told.lower <= told.upper + 1e-9, "{name}: {told:?}");
    }
}

#[test]
fn no_sites_and_too_many_sites_are_refused() {
    for kind in Kind::all() {
        let refused = |n| build(*kind, n).expect_err("does not fit").to_string();
        assert_eq!(refused(0), "a cluster needs at least 1 site");
        let many = usize::MAX;
        let message = format!("{many} sites are too many: a cluster has 1 to 65536");
        assert_eq!(refused(many), message);
    }
}

#[test]
fn kinds_with_numbers_are_read_written_and_refused() {
    for name in ["wall:1,2,3", "weighted:2,1,1,1", "plane:4"] {
        assert_eq!(name.parse::<Kind>().unwrap().to_string(), name);
    }
    assert_eq!(build("plane:4".parse().unwrap(), 21).unwrap().max_size(), 5);
    let refused = |name: &str, n: usize| match name.parse().and_then(|kind| build(kind, n)) {
        Err(error) => error.to_string(),
        Ok(system) => panic!("{} is fine", system.name()),
    };
    let numbers = |found: &str| {
        format!(
            "expected numbers such as `1,2,3`, at most 63 of them and each at most 65535, \
             found `{found}`"
        )
    };
    let many = vec!["1"; 64].join(",");
    for (name, n, message) in [
        (
            "plane:6",
            43,
            "no projective plane of order 6 is known here: take 5 (31 sites) or 7 (57 sites)",
        ),
        ("plane:1", 3, "no projective plane of order 1 is known here: take 2 (7 sites)"),
        ("plane:999", 3, "no projective plane of order 999 is known here: take 251 (63253 sites)"),
        ("plane:3", 12, "`plane:3` is for 13 sites, and the cluster has 12"),
        ("wall:1,0,3", 4, "row 2 of the wall has width 0: give it 1 or more, or leave it out"),
        ("wall:1,2,3", 5, "`wall:1,2,3` is for 6 sites, and the cluster has 5"),
        ("wall:0", 1, "a cluster needs at least 1 site"),
        ("weighted:0,0", 2, "no site has a vote: give at least one site 1"),
        ("weighted:1,1", 3, "`weighted:1,1` is for 2 sites, and the cluster has 3"),
        ("weighted:2,-1", 2, &numbers("2,-1")),
        (
            "weighted:65535,65535,65535",
            3,
            "196605 votes are too many: all together may have 131072",
        ),
        ("wall:", 1, &numbers("")),
        ("wall:70000", 1, &numbers("70000")),
        (&format!("wall:{many}"), 64, &numbers(&many)),
    ] {
        assert_eq!(refused(name, n), message, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_name_is_read_or_refused(
        name in "(wall|weighted|plane|grid|\\PC)?:?([0-9]{1,6}|,|-|\\PC){0,8}", n in 0..40_usize
    ) {
        let Ok(kind) = name.parse::<Kind>() else { return Ok(()) };
        if let Ok(system) = build(kind, n) {
            prop_assert!(system.n() == n && system.is_quorum(&SiteSet::full(n)));
        }
    }
}

#[test]
fn groups_that_do_not_fit_are_refused() {
    let said = |system: Result<Composed, QuorumError>| system.unwrap_err().to_string();
    let three = || build(Kind::Majority, 3).unwrap();
    let given = said(Composed::new("odd", three(), vec![three(); 2]));
    assert_eq!(given, "2 groups for an outer system of 3: give one for each");
    assert_eq!(said(Composed::grid_set(4, 5)), "4 sites cannot be grouped by 5: take 1 to 4");
    assert_eq!(said(Composed::grid_of_groups(4, 0)), "4 sites cannot be grouped by 0: take 1 to 4");
    assert_eq!(said(Composed::hierarchy(0)), "a cluster needs at least 1 site");
    let large = build(Kind::Majority, 30_000).unwrap();
    let many = said(Composed::new("large", three(), vec![large; 3]));
    assert_eq!(many, "90000 sites are too many: a cluster has 1 to 65536");
}

#[test]
fn unknown_names_list_the_known_ones() {
    for kind in Kind::all() {
        assert_eq!(kind.name().parse(), Ok(*kind));
        assert_eq!(format!("{kind:>10}").len(), 10);
        assert!(!kind.description().is_empty());
    }
    let known: Vec<_> = Kind::all().iter().map(|kind| kind.name()).collect();
    let known = format!("{}, wall:1,2,3, weighted:2,1,1, plane:4", known.join(", "));
    for name in ["ring", "", "grid:3", "plane:x", "plane:-1", "wall", "Majority"] {
        let message = format!("no quorum system is called `{name}`; known: {known}");
        assert_eq!(name.parse::<Kind>().unwrap_err().to_string(), message);
    }
}
