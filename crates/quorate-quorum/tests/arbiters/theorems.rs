//! The theorems of Manabe & Tajima, tried on families that hold and on families that do not.

use quorate_quorum::{Arbiters, SiteId, SiteSet, check_arbiters};

use crate::tools::{list, sizes};

/// Requests of a family, each for some units with some quorum.
type Requests = Vec<(usize, SiteSet)>;

/// Whether each site can lend all that is asked of it, so that all requests are served at once.
fn all_served(n: usize, k: usize, requests: &[&(usize, SiteSet)]) -> bool {
    SiteId::all(n).all(|site| {
        let asked = requests.iter().filter(|(_, quorum)| quorum.contains(site));
        asked.map(|(h, _)| h).sum::<usize>() <= k
    })
}

/// Whether some bag of at most `more` further requests takes too many units and is served at once.
fn unsafe_bag<'a>(
    n: usize,
    k: usize,
    all: &'a Requests,
    bag: &mut Vec<&'a (usize, SiteSet)>,
    from: usize,
) -> bool {
    if !all_served(n, k, bag) {
        return false; // and so is no larger one
    }
    if bag.iter().map(|(h, _)| h).sum::<usize>() > k {
        return true;
    }
    (from..all.len()).any(|at| {
        bag.push(&all[at]);
        let found = unsafe_bag(n, k, all, bag, at);
        bag.pop();
        found
    })
}

/// Theorem 1: the condition over critical patterns holds just if no requests for more than k units
/// can be served at once. On 1,500 families of some quorums each, of which many are safe and many
/// are not.
#[test]
fn the_condition_is_safety() {
    let mut state = 1_u64;
    let mut next = |limit: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut verdicts = [0; 2];
    for _ in 0..1_500 {
        let (n, k) = (usize::try_from(2 + next(4)).unwrap(), usize::try_from(1 + next(3)).unwrap());
        let mut quorum = || {
            // Sites are left out one time in four.
            let mut quorum: SiteSet = SiteId::all(n).filter(|_| next(4) > 0).collect();
            quorum.insert(SiteId::new(0).min(SiteId::new(n - 1)));
            if next(2) == 0 && quorum.len() > 1 {
                quorum.remove(SiteId::new(0));
            }
            quorum
        };
        let sets: Vec<Vec<_>> = (0..k).map(|_| vec![quorum(), quorum()]).collect();
        let all: Requests = (1..)
            .zip(&sets)
            .flat_map(|(h, sets)| sets.iter().map(move |set| (h, set.clone())))
            .collect();
        let safe = !unsafe_bag(n, k, &all, &mut Vec::new(), 0);
        assert_eq!(check_arbiters(n, &sets).is_ok(), safe, "{n} sites, {k} units, {sets:?}");
        verdicts[usize::from(safe)] += 1;
    }
    assert!(verdicts.iter().all(|times| *times > 300), "{verdicts:?} unsafe and safe");
}

/// Theorem 3 calls the uniform sizes optimal. They are for every h that divides k; for others
/// smaller ones exist.
#[test]
fn uniform_sizes_are_best_where_h_divides_k() {
    let mut smaller = 0;
    for k in 1..=10_usize {
        for n in 1..=200 {
            let (uniform, improved) = (
                sizes(&Arbiters::uniform(n, k).unwrap()),
                sizes(&Arbiters::improved(n, k).unwrap()),
            );
            for (h, (uniform, improved)) in (1..).zip(uniform.into_iter().zip(improved)) {
                assert!(improved == uniform || !k.is_multiple_of(h), "{n} sites, {h} of {k}");
                smaller += usize::from(improved < uniform);
            }
        }
    }
    assert!(smaller > 1_000, "{smaller}");
}

/// What a pool may rely on when it takes units out of use: quorums for k units serve fewer too, and
/// any two of them meet.
#[test]
fn quorums_serve_smaller_pools() {
    for k in 2..=7 {
        for n in 1..=60 {
            for family in [Arbiters::uniform, Arbiters::improved] {
                let sizes = sizes(&family(n, k).unwrap());
                for fewer in 1..k {
                    assert!(Arbiters::thresholds(n, &sizes[..fewer]).is_ok(), "{n}, {sizes:?}");
                }
                assert!(2 * sizes[k - 1] > n, "{n}, {sizes:?}");
            }
        }
    }
    for (n, k) in [(13, 3), (10, 3)] {
        let sets = list(&Arbiters::cyclic(n, k).unwrap());
        for fewer in 1..k {
            assert_eq!(check_arbiters(n, &sets[..fewer]), Ok(()), "{n} sites, {fewer} of {k}");
        }
    }
}

/// A quorum for all k units is "close to √n" for odd k only: with two units a cube makes no
/// difference between one and both, and its quorums are smaller than thresholds only from 125
/// sites on.
#[test]
fn cubes_gain_nothing_for_two_units() {
    for n in [8, 27, 64] {
        let cube = Arbiters::cube(n, 2).unwrap();
        let [one, both] = [1, 2].map(|h| cube.of(h).unwrap().quorums().collect::<Vec<_>>());
        assert_eq!(one, both, "{n} sites");
        assert!(sizes(&cube)[1] >= sizes(&Arbiters::uniform(n, 2).unwrap())[1], "{n} sites");
    }
    let cube = Arbiters::cube(125, 2).unwrap();
    assert!(sizes(&cube)[1] < sizes(&Arbiters::uniform(125, 2).unwrap())[1]);
}
