//! Whole state spaces of the baselines, and what the search finds when a rule is undone.

use quorate_check::{Claims, Limits, Report, Space, check};
use quorate_laboratory::baselines::joung::{Choice, Joung, Options};
use quorate_laboratory::baselines::{
    Lamport, Maekawa, Raymond, RicartAgrawala, SinghalDynamic, SinghalHeuristic, SuzukiKasami,
};
use quorate_laboratory::{Algorithm, Baseline};
use quorate_quorum::{Listed, QuorumSystem, SiteId, SiteSet};
use quorate_sim::{Shape, Subject};

fn search<P: Subject>(
    shape: &Shape,
    options: P::Options,
    claims: Vec<Vec<P::Claim>>,
    requests: &[u32],
) -> Report {
    let all: Vec<P::Claim> = claims.iter().flatten().cloned().collect();
    let quorums = P::quorums(shape, &all).expect("such quorums exist");
    let space = Space::new::<P>(quorums, options, Claims::each(claims), requests);
    check(&space, &Limits { threads: 1, ..Limits::default() })
}

fn mutex<A: Algorithm>(kind: &str, requests: &[u32]) -> Report {
    let shape = Shape::Kind(kind.to_owned(), requests.len());
    search::<Baseline<A>>(&shape, None, vec![vec![()]], requests)
}

/// With all its rules nothing breaks; with any of them undone this does.
fn assert_rules<A: Algorithm>(shape: &Shape, requests: &[u32], damage: &[(&'static str, &str)]) {
    let search = |undone| search::<Baseline<A>>(shape, undone, vec![vec![()]], requests);
    search(None).assert_clean();
    let rules: Vec<_> = damage.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(rules, A::RULES, "every rule has its damage");
    for (rule, property) in damage {
        let (breach, _) = search(Some(rule)).violation.expect("a rule that can be spared is none");
        assert_eq!(breach.property, *property, "{} without {rule}: {breach}", A::NAME);
    }
}

fn all(n: usize) -> Shape {
    Shape::Kind("all".to_owned(), n)
}

#[test]
fn lamport() {
    assert_rules::<Lamport>(&all(3), &[1, 1, 1], &[("acks", "exclusion")]);
    mutex::<Lamport>("all", &[3, 3]).assert_clean();
}

#[test]
fn ricart_agrawala() {
    assert_rules::<RicartAgrawala>(&all(3), &[2, 1, 1], &[("defer", "exclusion")]);
}

/// Three requesters and two arbiters: who is no longer first in line must be told.
#[test]
fn maekawa() {
    let listed: Listed = include_str!("../../../../quorums/two-arbiters-5.txt").parse().unwrap();
    let up = SiteSet::full(listed.n());
    let own = SiteId::all(listed.n()).map(|site| listed.pick_for(site, &up));
    let shape = Shape::Listed(own.collect());
    let damage = [("sanders", "progress"), ("inquire", "progress"), ("relinquish", "contract")];
    assert_rules::<Maekawa>(&shape, &[0, 1, 1, 1, 1], &damage);
    mutex::<Maekawa>("majority", &[2, 2, 2]).assert_clean();
    mutex::<Maekawa>("grid", &[1, 1, 1, 1]).assert_clean();
}

#[test]
fn suzuki_kasami() {
    assert_rules::<SuzukiKasami>(&all(3), &[2, 2, 2], &[("numbers", "contract")]);
}

#[test]
fn raymond() {
    assert_rules::<Raymond>(&all(3), &[2, 2, 2], &[("turn", "exclusion")]);
    mutex::<Raymond>("all", &[1; 5]).assert_clean();
}

#[test]
fn singhal_dynamic() {
    assert_rules::<SinghalDynamic>(&all(3), &[2, 2, 2], &[("ask-back", "exclusion")]);
}

/// Clean if each asks once. The textbook's rules let a second request be forgotten.
#[test]
fn singhal_heuristic() {
    let damage = [("ask-back", "progress"), ("outdated", "contract")];
    assert_rules::<SinghalHeuristic>(&all(3), &[1, 1, 1], &damage);
    mutex::<SinghalHeuristic>("all", &[1; 4]).assert_clean();
    let report = mutex::<SinghalHeuristic>("all", &[1, 1, 2]);
    assert_eq!(report.violation.map(|(breach, _)| breach.property), Some("progress"));
}

fn joung(shape: &Shape, options: Options, claims: &[&str], requests: &[u32]) -> Report {
    let parse = |claim: &&str| {
        let words: Vec<_> = claim.split(' ').collect();
        vec![Joung::parse_claim(&words).expect("groups")]
    };
    search::<Joung>(shape, options, claims.iter().map(parse).collect(), requests)
}

/// The managers 1 to 3, and a quorum of two for each of the requesters 4 to 6.
fn two_of_three() -> Shape {
    let set = |sites: [usize; 2]| Some(sites.map(SiteId::new).into_iter().collect());
    Shape::Listed(vec![None, None, None, set([0, 1]), set([1, 2]), set([0, 2])])
}

/// Votes of one group at a time, given back when need be.
#[test]
fn joung_without_its_rules() {
    let (claims, requests) = (["a", "a", "a", "a", "b", "c"], [0, 0, 0, 1, 1, 1]);
    let search = |undone| {
        let options = Options { undone, ..Options::default() };
        joung(&two_of_three(), options, &claims, &requests)
    };
    search(None).assert_clean();
    for (rule, property) in [("cancel", "progress"), ("vote", "exclusion")] {
        let (breach, _) = search(Some(rule)).violation.expect("the rule is needed");
        assert_eq!(breach.property, property, "without {rule}: {breach}");
    }
}

/// Parallel lines and several groups are safe; but somebody may wait needlessly, whichever way
/// quorums and groups are chosen.
#[test]
fn joung_blocks() {
    let lines = Shape::Kind("parallel".to_owned(), 7);
    let (claims, requests) = (["b", "a", "a", "a", "b", "a", "a"], [0, 0, 0, 0, 1, 1, 1]);
    let options = Options::default();
    joung(&lines, options, &claims, &requests).assert_clean();
    let judged = Options { judged: true, ..options };
    let last = Options { choice: Choice::Last, ..judged };
    let one = Shape::Listed(vec![None, Some(SiteSet::full(1)), Some(SiteSet::full(1))]);
    for (report, why) in [
        (joung(&lines, judged, &claims, &requests), "quorums of one group do not meet"),
        (joung(&one, last, &["a", "a", "a b"], &[0, 1, 1]), "it chose before it asked"),
    ] {
        let breach = report.violation.map(|(breach, _)| breach.property);
        assert_eq!(breach, Some("no blocking"), "{why}");
    }
}
