//! Faults of the network between sites, and between clients and sites.

use std::time::Duration;

use super::{Action, Fault, Setting, length, names};
use crate::chance::Chance;
use crate::network::rules::{Link, Node, Rule};

const CUT: Link = Link {
    cut: true,
    stalled: false,
    delay: Duration::ZERO,
    jitter: Duration::ZERO,
    loss: 0,
    duplicates: 0,
    resets: 0,
};

/// Rules for all ways between nodes of which `which` is true.
fn ways(nodes: usize, link: Link, which: impl Fn(Node, Node) -> bool) -> Vec<Rule> {
    let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
    let chosen = pairs.filter(|(from, to)| from != to && which(*from, *to));
    chosen.map(|(from, to)| Rule { from, to, link }).collect()
}

/// A fault with the same rules from beginning to end.
fn during(text: String, length: Duration, rules: Vec<Rule>) -> Fault {
    let end = (length, Action::Network(Vec::new()));
    Fault { text, actions: vec![(Duration::ZERO, Action::Network(rules)), end], length }
}

/// Which of some sites each client belongs to: half of the time clients reach everybody.
fn sides(setting: &Setting, minority: &[Node], chance: &mut Chance) -> Vec<Option<bool>> {
    let clients_too = chance.permille(500);
    let side = |node: Node, chance: &mut Chance| {
        if node < setting.sites {
            Some(minority.contains(&node))
        } else {
            clients_too.then(|| chance.permille(500))
        }
    };
    (0..setting.nodes()).map(|node| side(node, chance)).collect()
}

/// A partition in two; a node without a side reaches both.
fn apart(sides: &[Option<bool>]) -> Vec<Rule> {
    let differ =
        |one: Option<bool>, two: Option<bool>| one.zip(two).is_some_and(|(one, two)| one != two);
    ways(sides.len(), CUT, |from, to| differ(sides[from], sides[to]))
}

fn some(setting: &Setting, count: usize, chance: &mut Chance) -> Vec<Node> {
    let all: Vec<Node> = (0..setting.sites).collect();
    let mut sites = chance.shuffled(&all);
    sites.truncate(count.max(1));
    sites.sort_unstable();
    sites
}

fn partition(setting: &Setting, count: usize, chance: &mut Chance) -> Fault {
    let sites = some(setting, count, chance);
    let rules = apart(&sides(setting, &sites, chance));
    during(format!("{} cut off", names(&sites)), length(setting, chance), rules)
}

pub(super) fn isolate(setting: &Setting, chance: &mut Chance) -> Fault {
    partition(setting, 1, chance)
}

pub(super) fn minority(setting: &Setting, chance: &mut Chance) -> Fault {
    partition(setting, setting.minority(), chance)
}

pub(super) fn bridge(setting: &Setting, chance: &mut Chance) -> Fault {
    let sites = some(setting, setting.sites, chance);
    let order = chance.shuffled(&sites);
    let mut sides: Vec<Option<bool>> = vec![None; setting.nodes()];
    for (place, site) in order.iter().enumerate().skip(1) {
        sides[*site] = Some(place % 2 == 0);
    }
    let text = format!("{} alone reaches both halves", names(&order[..1]));
    during(text, length(setting, chance), apart(&sides))
}

/// Rules between sites alone.
fn between_sites(setting: &Setting, link: Link, which: impl Fn(Node, Node) -> bool) -> Vec<Rule> {
    ways(setting.sites, link, which)
}

pub(super) fn ring(setting: &Setting, chance: &mut Chance) -> Fault {
    let sites = setting.sites;
    let near = |from: Node, to: Node| (from + 1) % sites == to || (to + 1) % sites == from;
    let rules = between_sites(setting, CUT, |from, to| !near(from, to));
    during("sites in a ring".into(), length(setting, chance), rules)
}

pub(super) fn one_way_ring(setting: &Setting, chance: &mut Chance) -> Fault {
    let sites = setting.sites;
    let rules = between_sites(setting, CUT, |from, to| (from + 1) % sites == to);
    during("no site sends to its neighbour".into(), length(setting, chance), rules)
}

pub(super) fn one_way(setting: &Setting, chance: &mut Chance) -> Fault {
    let all = between_sites(setting, CUT, |_, _| true);
    let mut rules = chance.shuffled(&all);
    rules.truncate(all.len().div_ceil(3));
    let text = rules.iter().map(|rule| format!("{}→{}", rule.from + 1, rule.to + 1));
    let text = format!("cut one way: {}", text.collect::<Vec<_>>().join(" "));
    during(text, length(setting, chance), rules)
}

/// All ways to one site, or all from it, clients' included half of the time.
fn one_site(setting: &Setting, link: Link, inward: bool, what: &str, chance: &mut Chance) -> Fault {
    let site = chance.below(setting.sites);
    let nodes = if chance.permille(500) { setting.nodes() } else { setting.sites };
    let rules = ways(nodes, link, |from, to| if inward { to == site } else { from == site });
    during(format!("{} {what}", names(&[site])), length(setting, chance), rules)
}

pub(super) fn deaf(setting: &Setting, chance: &mut Chance) -> Fault {
    one_site(setting, CUT, true, "receives nothing", chance)
}

pub(super) fn mute(setting: &Setting, chance: &mut Chance) -> Fault {
    one_site(setting, CUT, false, "cannot send", chance)
}

pub(super) fn shifting(setting: &Setting, chance: &mut Chance) -> Fault {
    let length = length(setting, chance);
    let mut actions = Vec::new();
    let mut at = Duration::ZERO;
    while at < length {
        let count = 1 + chance.below(setting.minority());
        let sites = some(setting, count, chance);
        actions.push((at, Action::Network(apart(&sides(setting, &sites, chance)))));
        at += setting.leases(40 + chance.below(100));
    }
    actions.push((length, Action::Network(Vec::new())));
    Fault { text: "a partition that changes".into(), actions, length }
}

pub(super) fn client_cut(setting: &Setting, chance: &mut Chance) -> Fault {
    let nodes: Vec<Node> = (setting.sites..setting.nodes()).collect();
    let mut cut = chance.shuffled(&nodes);
    cut.truncate(nodes.len().div_ceil(2));
    let rules = ways(setting.nodes(), CUT, |from, to| cut.contains(&from) || cut.contains(&to));
    let text = format!("{} clients cut off", cut.len());
    during(text, length(setting, chance), rules)
}

/// The same link between all nodes.
fn everywhere(setting: &Setting, link: Link, text: String, chance: &mut Chance) -> Fault {
    during(text, length(setting, chance), ways(setting.nodes(), link, |_, _| true))
}

pub(super) fn delay(setting: &Setting, chance: &mut Chance) -> Fault {
    let delay = setting.leases(2 + chance.below(15));
    let text = format!("packets take {} ms", delay.as_millis());
    everywhere(setting, Link { delay, ..Link::default() }, text, chance)
}

pub(super) fn reorder(setting: &Setting, chance: &mut Chance) -> Fault {
    let jitter = setting.leases(1 + chance.below(10));
    let text = format!("packets overtaken within {} ms", jitter.as_millis());
    everywhere(setting, Link { jitter, ..Link::default() }, text, chance)
}

pub(super) fn loss(setting: &Setting, chance: &mut Chance) -> Fault {
    let loss = 50 + u32::try_from(chance.below(150)).unwrap_or(0);
    let text = format!("{} % of the packets lost", loss / 10);
    everywhere(setting, Link { loss, ..Link::default() }, text, chance)
}

pub(super) fn duplicate(setting: &Setting, chance: &mut Chance) -> Fault {
    let link = Link { duplicates: 333, ..Link::default() };
    everywhere(setting, link, "packets come twice".into(), chance)
}

pub(super) fn stall(setting: &Setting, chance: &mut Chance) -> Fault {
    let site = chance.below(setting.sites);
    let inward = chance.permille(500);
    let link = Link { stalled: true, ..Link::default() };
    let stalled =
        ways(setting.nodes(), link, |from, to| if inward { to == site } else { from == site });
    let length = length(setting, chance);
    let mut actions = Vec::new();
    let mut at = Duration::ZERO;
    while at + setting.leases(100) < length {
        actions.push((at, Action::Network(stalled.clone())));
        at += setting.leases(20 + chance.below(60));
        actions.push((at, Action::Network(Vec::new())));
        at += setting.leases(1 + chance.below(10));
    }
    let way = if inward { "to" } else { "from" };
    Fault { text: format!("stalls on the way {way} {}", names(&[site])), actions, length }
}

pub(super) fn reset(setting: &Setting, chance: &mut Chance) -> Fault {
    let link = Link { resets: 100, ..Link::default() };
    one_site(setting, link, chance.permille(500), "has its connections reset", chance)
}
