//! Whole state spaces of the baselines, and what the search finds when a rule is undone.

use quorate_check::{Claims, Limits, Report, Space, check};
use quorate_laboratory::baselines::{
    Lamport, Maekawa, Raymond, RicartAgrawala, SinghalDynamic, SinghalHeuristic, SuzukiKasami,
};
use quorate_laboratory::{Algorithm, find};
use quorate_quorum::{Listed, QuorumSystem, SiteId, SiteSet};
use quorate_sim::{Setting, Shape};

fn search(
    (name, settings): (&str, &[(&str, &str)]),
    shape: &Shape,
    claims: &str,
    requests: &[u32],
) -> Report {
    let setting =
        |&(name, value): &(&str, &str)| Setting { name: name.into(), value: value.into() };
    let settings: Vec<_> = settings.iter().map(setting).collect();
    let protocol = find(name, &settings).expect("it is known");
    let claims = Claims::read(&*protocol, claims).expect("claims");
    let all: Vec<_> = claims.iter().cloned().collect();
    let cluster = protocol.setup(shape, &all).expect("such quorums exist");
    let space = Space::without_faults(cluster, claims, requests);
    check(&space, &Limits { threads: 1, ..Limits::default() })
}

fn mutex<A: Algorithm>(kind: &str, requests: &[u32]) -> Report {
    let shape = Shape::Kind(kind.to_owned(), requests.len());
    search((A::NAME, &[]), &shape, "", requests)
}

/// With all its rules nothing breaks; with any of them undone this does.
fn assert_rules<A: Algorithm>(shape: &Shape, requests: &[u32], damage: &[(&'static str, &str)]) {
    let search = |undone: &[(&str, &str)]| search((A::NAME, undone), shape, "", requests);
    search(&[]).assert_clean();
    let rules: Vec<_> = damage.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(rules, A::RULES, "every rule has its damage");
    for (rule, property) in damage {
        let report = search(&[("undo", rule)]);
        let (breach, _) = report.violation.expect("a rule that can be spared is none");
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

/// Three requesters and two arbiters: a request that is no longer first must be told.
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

fn joung(shape: &Shape, settings: &[(&str, &str)], claims: &str, requests: &[u32]) -> Report {
    search(("joung", settings), shape, claims, requests)
}

/// The managers 1 to 3, and a quorum of two for each of the requesters 4 to 6.
fn two_of_three() -> Shape {
    let set = |sites: [usize; 2]| Some(sites.map(SiteId::new).into_iter().collect());
    Shape::Listed(vec![None, None, None, set([0, 1]), set([1, 2]), set([0, 2])])
}

/// Votes of one group at a time, given back when need be.
#[test]
fn joung_without_its_rules() {
    let requests = [0, 0, 0, 1, 1, 1];
    let search =
        |undone: &[(&str, &str)]| joung(&two_of_three(), undone, "a; a; a; a; b; c", &requests);
    search(&[]).assert_clean();
    for (rule, property) in [("cancel", "progress"), ("vote", "exclusion")] {
        let report = search(&[("undo", rule)]);
        let (breach, _) = report.violation.expect("the rule is needed");
        assert_eq!(breach.property, property, "without {rule}: {breach}");
    }
}

/// Parallel lines and several groups are safe; but somebody may wait needlessly, whichever way
/// quorums and groups are chosen.
#[test]
fn joung_blocks() {
    let lines = Shape::Kind("parallel".to_owned(), 7);
    let (claims, requests) = ("b; a; a; a; b; a; a", [0, 0, 0, 0, 1, 1, 1]);
    joung(&lines, &[], claims, &requests).assert_clean();
    let judged = [("blocking", "on")];
    let last = [("blocking", "on"), ("choice", "last")];
    let one = Shape::Listed(vec![None, Some(SiteSet::full(1)), Some(SiteSet::full(1))]);
    for (report, why) in [
        (joung(&lines, &judged, claims, &requests), "quorums of one group do not meet"),
        (joung(&one, &last, "a; a; a b", &[0, 1, 1]), "it chose before it asked"),
    ] {
        let breach = report.violation.map(|(breach, _)| breach.property);
        assert_eq!(breach, Some("no blocking"), "{why}");
    }
}
